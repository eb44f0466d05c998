//! Batch norm, whose statistics move in training, and dropout that is replayed.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::{BatchNorm1D, Linear};

#[checkpointed]
#[derive(Clone, Debug)]
struct Ordered<E: Dtype, D: Device<E>> {
    #[checkpoint]
    body: (Linear<4, 4, E, D>, BatchNorm1D<4, E, D>, nn::Dropout),
    head: Linear<4, 4, E, D>,
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Custom<E: Dtype, D: Device<E>> {
    norm: BatchNorm1D<4, E, D>,
    drop: nn::Dropout,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Custom<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = self.drop.forward(self.norm.forward(x)).tanh();
        h
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(OrderedBuilder, CustomBuilder), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
