//! A mark in an impl that no macro reads.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

struct Model {
    a: Linear<4, 4, f32, Cpu>,
}

impl Model {
    fn forward(&self, x: Tensor<Rank1<4>, f32, Cpu>) -> Tensor<Rank1<4>, f32, Cpu> {
        #[checkpoint]
        let h = self.a.forward(x);
        h
    }
}

fn main() {}
