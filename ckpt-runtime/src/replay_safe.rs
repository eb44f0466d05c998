//! Which layers may run inside a region, and which need no `&mut` to train.

use dfdx::{
    nn::{builders, modules, prelu},
    shapes::{ConstDim, ConstShape, Dtype},
    tensor::{NoneTape, Storage, Tensor},
    tensor_ops::Device,
};

use crate::{Checkpoint, Scoped, Sequential, sequence::Concat};

/// A layer that does the same again when a region is recomputed: it draws no randomness but
/// through [`replay`](crate::nn::Dropout), and changes nothing outside itself.
///
/// Implemented for every layer of dfdx but its dropouts, which draw from the device's generator
/// where nothing can record it, and derived for `#[checkpointed]` structs from their fields. A
/// layer of your own opts in by an impl, a foreign one through [`AssumeReplaySafe`](crate::AssumeReplaySafe).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot run inside a checkpointed region: nothing says that it repeats",
    label = "this layer is not replay-safe",
    note = "instead of dfdx's dropout use `ckpt_runtime::nn::Dropout`, whose draws are replayed",
    note = "a layer of your own opts in with `impl ReplaySafe for ..`, a foreign one inside `AssumeReplaySafe<..>`"
)]
pub trait ReplaySafe {}

/// A layer whose training changes nothing in it, so that `forward(&self)` may train as well as
/// `forward_mut(&mut self)`. Every layer of dfdx but batch norm; derived for `#[checkpointed]`
/// structs from their fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` changes its own state in training",
    label = "train it through `forward_mut`",
    note = "batch norm updates its running statistics, which needs `&mut`"
)]
pub trait Stateless {}

/// Implements markers for types with their generics.
macro_rules! markers {
    ($markers:tt: $($generics:tt $Type:ty;)*) => { $( markers!(@each $markers $generics $Type); )* };
    (@each [$($Marker:ident)+] $generics:tt $Type:ty) => { $( markers!(@one $Marker $generics $Type); )+ };
    (@one $Marker:ident [$($generics:tt)*] $Type:ty) => { impl<$($generics)*> $Marker for $Type {} };
}

markers! { [ReplaySafe Stateless]:
    [const I: usize, const O: usize, E: Dtype, D: Storage<E>] modules::Linear<I, O, E, D>;
    [const I: usize, const O: usize, E: Dtype, D: Storage<E>] modules::UnbiasedLinear<I, O, E, D>;
    [const V: usize, const M: usize, E: Dtype, D: Storage<E>] modules::Embedding<V, M, E, D>;
    [const M: usize, E: Dtype, D: Storage<E>] modules::LayerNorm1D<M, E, D>;
    [const C: usize, E: Dtype, D: Storage<E>] modules::Bias2D<C, E, D>;
    [const M: usize, const H: usize, const K: usize, const V: usize, E: Dtype, D: Storage<E>] modules::MultiHeadAttention<M, H, K, V, E, D>;
    [const M: usize, const H: usize, const F: usize, E: Dtype, D: Storage<E>] modules::TransformerEncoderBlock<M, H, F, E, D>;
    [const M: usize, const H: usize, const F: usize, E: Dtype, D: Storage<E>] modules::TransformerDecoderBlock<M, H, F, E, D>;
    [const M: usize, const H: usize, const F: usize, const L: usize, E: Dtype, D: Storage<E>] modules::TransformerDecoder<M, H, F, L, E, D>;
    [const M: usize, const H: usize, const A: usize, const B: usize, const F: usize, E: Dtype, D: Storage<E>] modules::Transformer<M, H, A, B, F, E, D>;
    [E: Dtype, D: Device<E>] prelu::PReLU<E, D>;
    [C: ConstDim, E: Dtype, D: Device<E>] prelu::PReLU1D<C, E, D>;
    [E: Dtype] modules::LeakyReLU<E>;
    [] modules::ReLU; [] modules::FastGeLU; [] modules::AccurateGeLU; [] modules::Sin; [] modules::Cos; [] modules::Ln;
    [] modules::Exp; [] modules::Sigmoid; [] modules::Tanh; [] modules::Square; [] modules::Sqrt; [] modules::Abs;
    [] modules::Softmax; [] modules::LogSoftmax;
    [] modules::AvgPoolGlobal; [] modules::MaxPoolGlobal; [] modules::MinPoolGlobal;
    [S: ConstShape] builders::Reshape<S>;
    [const H: usize, const W: usize, M: dfdx::tensor_ops::UpscaleMethod] modules::Upscale2D<H, W, M>;
    [S: dfdx::shapes::Shape, E, D: Storage<E>] Tensor<S, E, D, NoneTape>;
    // builders, which stand in sequences before they are built
    [const I: usize, const O: usize] builders::Linear<I, O>;
    [const I: usize, const O: usize] builders::UnbiasedLinear<I, O>;
    [const V: usize, const M: usize] builders::Embedding<V, M>;
    [const M: usize] builders::LayerNorm1D<M>;
    [const C: usize] builders::Bias2D<C>;
    [const M: usize, const H: usize, const K: usize, const V: usize] builders::MultiHeadAttention<M, H, K, V>;
    [const M: usize, const H: usize, const F: usize] builders::TransformerEncoderBlock<M, H, F>;
    [const M: usize, const H: usize, const F: usize] builders::TransformerDecoderBlock<M, H, F>;
    [const M: usize, const H: usize, const F: usize, const L: usize] builders::TransformerEncoder<M, H, F, L>;
    [const M: usize, const H: usize, const F: usize, const L: usize] builders::TransformerDecoder<M, H, F, L>;
    [const M: usize, const H: usize, const A: usize, const B: usize, const F: usize] builders::Transformer<M, H, A, B, F>;
    [] builders::PReLU;
    [C: ConstDim] builders::PReLU1D<C>;
}

markers! { [ReplaySafe]:
    [const C: usize, E: Dtype, D: Storage<E>] modules::BatchNorm1D<C, E, D>;
    [const C: usize, E: Dtype, D: Storage<E>] modules::BatchNorm2D<C, E, D>;
    [const C: usize] builders::BatchNorm1D<C>;
    [const C: usize] builders::BatchNorm2D<C>;
}

// Not replay-safe, but with nothing to change: they may train through `&self` outside of regions.
markers! { [Stateless]:
    [] modules::Dropout;
    [const N: usize] modules::DropoutOneIn<N>;
}

macro_rules! containers {
    ($($Marker:ident)+) => { $(
        impl<M: $Marker> $Marker for modules::Residual<M> {}
        impl<F: $Marker, R: $Marker> $Marker for modules::GeneralizedResidual<F, R> {}
        impl<M: $Marker> $Marker for modules::SplitInto<M> {}
        impl<M: $Marker> $Marker for modules::AddInto<M> {}
        impl<M: $Marker, const N: usize> $Marker for modules::Repeated<M, N> {}
        impl<M: $Marker> $Marker for Checkpoint<M> {}
        impl<M: $Marker> $Marker for Scoped<M> {}
        impl<const K: usize, L: $Marker> $Marker for Sequential<K, L> {}
        impl<A: $Marker, B: $Marker> $Marker for Concat<A, B> {}
        impl<M: $Marker> $Marker for Vec<M> {}
        impl<M: $Marker> $Marker for [M] {}
        impl<M: $Marker, const N: usize> $Marker for [M; N] {}
        impl<M: $Marker> $Marker for Option<M> {}
        impl $Marker for () {}
        containers!(@tuples $Marker A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H;
            A B C D E F G H I; A B C D E F G H I J; A B C D E F G H I J K; A B C D E F G H I J K L);
    )+ };
    (@tuples $Marker:ident $($($T:ident)+);+) => { $( impl<$($T: $Marker),+> $Marker for ($($T,)+) {} )+ };
}
containers!(ReplaySafe Stateless);

/// A value that goes through `M` again in a recompute: any, where `M` is [`ReplaySafe`].
///
/// Asked of a layer alone, what fails would hide the methods of the model around it; asked of the
/// value, it is what the compiler reports.
pub trait Replayed<M: ?Sized> {}
impl<X, M: ReplaySafe + ?Sized> Replayed<M> for X {}

/// Checks at compile time that a layer is replay-safe; the macros call it with the layer's own span.
pub fn require_replay_safe<M: ReplaySafe + ?Sized>() {}
