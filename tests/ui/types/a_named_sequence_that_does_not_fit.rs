//! The layers of a named sequence.
use ckpt_runtime::prelude::*;

checkpoint_sequential! {
    segments = 2;
    struct Mlp {
        up: Linear<4, 5>,
        act: ReLU,
        down: Linear<6, 4>,
    }
}

fn main() {
    let dev = Cpu::default();
    let mut model = dev.build_module::<Mlp, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    model.forward_mut(x.leaky_trace());
}
