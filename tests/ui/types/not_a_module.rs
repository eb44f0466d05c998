//! A field that is no module of dfdx.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[derive(Clone, Debug)]
struct Mine;

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    b: Mine,
}

fn main() {}
