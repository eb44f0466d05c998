//! A policy that a model holds, in order and with a forward of its own.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Clone, Debug)]
struct Ordered<E: Dtype, D: Device<E>> {
    #[policy]
    policy: Policy,
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    b: ReLU,
}

#[checkpointed(forward = custom, name = "custom")]
#[derive(Clone, Debug)]
struct Custom<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    #[policy]
    held: Policy,
}

#[checkpointed(name = "custom")]
impl<E: Dtype, D: Device<E>> Custom<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(name = "only")]
        let h = self.a.forward(x).sin();
        h
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(OrderedBuilder, CustomBuilder), f32>();
    model.0.policy = Policy::keep();
    model.1.held = Policy::plain();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
