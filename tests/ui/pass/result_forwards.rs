//! A forward that returns a `Result`, with `?` inside and outside of regions.
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
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint]
        let h = {
            let h = self.a.try_forward(x)?;
            h.try_add(x)?.try_relu()?
        };
        #[checkpoint]
        let y = match self.b.try_forward(h) {
            Ok(y) => y,
            Err(e) => Err(e)?,
        };
        y.try_sub(h)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
