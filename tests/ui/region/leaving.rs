//! A region is left by its end: its body runs again where there is nothing to return to.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    blocks: Repeated<Linear<4, 4, E, D>, 3>,
    #[skip]
    stop: bool,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Model<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let mut y = x;
        for block in &self.blocks {
            #[checkpoint]
            let next = {
                if self.stop {
                    break;
                }
                block.forward(y)
            };
            y = next;
        }
        #[checkpoint]
        let z = {
            if self.stop {
                return y;
            }
            self.a.forward(y)
        };
        z
    }
}

fn main() {}
