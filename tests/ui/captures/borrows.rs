//! What a region cannot take in, since it may outlive it.
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
        let mut counts = vec![0];
        let last = &mut counts;
        let k = 2;
        let scaled = |t| t * k;
        let through = |t| self.a.forward(t);
        #[checkpoint]
        let x = {
            last.push(1);
            last.push(2);
            through(scaled(x))
        };
        x
    }
}

fn main() {}
