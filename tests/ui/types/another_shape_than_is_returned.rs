//! A forward whose last layer gives another shape than its signature says, and a field that is not
//! there.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 2, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<3>), E, D> {
        #[checkpoint]
        let y = self.missing.forward(x);
        self.a.forward(x)
    }
}

fn main() {}
