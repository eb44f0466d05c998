//! A statement that is configured away changes what goes in and out.
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
            #[cfg(test)]
            let x = self.a.forward(x);
            #[cfg_attr(test, allow(unused))]
            let y = 1;
            match y {
                #[cfg(test)]
                0 => x,
                _ => self.a.forward(x),
            }
        };
        x
    }
}

fn main() {}
