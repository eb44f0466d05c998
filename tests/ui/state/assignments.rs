//! A forward that writes to its module.
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
            self.last = x;
            self.calls += 1;
            self.rows[0].1 = 2;
            (x, self.n) = (x, 3);
            *self = self.clone();
            self.a.forward(x)
        };
        let stats = &mut self.stats;
        stats.n = 1;
        for layer in &mut self.layers {
            layer.seen = true;
        }
        x
    }
}

fn main() {}
