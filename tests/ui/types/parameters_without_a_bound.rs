//! A generic child is called in a forward: the method says what it does.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Model<F, E: Dtype, D: Device<E>> {
    child: F,
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<F, E: Dtype, D: Device<E>> Model<F, E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let y = self.child.forward(x);
        y
    }
}

fn main() {}
