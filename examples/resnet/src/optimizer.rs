//! The optimizers that can be chosen, behind one update at a given rate.

use dfdx::optim::{Adam, Optimizer, Sgd};
use dfdx::prelude::*;

use crate::args::OptimizerName;
use crate::model::{Model, device_error};

const MOMENTUM: f64 = 0.9;
/// Subtracted from every weight as a share of it, times the rate.
const SGD_DECAY: f64 = 5e-4;
const ADAM_DECAY: f64 = 0.05;

/// What moves the weights, with its state.
#[derive(Debug)]
pub enum WeightUpdate {
    /// With Nesterov's momentum.
    Sgd(Sgd<Model, f32, Cpu>),
    /// With decoupled weight decay.
    AdamW(Adam<Model, f32, Cpu>),
}

impl WeightUpdate {
    /// No steps taken.
    pub fn new(name: OptimizerName, model: &Model) -> Self {
        match name {
            OptimizerName::Sgd => Self::Sgd(Sgd::new(
                model,
                SgdConfig {
                    momentum: Some(Momentum::Nesterov(MOMENTUM)),
                    weight_decay: Some(WeightDecay::L2(SGD_DECAY)),
                    ..SgdConfig::default()
                },
            )),
            OptimizerName::AdamW => Self::AdamW(Adam::new(
                model,
                AdamConfig { weight_decay: Some(WeightDecay::Decoupled(ADAM_DECAY)), ..AdamConfig::default() },
            )),
        }
    }

    /// Moves the weights against their gradients.
    ///
    /// # Errors
    /// The device's.
    pub fn update(&mut self, model: &mut Model, gradients: &Gradients<f32, Cpu>, rate: f64) -> Result<(), String> {
        match self {
            Self::Sgd(sgd) => {
                sgd.cfg.lr = rate;
                sgd.update(model, gradients).map_err(device_error)
            }
            Self::AdamW(adam) => {
                adam.cfg.lr = rate;
                adam.update(model, gradients).map_err(device_error)
            }
        }
    }
}
