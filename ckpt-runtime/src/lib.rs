//! Activation checkpointing for [dfdx](https://docs.rs/dfdx) models, declared with attributes and expanded at compile
//! time.
//!
//! Training stores every activation for the backward pass. A *region* stores its inputs only, and computes its inside
//! again during backward; outputs and gradients are those of the model without it, to the bit.
//!
//! Mark the fields of a model, which run in order:
//!
//! ```
//! use ckpt_runtime::prelude::*;
//!
//! #[checkpointed]
//! #[derive(Clone, Debug)]
//! struct Mlp<const IN: usize, const HID: usize, E: Dtype, D: Device<E>> {
//!     #[checkpoint]
//!     encode: (modules::Linear<IN, HID, E, D>, ReLU, modules::Linear<HID, HID, E, D>, ReLU),
//!     head: modules::Linear<HID, 10, E, D>,
//! }
//!
//! let dev: Cpu = Default::default();
//! let mut model = dev.build_module::<MlpBuilder<32, 64>, f32>();
//! let x: Tensor<Rank2<8, 32>, f32, _> = dev.sample_normal();
//! let gradients = model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
//! # let _ = gradients;
//! ```
//!
//! Or write the data flow as Rust, and mark parts of it:
//!
//! ```
//! use ckpt_runtime::prelude::*;
//!
//! #[checkpointed(forward = custom)]
//! #[derive(Clone, Debug)]
//! struct Block<const M: usize, E: Dtype, D: Device<E>> {
//!     norm: nn::LayerNorm<M, E, D>,
//!     mix: nn::Linear<M, M, E, D>,
//! }
//!
//! #[checkpointed]
//! impl<const M: usize, E: Dtype, D: Device<E>> Block<M, E, D> {
//!     fn forward<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
//!         #[checkpoint]
//!         let y = x + self.mix.forward(self.norm.forward(x));
//!         y
//!     }
//! }
//! ```
//!
//! Modes are chosen at run time by [`with_policy`]; [`last_failure`] names the region that failed; [`memory`] measures;
//! [`nn`] has lean layers. Misuse, such as an in-place update inside a region, is a compile error.
//!
//! # Features
//! - `cuda`: train on an NVIDIA GPU, as dfdx does, which needs the CUDA toolkit at build time.
//! - `f16`: half precision and mixed precision, `f16` and `AMP<f16>`.
#![forbid(unsafe_op_in_unsafe_fn)]
#![deny(unsafe_code)]

// The macros name this crate by its own name, here too.
#[allow(unused_extern_crates)]
extern crate self as ckpt_runtime;

#[macro_use]
mod transparent;
mod borrowed;
mod boundary;
mod chain;
mod combinators;
mod context;
mod failure;
mod fits;
mod flow;
mod function;
mod gradients;
mod kernels;
pub mod memory;
mod module;
pub mod nn;
mod parameters;
mod policy;
#[doc(hidden)]
pub mod probe;
pub mod process;
mod real;
mod region;
mod replay;
mod replay_safe;
mod sequence;
mod tape;

pub use boundary::{Boundary, Crossing, Edge, Plain, Retape};
pub use ckpt_macros::{Boundary, checkpoint_sequential, checkpointed};
pub use combinators::{AssumeReplaySafe, Checkpoint, Scoped};
pub use context::Site;
pub use failure::{Cause, Difference, Failure, Pass, last_failure};
pub use gradients::GradientHandle;
pub use parameters::{Lend, Parameters};
pub use policy::{Mode, Policy, Segments, with_policy};
pub use real::Real;
pub use region::{Body, region};
pub use replay::{draw, is_first_pass};
pub use replay_safe::{ReplaySafe, Stateless};
pub use sequence::{Concat, Sequential};
pub use tape::{InputTape, SharedTape};

/// All that a model needs, dfdx's prelude included.
pub mod prelude {
    pub use ckpt_macros::checkpoint;
    pub use dfdx::prelude::*;

    pub use crate::{
        AssumeReplaySafe, Boundary, Checkpoint, Mode, Plain, Policy, Real, ReplaySafe, Scoped, Segments, SharedTape,
        Stateless, checkpoint_sequential, checkpointed, first_pass, last_failure, nn, with_policy,
    };
}

/// What expanded code calls. Not for people: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use ckpt_macros::{__CheckpointedStruct, checkpoint_call};
    pub use dfdx;

    pub use crate::{
        __lend as lend, __live as live, __taken as taken,
        borrowed::{lent, lent_mut, sequence},
        chain::{DynLayer, chain, layer_mut, layer_ref},
        failure::expect,
        fits::{
            CustomForward, CutMut, CutRef, FedMut, FedRef, Owned, Reached, TakenMut, TakenRef, entered, held_policy,
            require_owned, require_segments,
        },
        flow::{
            blocks, blocks_mut, blocks_slice_mut, call_mut, call_ref, enter, infer, leave, replayed_mut, replayed_ref,
            segmented_loop,
        },
        function::{Admits, CallerTape, Training, hand_over, refuse_untracked},
        module::{checkpoint_mut, checkpoint_ref, field_mut, field_ref},
        policy::under,
        replay_safe::require_replay_safe,
        sequence::{RunMut, RunRef, SegmentsMut, SegmentsRef, segments_mut, segments_ref},
        *,
    };
}
