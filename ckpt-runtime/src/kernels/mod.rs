//! The CPU code behind the layers of [`nn`](crate::nn), and the one place where a layer asks
//! whether a device has kernels of ours.
//!
//! A layer names an operation by a trait (`dyn LinearKernel<E, D>`, ..) and asks [`device::find`]
//! for its implementation. dfdx's `Cpu` with `f32` or `f64` has all of them, over plain slices in
//! the modules below; where there is none the layer composes dfdx's own operations. A kernel for
//! another device is an `impl` of the operation's trait and a line in its `find`: no layer changes.
//!
//! dfdx has nothing to compose the layers of images of, so that those ask as they are compiled: their
//! operations are traits of the device itself ([`ConvKernel`], ..), over buffers that lie as
//! [`images`] says.
//!
//! Three rules hold throughout:
//! - **The same bits for any number of threads.** Work is cut into a fixed number of [`parts`],
//!   and what they sum is added in their order.
//! - **No scratch outlives its operation.** Scratch is taken from the allocator as an operation
//!   runs and given back at its end, so that it is counted in the peak like everything else. What
//!   makes it cheap in the steady state is an allocator that keeps freed blocks.
//! - **`unsafe` lives here**, and each use says why it is sound.
#![allow(unsafe_code)]

#[macro_use]
mod vector;
mod activation;
mod add;
mod attention;
mod batch_norm;
mod buffer;
mod channel_norm;
mod columns;
mod concat;
mod conv;
mod cross_entropy;
mod device;
mod dropout;
mod embedding;
mod group_norm;
mod images;
mod join;
mod lanes;
mod linear;
mod norm;
mod parts;
mod pool;
mod product;
mod resample;
mod scalar;
mod shared;
mod transpose;

pub use activation::Activation;
pub(crate) use activation::ActivationKernel;
pub(crate) use add::AddKernel;
pub(crate) use attention::{AttentionKernel, Heads, Sources};
pub use batch_norm::{BatchNormKernel, ChannelNorm};
pub use channel_norm::Statistics;
pub use concat::ConcatKernel;
pub use conv::{ConvKernel, Convolution};
pub(crate) use cross_entropy::CrossEntropyKernel;
pub use device::Lent;
pub(crate) use device::{BufferKernel, Rows, Vector};
pub(crate) use dropout::{DropoutKernel, Mask};
pub(crate) use embedding::EmbeddingKernel;
pub use group_norm::GroupNormKernel;
pub use images::{ActivateKernel, Extent, ImageBuffers, Layout};
pub use join::JoinKernel;
pub(crate) use linear::{Affine, LinearKernel};
pub use norm::Norm;
pub(crate) use norm::NormKernel;
pub use pool::{PoolKernel, Window};
pub use resample::{Between, ResampleKernel};
