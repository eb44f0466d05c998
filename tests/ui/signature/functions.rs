//! Functions that cannot be a region.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpoint]
fn no_tensor<E: Dtype, D: Device<E>>(layer: &Linear<4, 4, E, D>, n: usize) -> usize {
    n
}

#[checkpoint]
async fn later<E: Dtype, D: Device<E>>(x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
    x
}

struct Model;

impl Model {
    #[checkpoint]
    fn method<E: Dtype, D: Device<E>>(&self, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
        x
    }
}

#[checkpoint]
static NAME: &str = "no function";

fn main() {}
