//! A tensor of the forward, between its regions.
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
        let h = self.a.forward(x);
        let y = h.to_device(&other);
        let y = h.try_to_device(&other)?;
        let y = h.to_dtype::<f64>();
        let y = h.try_to_dtype::<f64>()?;
        h
    }
}

fn main() {}
