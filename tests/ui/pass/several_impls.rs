//! One impl for the macro, others beside it, which call each other's methods.
use std::fmt;

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Block<const M: usize, E: Dtype, D: Device<E>> {
    a: Linear<M, M, E, D>,
    b: Linear<M, M, E, D>,
}

#[checkpointed]
impl<const M: usize, E: Dtype, D: Device<E>> Block<M, E, D> {
    /// A constant of the model's.
    pub const WIDTH: usize = M;

    pub fn forward<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
        #[checkpoint]
        let h = self.mix(x);
        self.b.forward(h)
    }

    fn mix<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
        self.a.forward(x) + x
    }

    /// Asks no more of the dtype than it says.
    pub fn width(&self) -> usize {
        Self::WIDTH
    }
}

impl<const M: usize, E: Dtype, D: Device<E>> Block<M, E, D> {
    /// In an impl without more bounds than the struct's.
    pub fn name(&self) -> String {
        format!("block of {}", self.width())
    }
}

impl<const M: usize, E: Dtype, D: Device<E>> fmt::Display for Block<M, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} by {}", self.name(), Self::WIDTH)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder<4>, f32>();
    assert_eq!(model.to_string(), "block of 4 by 4\n");
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
