//! As a type, where the model that has it is run.
use ckpt_runtime::prelude::*;

type Model = (Linear<4, 4>, Checkpoint<Residual<(ReLU, Dropout)>>);

fn main() {
    let dev = Cpu::default();
    let mut model = dev.build_module::<Model, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    model.forward_mut(x.leaky_trace());
}
