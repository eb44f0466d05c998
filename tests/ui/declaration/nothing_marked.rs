//! A checkpointed struct that checkpoints nothing.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
struct Model<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

#[checkpointed]
struct Plain<E: Dtype, D: Device<E>> {
    #[checkpoint(plain)]
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

fn main() {}
