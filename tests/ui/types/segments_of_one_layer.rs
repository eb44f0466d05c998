//! Only a run of layers can be cut.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 2)]
    a: Linear<4, 4, E, D>,
    b: ReLU,
}

fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<ModelBuilder, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    model.forward_mut(x.leaky_trace());
}
