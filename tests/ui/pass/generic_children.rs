//! Layers that the user of the struct chooses: in order, and in a forward of one's own, where the
//! impl says what they do.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Clone, Debug)]
struct Around<F, G, E: Dtype, D: Device<E>> {
    #[checkpoint]
    inner: Residual<F>,
    outer: G,
    last: Linear<4, 4, E, D>,
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Gated<Act, E: Dtype, D: Device<E>> {
    act: Act,
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<Act, E: Dtype, D: Device<E>> Gated<Act, E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D>
    where
        Act: Module<Tensor<(B, Const<4>), E, D>, Output = Tensor<(B, Const<4>), E, D>>,
    {
        #[checkpoint]
        let gate = self.act.forward(self.a.forward(x));
        gate * x
    }
}

type Linear4 = builders::Linear<4, 4>;

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(AroundBuilder<Linear4, ReLU>, GatedBuilder<Sigmoid>), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
