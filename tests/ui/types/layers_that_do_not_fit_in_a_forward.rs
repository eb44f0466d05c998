//! Where a forward or a function calls a layer: the call is underlined, and the layer and the shape
//! are named.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    up: Linear<4, 5, E, D>,
    down: Linear<6, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = self.up.forward(x).relu();
        self.down.forward(h)
    }
}

#[checkpoint]
fn narrowed<B: Dim, E: Dtype, D: Device<E>>(
    down: &Linear<6, 4, E, D>,
    x: Tensor<(B, Const<5>), E, D>,
) -> Tensor<(B, Const<4>), E, D> {
    down.forward(x)
}

fn main() {}
