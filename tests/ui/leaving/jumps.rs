//! Jumps out of a region.
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
        for layer in &self.layers {
            #[checkpoint]
            {
                if done {
                    break;
                }
                continue;
            }
        }
        #[checkpoint]
        let h = {
            if done {
                return x;
            }
            self.a.forward(x)
        };
        #[checkpoint(each)]
        for layer in &self.layers {
            break;
        }
        'outer: loop {
            #[checkpoint]
            {
                loop {
                    break 'outer;
                }
            }
        }
        x
    }
}

fn main() {}
