//! Models, impls and functions that a macro of the user's writes.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

macro_rules! model {
    ($Name:ident, $layer:ident: $Layer:ty, $width:literal, $act:ident) => {
        #[checkpointed(forward = custom)]
        #[derive(Clone, Debug)]
        struct $Name<E: Dtype, D: Device<E>> {
            $layer: $Layer,
            head: Linear<$width, $width, E, D>,
        }

        #[checkpointed]
        impl<E: Dtype, D: Device<E>> $Name<E, D> {
            fn forward<B: Dim>(&self, x: Tensor<(B, Const<$width>), E, D>) -> Tensor<(B, Const<$width>), E, D> {
                #[checkpoint]
                let h = self.$layer.forward(x).$act();
                self.head.forward(h)
            }
        }
    };
}

model!(First, body: Linear<4, 4, E, D>, 4, relu);
model!(Second, inner: (Linear<4, 4, E, D>, Tanh), 4, sigmoid);

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(FirstBuilder, SecondBuilder), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
