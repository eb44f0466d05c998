//! A region clones its modules for the recompute.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Debug)]
struct Inner<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    b: ReLU,
}

#[checkpointed]
#[derive(Debug)]
struct Outer<E: Dtype, D: Device<E>> {
    #[checkpoint]
    inner: Inner<E, D>,
    b: ReLU,
}

fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<OuterBuilder, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    model.forward_mut(x.leaky_trace());
}
