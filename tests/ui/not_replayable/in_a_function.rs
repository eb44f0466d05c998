//! A function that asks the clock, the environment and chance.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpoint]
fn uncertain<E: Dtype, D: Device<E>>(a: &Linear<4, 4, E, D>, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
    let fast = std::env::var("FAST").is_ok();
    let h = if fast || rand::random() { a.forward(x).dropout(0.5) } else { a.forward(x) };
    match std::time::Instant::now().elapsed().as_secs() {
        0 => h,
        _ => h.relu(),
    }
}

fn main() {}
