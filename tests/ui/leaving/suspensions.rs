//! A region runs to its end in one go.
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
        let h = load().await;
        #[checkpoint]
        let h = {
            let h = self.a.forward(h);
            later(&h).await?;
            yield h;
            h
        };
        x
    }
}

fn main() {}
