//! Random draws that nothing records, in a region and outside.
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
        let x = x.dropout(0.1);
        let x = x.try_dropout(0.1)?;
        #[checkpoint]
        let x = {
            let n = self.dev.sample_uniform();
            let n = dev.sample_uniform_like(&x);
            let n = dev.sample_normal();
            let n = x.device().sample_normal_like(&x);
            let n = dev.sample_like(&x, d);
            let n = dev.try_sample_like(&x, d)?;
            let n = self.dev.sample(d);
            let n = self.dev.try_sample(d)?;
            let n = dev.random_u64();
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
