//! Layers of images, as the README writes them.
use ckpt_runtime::prelude::*;

type Conv<const I: usize, const O: usize, const S: usize, E, D> = nn::UnbiasedConv2d<I, O, 3, S, 1, 1, 1, E, D>;
type Block<const C: usize, E, D> = nn::ResidualAct<(
    Conv<C, C, 1, E, D>,
    nn::BatchNorm2d<C, E, D>,
    nn::Relu,
    Conv<C, C, 1, E, D>,
    nn::BatchNorm2d<C, E, D>,
)>;

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Net<E: Dtype, D: Device<E>> {
    #[checkpoint]
    stem: nn::Fused<(Conv<3, 64, 1, E, D>, nn::BatchNorm2d<64, E, D>, nn::Relu)>,
    #[checkpoint(each)]
    blocks: Repeated<Block<64, E, D>, 4>,
    pool: nn::GlobalAvgPool2d,
    head: nn::Linear<64, 10, E, D>,
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<NetBuilder, f32>();
    let x: Tensor<Rank4<2, 3, 8, 8>, f32, _> = dev.sample_normal();
    let _: Tensor<Rank2<2, 10>, f32, _> = model.forward(x.clone());
    let gradients = model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
    let _ = gradients;
}
