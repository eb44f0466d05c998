//! Optimizer steps over epochs.

use std::time::Instant;

use ckpt_runtime::memory::{self, Bytes};
use dfdx::prelude::*;
use indicatif::{ProgressBar, ProgressStyle};
use rand::{SeedableRng, rngs::StdRng};

use crate::args::OptimizerName;
use crate::images::{Batch, DataSet};
use crate::model::{self, Model, device_error};
use crate::optimizer::WeightUpdate;
use crate::schedule::Schedule;
use crate::table::percent;

/// What a training is done with, beside the model.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Passes over the training images.
    pub epochs: usize,
    /// Images a batch.
    pub batch: usize,
    /// How weights follow gradients.
    pub optimizer: OptimizerName,
    /// The highest learning rate.
    pub rate: f64,
    /// Of order and augmentation.
    pub seed: u64,
}

/// What one training run keeps between its steps.
#[derive(Debug)]
pub struct Trainer<'a> {
    set: &'a DataSet,
    plan: Plan,
    schedule: Schedule,
    update: WeightUpdate,
    gradients: Option<Gradients<f32, Cpu>>,
    rng: StdRng,
    steps: usize,
    losses: Vec<f32>,
}

impl<'a> Trainer<'a> {
    /// A trainer that does the same for the same plan.
    pub fn new(model: &Model, set: &'a DataSet, plan: Plan) -> Self {
        let steps = set.train.len().div_ceil(plan.batch) * plan.epochs;
        Self {
            set,
            plan,
            schedule: Schedule::new(plan.rate, steps),
            update: WeightUpdate::new(plan.optimizer, model),
            gradients: None,
            rng: StdRng::seed_from_u64(plan.seed),
            steps: 0,
            losses: Vec::new(),
        }
    }

    /// The loss of every step so far.
    pub fn losses(&self) -> &[f32] {
        &self.losses
    }

    /// One optimizer step; returns its loss.
    ///
    /// # Errors
    /// The device's; a message when the loss is no number.
    pub fn step(&mut self, model: &mut Model, batch: Batch) -> Result<f32, String> {
        let gradients = match self.gradients.take() {
            Some(gradients) => gradients,
            None => model.try_alloc_grads().map_err(device_error)?,
        };
        let batch = model::upload(model, batch)?;
        let loss = model::loss(model, batch, gradients)?;
        let value = loss.array();
        if !value.is_finite() {
            return Err(format!("the loss is {value} in step {}: try a lower --lr", self.steps + 1));
        }
        let mut gradients = loss.try_backward().map_err(device_error)?;
        self.update.update(model, &gradients, self.schedule.rate(self.steps))?;
        model.try_zero_grads(&mut gradients).map_err(device_error)?;
        self.gradients = Some(gradients);
        self.steps += 1;
        self.losses.push(value);
        Ok(value)
    }

    /// One pass over the training images, each step shown to `progress`.
    ///
    /// # Errors
    /// The device's.
    pub fn epoch(&mut self, model: &mut Model, mut progress: impl FnMut(f32)) -> Result<(), String> {
        // The order is drawn from a generator of the epoch's own, since steps borrow the trainer.
        let mut rng = StdRng::from_rng(&mut self.rng).map_err(|e| e.to_string())?;
        let set = self.set;
        for batch in set.epoch(self.plan.batch, &mut rng) {
            progress(self.step(model, batch)?);
        }
        Ok(())
    }

    /// All epochs under a progress bar, a line after each.
    ///
    /// # Errors
    /// The device's.
    pub fn run(&mut self, model: &mut Model) -> Result<(), String> {
        let steps = self.set.train.len().div_ceil(self.plan.batch);
        let bar = ProgressBar::new((steps * self.plan.epochs) as u64).with_style(
            ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  {eta} left")
                .expect("the template is well-formed"),
        );
        for epoch in 1..=self.plan.epochs {
            let start = Instant::now();
            let mut sum = 0.0;
            self.epoch(model, |loss| {
                sum += f64::from(loss);
                bar.set_message(format!("loss {loss:.3}  live {}", Bytes(memory::live_bytes())));
                bar.inc(1);
            })?;
            let seconds = start.elapsed().as_secs_f64();
            let line = format!(
                "epoch {epoch}/{}  loss {:.4}  test accuracy {}  {seconds:.1} s",
                self.plan.epochs,
                sum / steps as f64,
                percent(model::accuracy(model, self.set)?)
            );
            bar.suspend(|| println!("{line}"));
        }
        bar.finish_and_clear();
        Ok(())
    }
}
