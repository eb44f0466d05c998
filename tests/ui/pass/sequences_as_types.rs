//! Sequences in type position: alone, in a struct's field, in each other.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules;

type Cut = checkpoint_sequential!(segments = 2, Linear<4, 6>, ReLU, Linear<6, 4>);
type Each = checkpoint_sequential!(each, (Linear<4, 4>, Tanh), Residual<Linear<4, 4>>, LayerNorm1D<4>,);

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    body: checkpoint_sequential!(segments = 1, modules::Linear<4, 4, E, D>, ReLU),
    head: modules::Linear<4, 4, E, D>,
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(Cut, ModelBuilder, Each), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
