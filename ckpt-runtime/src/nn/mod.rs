//! Layers beyond dfdx's, and leaner ones in place of some of dfdx's.
//!
//! Each is one operation on the tape that keeps only what its gradient needs. On dfdx's `Cpu` in
//! `f32` and `f64` they run on kernels of this crate, with the same bits for any number of threads.
//! Elsewhere the layers of features are composed of dfdx's operations, and those of images, which
//! dfdx has not, do not compile ([`ImageDevice`]).
//!
//! A layer with parameters is one name for two things. `nn::Linear<4, 2, E, D>` is the layer, as a
//! model's field; `nn::Linear<4, 2>`, without dtype and device, is what `dev.build_module`, tuples
//! and `Repeated` build it from.

mod activation;
mod add;
mod attention;
mod batch_norm;
#[cfg(test)]
mod checks;
mod concat;
mod conv;
mod conv_transpose;
mod cross_entropy;
mod dropout;
mod embedding;
mod exact;
mod feed_forward;
mod flatten;
mod fused;
mod gelu;
mod group_norm;
mod identity;
mod images;
mod linear;
mod norm;
pub(crate) mod philox;
mod pool;
mod pre_norm;
mod rows;
mod shapes;
mod slice;
mod upsample;

pub use activation::{ActivationFn, Relu, Silu};
pub use add::{add, try_add};
pub use attention::{Attention, MultiHeadAttention, Sequence, Triple};
pub use batch_norm::{BatchNorm2d, BatchNorm2dAct};
pub use concat::{UpsampleConcat2d, concat_channels, try_concat_channels};
pub use conv::{Conv2d, ConvWeight, UnbiasedConv2d};
pub use conv_transpose::{ConvTranspose2d, UnbiasedConvTranspose2d};
pub use cross_entropy::{Classes, cross_entropy, try_cross_entropy};
pub use dropout::{Dropout, DropoutOneIn};
pub use embedding::{Embedding, Indices};
pub use exact::Exact;
pub use feed_forward::FeedForward;
pub use flatten::Flatten2d;
pub use fused::{Fused, Link, ResidualAct, Through, UpBlock};
pub use gelu::Gelu;
pub use group_norm::GroupNorm;
pub use identity::Identity;
pub use images::{ImageDevice, Images};
pub use linear::{ActLinear, Linear, LinearAct};
pub use norm::{LayerNorm, RmsNorm};
pub use pool::{AvgPool2d, GlobalAvgPool2d, MaxPool2d};
pub use pre_norm::{RowLayer, RowNorm, pre_norm, try_pre_norm};
pub use shapes::{Features, Fits, Share};
pub use upsample::{UpsampleBilinear2d, UpsampleNearest2d};
