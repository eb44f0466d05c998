//! Sequences with named layers, with numbered ones, with constants and options.
use ckpt_runtime::prelude::*;

checkpoint_sequential! {
    segments = 2;
    /// Two layers up, one down.
    #[derive(Clone, Debug, Default)]
    pub struct Named {
        pub up: Linear<4, 6>,
        act: ReLU,
        /// Back again.
        pub(crate) down: Linear<6, 4>,
        r#type: Tanh,
    }
}

checkpoint_sequential! {
    each, name = "wide", verify;
    struct Wide<const W: usize>(Linear<4, W>, Sigmoid, Linear<W, 4>);
}

checkpoint_sequential! { keep; struct Kept { a: Linear<4, 4>, b: Sin } }

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(Named, Wide<8>, Kept), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
