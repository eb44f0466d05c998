//! A function that reports each step.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpoint]
fn reported<E: Dtype, D: Device<E>>(a: &Linear<4, 4, E, D>, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
    println!("forward of {:?}", x.shape());
    let text = std::fs::read_to_string("scale").unwrap_or_default();
    if text.is_empty() {
        log::warn!("no scale");
    }
    a.forward(x)
}

fn main() {}
