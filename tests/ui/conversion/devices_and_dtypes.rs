//! Tensors that leave the tape for another device or dtype.
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
            let y = x.to_device(&other);
            let y = x.try_to_device(&other)?;
            let y = x.to_dtype::<f64>();
            let y = self.w.clone().try_to_dtype::<f64>()?;
            self.a.forward(x)
        };
        let y = self.a.forward(x).to_dtype::<f64>();
        x
    }
}

fn main() {}
