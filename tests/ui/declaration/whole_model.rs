//! One region around everything holds all activations at once when it recomputes.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    all: (Linear<4, 4, E, D>, ReLU, Linear<4, 4, E, D>),
}

fn main() {}
