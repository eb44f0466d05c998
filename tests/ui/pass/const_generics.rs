//! Sizes by constants, some of them with defaults, one of them no size.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::{LayerNorm1D, Linear};

const WIDE: usize = 6;

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Mlp<const IN: usize, const OUT: usize, const ROUNDS: usize, E: Dtype, D: Device<E>> {
    #[checkpoint]
    up: (Linear<IN, WIDE, E, D>, ReLU, Linear<WIDE, { 2 * 4 }, E, D>),
    #[checkpoint(each)]
    rounds: Repeated<(Linear<8, 8, E, D>, Tanh), ROUNDS>,
    norm: LayerNorm1D<8, E, D>,
    down: Linear<8, OUT, E, D>,
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<MlpBuilder<4, 2, 3>, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
