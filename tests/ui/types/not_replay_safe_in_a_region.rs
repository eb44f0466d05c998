//! The layer is named wherever a region calls it: in a forward, in a function, in an expression.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::{Dropout, Linear};

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    up: Linear<4, 4, E, D>,
    drop: Dropout,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward(&self, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
        #[checkpoint]
        let h = self.drop.forward(self.up.forward(x));
        h
    }
}

#[checkpoint]
fn dropped<E: Dtype, D: Device<E>>(drop: &mut Dropout, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
    drop.forward(x)
}

fn main() {
    let dev = Cpu::default();
    let (up, mut drop) = dev.build_module::<(builders::Linear<4, 4>, Dropout), f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    let _ = ckpt_runtime::checkpoint!(&mut drop, x.clone().leaky_trace());
    let _ = checkpoint_sequential!(each, x.leaky_trace(), up, &mut drop);
}
