//! The same thing said twice.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(keep, keep)]
    a: Linear<4, 4, E, D>,
    #[checkpoint]
    #[checkpoint(verify)]
    b: Linear<4, 4, E, D>,
    #[policy]
    p: Policy,
    #[policy]
    q: Policy,
}

#[checkpointed]
#[checkpointed(builder = Other)]
struct Twice<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

fn main() {}
