//! Optimizer steps with gradient accumulation.

use std::time::Instant;

use ckpt_runtime::{
    memory::{self, Bytes},
    nn,
};
use dfdx::optim::Adam;
use dfdx::prelude::*;
use indicatif::{ProgressBar, ProgressStyle};
use rand::{SeedableRng, rngs::StdRng};

use crate::model::{Model, SEQ, device_error, upload};
use crate::text::Corpus;

const LEARNING_RATE: f64 = 1e-3;

/// What one training run keeps between its steps.
#[derive(Debug)]
pub struct Trainer<'a> {
    corpus: &'a Corpus,
    adam: Adam<Model, f32, AutoDevice>,
    gradients: Option<Gradients<f32, AutoDevice>>,
    places: StdRng,
    batch: usize,
    accumulate: usize,
}

impl<'a> Trainer<'a> {
    /// A trainer whose batches are the same for the same seed.
    pub fn new(model: &Model, corpus: &'a Corpus, seed: u64, batch: usize, accumulate: usize) -> Self {
        let config = AdamConfig { lr: LEARNING_RATE, ..AdamConfig::default() };
        Self {
            corpus,
            adam: Adam::new(model, config),
            gradients: None,
            places: StdRng::seed_from_u64(seed),
            batch,
            accumulate,
        }
    }

    /// Tokens that a step trains on.
    pub fn tokens_a_step(&self) -> usize {
        self.batch * self.accumulate * SEQ
    }

    /// One optimizer step over `accumulate` batches; returns their mean loss.
    ///
    /// # Errors
    /// The device's.
    pub fn step(&mut self, model: &mut Model) -> Result<f32, String> {
        let mut gradients = match self.gradients.take() {
            Some(gradients) => gradients,
            None => model.try_alloc_grads().map_err(device_error)?,
        };
        let share = 1.0 / self.accumulate as f32;
        let mut mean = 0.0;
        for _ in 0..self.accumulate {
            let batch = self.corpus.random_batch(self.batch, &mut self.places);
            let (tokens, targets) = upload(model, batch)?;
            let logits = model.try_forward_mut(tokens.traced(gradients)).map_err(device_error)?;
            let loss =
                nn::try_cross_entropy(logits, targets).and_then(|loss| loss.try_mul(share)).map_err(device_error)?;
            mean += loss.array();
            gradients = loss.try_backward().map_err(device_error)?;
        }
        self.adam.update(model, &gradients).map_err(device_error)?;
        model.try_zero_grads(&mut gradients).map_err(device_error)?;
        self.gradients = Some(gradients);
        Ok(mean)
    }

    /// `steps` steps under a progress bar; on no terminal, a line now and then.
    ///
    /// # Errors
    /// The device's.
    pub fn run(&mut self, model: &mut Model, steps: usize) -> Result<(), String> {
        let bar = ProgressBar::new(steps as u64).with_style(
            ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  {eta} left")
                .expect("the template is well-formed"),
        );
        let start = Instant::now();
        for done in 1..=steps {
            let loss = self.step(model)?;
            let speed = (done * self.tokens_a_step()) as f64 / start.elapsed().as_secs_f64();
            let live = Bytes(memory::live_bytes());
            let message = format!("loss {loss:.3}  {speed:.0} tokens/s  live {live}");
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
