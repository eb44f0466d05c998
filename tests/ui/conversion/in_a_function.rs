//! A function that changes the dtype of what comes in, and the device of what it makes.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpoint]
fn halved<E: Dtype, D: Device<E>>(a: &Linear<4, 4, E, D>, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
    let small = x.to_dtype::<f16>();
    let h = a.forward(x).relu();
    let there = h.clone().to_device(&other);
    h
}

fn main() {}
