//! Optimizer steps, each on scenes that no step before it has seen.

use std::time::Instant;

use ckpt_runtime::memory::{self, Bytes};
use dfdx::optim::{Adam, Optimizer};
use dfdx::prelude::*;
use indicatif::{ProgressBar, ProgressStyle};

use crate::model::{self, Model, device_error};
use crate::scene::Batch;

/// The share of the steps, at the end, over which the rate falls evenly to nothing.
const FALL: f64 = 0.4;

/// What a training is done with, beside the model.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Optimizer steps.
    pub steps: usize,
    /// Images a batch.
    pub batch: usize,
    /// The learning rate before it falls.
    pub rate: f64,
    /// Of the scenes.
    pub seed: u64,
}

impl Plan {
    /// The learning rate of a step, counted from 0.
    fn rate_at(&self, step: usize) -> f64 {
        let left = self.steps.saturating_sub(step) as f64;
        self.rate * (left / (self.steps as f64 * FALL).max(1.0)).min(1.0)
    }
}

/// What one training run keeps between its steps.
#[derive(Debug)]
pub struct Trainer {
    plan: Plan,
    adam: Adam<Model, f32, Cpu>,
    gradients: Option<Gradients<f32, Cpu>>,
    steps: usize,
}

impl Trainer {
    /// A trainer that does the same for the same plan.
    pub fn new(model: &Model, plan: Plan) -> Self {
        Self { plan, adam: Adam::new(model, AdamConfig::default()), gradients: None, steps: 0 }
    }

    /// One optimizer step; returns its loss.
    ///
    /// # Errors
    /// The device's; a message when the loss is no number.
    pub fn step(&mut self, model: &mut Model) -> Result<f32, String> {
        let gradients = match self.gradients.take() {
            Some(gradients) => gradients,
            None => model.try_alloc_grads().map_err(device_error)?,
        };
        let batch = Batch::training(self.plan.seed, self.steps, self.plan.batch);
        let batch = model::upload(model, batch)?;
        let loss = model::loss(model, batch, gradients)?;
        let value = loss.array();
        if !value.is_finite() {
            return Err(format!("the loss is {value} in step {}: try a lower --lr", self.steps + 1));
        }
        let mut gradients = loss.try_backward().map_err(device_error)?;
        self.adam.cfg.lr = self.plan.rate_at(self.steps);
        self.adam.update(model, &gradients).map_err(device_error)?;
        model.try_zero_grads(&mut gradients).map_err(device_error)?;
        self.gradients = Some(gradients);
        self.steps += 1;
        Ok(value)
    }

    /// All steps under a progress bar; on no terminal, a line now and then.
    ///
    /// # Errors
    /// The device's.
    pub fn run(&mut self, model: &mut Model) -> Result<(), String> {
        let steps = self.plan.steps;
        let bar = ProgressBar::new(steps as u64).with_style(
            ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  {eta} left")
                .expect("the template is well-formed"),
        );
        let start = Instant::now();
        for done in 1..=steps {
            let loss = self.step(model)?;
            let speed = (done * self.plan.batch) as f64 / start.elapsed().as_secs_f64();
            let live = Bytes(memory::live_bytes());
            let message = format!("loss {loss:.3}  {speed:.0} images/s  live {live}");
            if bar.is_hidden() && (done % 50 == 0 || done == steps) {
                eprintln!("step {done}/{steps}  {message}");
            }
            bar.set_message(message);
            bar.inc(1);
        }
        bar.finish();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_holds_and_then_falls() {
        let plan = Plan { steps: 100, batch: 1, rate: 0.5, seed: 0 };
        assert_eq!([0, 30, 60].map(|step| plan.rate_at(step)), [0.5; 3]);
        assert!((plan.rate_at(80) - 0.25).abs() < 1e-12);
        assert!(plan.rate_at(99) > 0.0 && plan.rate_at(99) < 0.02);
        assert_eq!(Plan { steps: 1, ..plan }.rate_at(0), 0.5);
    }
}
