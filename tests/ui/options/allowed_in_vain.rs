//! An exception where it lets nothing through: the struct's does not reach the impl.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom, allow(io))]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed(allow(whole_model))]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(allow(nothing_marked))]
        let h = self.a.forward(x);
        h
    }
}

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(allow(threads))]
    a: Linear<4, 4, E, D>,
    b: ReLU,
}

type Net = checkpoint_sequential!(segments = 1, allow(io), dfdx::nn::builders::Linear<4, 4>, ReLU);

fn main() {}
