//! A checkpointed forward changes nothing of its module: a recompute would change it again.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    #[skip]
    calls: usize,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Model<E, D> {
    fn forward<B: Dim>(&mut self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        self.count();
        #[checkpoint]
        let y = self.a.forward(x);
        y
    }

    fn count(&mut self) {
        self.calls += 1;
    }
}

fn main() {}
