//! Structs without field names, in order and with a forward of their own.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Ordered<E: Dtype, D: Device<E>>(#[checkpoint] (Linear<4, 4, E, D>, ReLU), pub Linear<4, 4, E, D>);

#[checkpointed(forward = custom, builder = MakeCustom)]
#[derive(Clone, Debug)]
pub struct Custom<E: Dtype, D: Device<E>>(Linear<4, 4, E, D>, (Linear<4, 4, E, D>, Tanh));

#[checkpointed]
impl<E: Dtype, D: Device<E>> Custom<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = self.0.forward(x) + (self.1)(x);
        self.1.0.forward(h)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(OrderedBuilder, MakeCustom), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
