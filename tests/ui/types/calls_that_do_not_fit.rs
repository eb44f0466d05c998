//! Single calls, a sequence as an expression, and fields that are cut.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules;

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    first: modules::Linear<4, 5, E, D>,
    #[checkpoint(segments = 2)]
    body: (modules::Linear<5, 5, E, D>, ReLU, modules::Linear<7, 5, E, D>),
}

fn main() {
    let dev: Cpu = Default::default();
    let (a, b) = dev.build_module::<(Linear<4, 5>, Linear<6, 4>), f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    let _ = ckpt_runtime::checkpoint!(b, x.clone().leaky_trace());
    let _ = checkpoint_sequential!(segments = 1, x.clone().leaky_trace(), a, ReLU, b);
    let mut model = dev.build_module::<ModelBuilder, f32>();
    let _ = model.forward_mut(x.clone().leaky_trace());
    let _ = model.forward(x);
}
