//! A forward on the impl of a struct that runs its fields in order already.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    b: Linear<4, 2, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Model<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<2>), E, D> {
        #[checkpoint]
        let h = self.a.forward(x);
        self.b.forward(h)
    }
}

fn main() {}
