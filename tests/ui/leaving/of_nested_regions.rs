//! The inner region is left for the outer one, which is no way out either.
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
        let h = {
            let mut h = x;
            for n in 0..3 {
                #[checkpoint(keep)]
                {
                    if n == 1 {
                        continue;
                    }
                    h = self.a.forward(h);
                }
            }
            'search: {
                #[checkpoint]
                let found = {
                    break 'search;
                };
            }
            h
        };
        h
    }
}

fn main() {}
