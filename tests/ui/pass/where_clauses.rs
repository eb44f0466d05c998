//! Bounds in where-clauses, of the struct, the impl and the method.
use std::fmt::Debug;

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Block<const M: usize, E, D>
where
    E: Dtype + Debug,
    D: Device<E>,
{
    a: Linear<M, M, E, D>,
    b: Linear<M, M, E, D>,
}

#[checkpointed]
impl<const M: usize, E, D> Block<M, E, D>
where
    E: Dtype + Debug,
    D: Device<E>,
{
    fn forward<B, S>(&self, x: Tensor<(B, S, Const<M>), E, D>) -> Tensor<(B, S, Const<M>), E, D>
    where
        B: Dim,
        S: Dim,
    {
        #[checkpoint]
        let h = self.a.forward(x).relu();
        self.b.forward(h) + x
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder<4>, f32>();
    let x: Tensor<Rank3<2, 3, 4>, f32, _> = dev.sample_normal();
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
