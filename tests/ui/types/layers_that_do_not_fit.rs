//! Layers whose widths do not match: the declaration compiles, as it is generic over its input, and
//! the call says which layer it is.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules;

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: modules::Linear<4, 5, E, D>,
    b: modules::Linear<6, 4, E, D>,
}

fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<ModelBuilder, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    model.forward_mut(x.leaky_trace());
}
