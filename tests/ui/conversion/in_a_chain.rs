//! In the middle of a chain, and in an argument.
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
            let y = self.a.forward(x.clone().to_dtype::<f64>()).relu();
            self.a.forward(x)
        };
        #[checkpoint]
        let z = self.a.forward(self.a.forward(x).to_device(&self.other).relu());
        x
    }
}

fn main() {}
