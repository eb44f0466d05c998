//! Marks where there is no module to run.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[checkpoint]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    #[checkpoint]
    count: usize,
    rate: f64,
    weight: Tensor<Rank1<4>, E, D>,
    #[checkpoint]
    maybe: Option<Linear<4, 4, E, D>>,
    several: Vec<Linear<4, 4, E, D>>,
    boxed: Box<Linear<4, 4, E, D>>,
    names: Vec<String>,
}

#[checkpointed]
struct Inert<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    #[param(init = zeros)]
    bias: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 1.0)]
    scale: f64,
}

#[checkpointed(forward = custom)]
struct Custom<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
}

fn main() {}
