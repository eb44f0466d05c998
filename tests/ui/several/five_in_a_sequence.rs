//! Six different mistakes in a sequence's struct are six messages, and the struct is still there.
use ckpt_runtime::prelude::*;

checkpoint_sequential! {
    segments = 0, bilder = Other, keep, keep, plain, name = encoder;
    #[derive(Clone, Debug, Default)]
    pub struct Net {
        #[checkpoint]
        first: Linear<4, 4>,
        act: ReLU,
    }
}

fn main() {
    let dev: Cpu = Default::default();
    let mut net = dev.build_module::<Net, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    let _ = net.forward_mut(x.leaky_trace());
    let _ = (net.first.clone(), net.act, format!("{net:?}"));
}
