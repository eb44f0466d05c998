//! One region around everything holds all activations at once when it recomputes.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    all: (Linear<4, 4, E, D>, ReLU, Linear<4, 4, E, D>),
}

#[checkpointed]
struct Numbered<E: Dtype, D: Device<E>>(#[checkpoint(verify)] Repeated<Linear<4, 4, E, D>, 3>);

#[checkpointed]
struct Around<F, E: Dtype, D: Device<E>> {
    #[checkpoint]
    inner: Residual<F>,
    #[skip]
    of: std::marker::PhantomData<(E, D)>,
}

fn main() {}
