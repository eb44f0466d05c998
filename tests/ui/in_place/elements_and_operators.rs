//! Elements written, compound assignments, tensors lent to be changed.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward(&self, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
        #[checkpoint]
        let x = {
            x[[0]] = E::zero();
            x[[1]] += E::one();
            x += self.a.forward(x);
            x *= x;
            scale(&mut x);
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
