//! What a region can be made of.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Model<E, D> {
    #[checkpoint]
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let y;
        #[checkpoint]
        y = self.a.forward(x);
        #[checkpoint(segments = 2)]
        for _ in 0..3 {
            let _ = self.a.forward(y);
        }
        #[checkpoint(each)]
        let z = self.a.forward(y);
        z
    }
}

fn main() {}
