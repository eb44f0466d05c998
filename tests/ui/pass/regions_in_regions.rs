//! Regions in regions, of blocks, branches and helpers, with every option.
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
        #[checkpoint(name = "outer", verify)]
        let y = {
            #[checkpoint(keep)]
            let h = self.a.forward(x);
            let h = if h.shape().num_elements() > 1 {
                #[checkpoint(plain)]
                let inner = self.b.forward(h);
                inner
            } else {
                h
            };
            #[checkpoint]
            {
                #[checkpoint(verify(tolerance = 0.1))]
                let deep = self.helped(h);
                deep + x
            }
        };
        y
    }

    fn helped<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let y = self.a.forward(x).tanh();
        y
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
