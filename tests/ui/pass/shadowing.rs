//! One name for many values, and values used as often as one likes.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let x = self.a.forward(x);
        #[checkpoint]
        let x = {
            let y = x;
            let x = self.b.forward(x);
            let y = y + x + x;
            {
                let x = y;
                x.relu() + y
            }
        };
        let y = x;
        let (x, y) = (y, x);
        let f = |x: usize| x + 1;
        assert_eq!(f(1), 2);
        x + self.a.forward(y)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
