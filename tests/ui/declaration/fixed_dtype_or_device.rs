//! A dtype or device that is not open cannot be changed, as dfdx's `TensorCollection` must allow.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
struct Fixed {
    #[checkpoint]
    a: Linear<4, 4, f32, Cpu>,
    b: ReLU,
}

#[checkpointed]
struct FixedDevice<E: Dtype> {
    #[checkpoint]
    a: E,
    b: ReLU,
}

#[checkpointed]
struct Narrow<E: Real, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    b: ReLU,
}

#[checkpointed]
struct Bounded<F: Clone, E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    b: F,
}

fn main() {}
