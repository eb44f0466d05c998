//! Attributes, doc comments and lints wherever they may stand.
#![allow(clippy::let_and_return)]
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

/// A block.
///
/// With a long comment.
#[derive(Clone, Debug)]
#[checkpointed(forward = custom)]
#[must_use]
pub struct Block<const M: usize, E: Dtype, D: Device<E>> {
    /// The layer.
    #[allow(missing_docs)]
    pub a: Linear<M, M, E, D>,
}

/// What it does.
#[checkpointed]
#[allow(clippy::missing_const_for_fn)]
impl<const M: usize, E: Dtype, D: Device<E>> Block<M, E, D> {
    /// Runs it.
    #[inline]
    pub fn forward<B: Dim>(&self, /* the rows */ x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
        // A comment.
        #[allow(unused_variables)]
        let unused = 3;
        #[rustfmt::skip]
        #[checkpoint]
        let h = self.a.forward( x );
        #[allow(clippy::never_loop)]
        for _ in 0..1 {
            break;
        }
        h
    }

    #[doc(hidden)]
    #[cold]
    #[must_use]
    pub fn width(&self) -> usize {
        M
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder<4>, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
