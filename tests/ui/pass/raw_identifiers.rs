//! Names that are keywords: of fields, locals, methods and parameters.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Ordered<E: Dtype, D: Device<E>> {
    #[checkpoint]
    r#type: Linear<4, 4, E, D>,
    r#match: Tanh,
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Block<E: Dtype, D: Device<E>> {
    r#fn: Linear<4, 4, E, D>,
    r#return: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, r#in: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let r#let = self.r#fn.forward(r#in) + r#in;
        self.r#loop(r#let)
    }

    fn r#loop<B: Dim>(&self, r#let: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        self.r#return.forward(r#let)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(OrderedBuilder, BlockBuilder), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
