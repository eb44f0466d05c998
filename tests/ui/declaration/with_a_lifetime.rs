//! A model owns its parameters.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
struct Borrowed<'a, E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    #[skip]
    name: &'a str,
    b: ReLU,
}

fn main() {}
