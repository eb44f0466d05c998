//! A function that changes what comes in, in a loop and in a closure.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpoint]
fn worn<E: Dtype, D: Device<E>>(a: &Linear<4, 4, E, D>, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
    for _ in 0..2 {
        x -= a.forward(x);
    }
    let mut wear = |t: &mut Tensor<Rank1<4>, E, D>| t.fill_with_ones();
    wear(&mut x);
    x /= x;
    x += x;
    x
}

fn main() {}
