//! A function that spreads its rounds over threads.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpoint]
fn spread<E: Dtype, D: Device<E>>(a: &Linear<4, 4, E, D>, x: Tensor<Rank1<4>, E, D>, rounds: Vec<usize>) -> Tensor<Rank1<4>, E, D> {
    let sums: Vec<usize> = rounds.par_iter().map(|n| n + 1).collect();
    std::thread::scope(|s| s.spawn(|| sums.len()));
    let (sender, receiver) = std::sync::mpsc::channel();
    sender.send(1);
    a.forward(x)
}

fn main() {}
