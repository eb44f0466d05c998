//! A function that writes globals, in a branch, a closure and an argument.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpoint]
fn counted<E: Dtype, D: Device<E>>(a: &Linear<4, 4, E, D>, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
    if x.shape().num_elements() > 4 {
        COUNT += 1;
    }
    let note = |n: usize| LAST.store(n, Ordering::Relaxed);
    note(unsafe { read() });
    a.forward(x)
}

fn main() {}
