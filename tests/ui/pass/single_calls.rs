//! `checkpoint!` in a forward written by hand and in a checkpointed one.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::{BatchNorm1D, Linear};

#[derive(Clone, Debug)]
struct Hand {
    attn: Linear<4, 4, f32, Cpu>,
    norm: BatchNorm1D<4, f32, Cpu>,
}

type Taped = Tensor<Rank2<3, 4>, f32, Cpu, OwnedTape<f32, Cpu>>;

impl Hand {
    fn forward(&mut self, x: Taped) -> Result<Taped, dfdx::tensor::CpuError> {
        let x = ckpt_runtime::checkpoint!(self.attn, x)?;
        let x = ckpt_runtime::checkpoint!(name = "norm", verify, &mut self.norm, x)?;
        ckpt_runtime::checkpoint!(keep, self.attn, x)
    }
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let y = checkpoint!(self.a, x)?;
        checkpoint!(name = "again", verify, self.a, y + x)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let (attn, norm) = dev.build_module::<(builders::Linear<4, 4>, builders::BatchNorm1D<4>), f32>();
    let mut block = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let y = Hand { attn, norm }.forward(x.leaky_trace()).unwrap();
    block.forward_mut(y).mean().backward();
}
