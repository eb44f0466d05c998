//! Constants, functions and types of the impl, by `Self::`, and traits of the user's.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

trait Named {
    fn scaled(n: usize) -> f64 {
        1.0 / n as f64
    }
}

impl<E: Dtype, D: Device<E>> Named for Block<E, D> {}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = Self::apply(&self.a, x) * Self::factor(Self::GAIN);
        let y = <Self as Named>::scaled(self.rounds());
        Self::apply(&self.b, h) * E::from_f64(y).unwrap()
    }

    /// How much.
    const GAIN: f64 = 0.5;

    fn apply<B: Dim>(layer: &Linear<4, 4, E, D>, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        layer.forward(x).relu()
    }

    fn factor(gain: f64) -> E {
        E::from_f64(gain).unwrap()
    }

    const fn rounds(&self) -> usize {
        2
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
