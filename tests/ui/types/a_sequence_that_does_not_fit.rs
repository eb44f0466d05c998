//! The layers of a sequence as a type.
use ckpt_runtime::prelude::*;

type Cut = checkpoint_sequential!(segments = 2, Linear<4, 5>, ReLU, Linear<6, 4>);

fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<Cut, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    let _ = model.forward_mut(x.leaky_trace());
}
