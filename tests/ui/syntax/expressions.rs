//! Slips that do not end the item, and a sequence among a struct's fields.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    body: checkpoint_sequential!(segments = 0, Linear<4, 4, E, D>, ReLU),
    head: Linear<4, 4, E, D>,
}

#[checkpointed(forward = )]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = self.a.forward(x);
        h
    }
}

fn main() {}
