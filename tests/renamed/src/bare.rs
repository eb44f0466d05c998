//! The declarations.

#![no_implicit_prelude]

use ::core::{clone::Clone, fmt::Debug};
use ::other::{Boundary, Policy, Real, checkpoint_sequential, checkpointed};
use ::tensors::{
    nn::modules::{BatchNorm1D, Linear, ReLU, Repeated, Tanh},
    shapes::{Const, Dim, Dtype, HasShape, Rank1, Shape},
    tensor::{OwnedTape, Storage, Tensor},
    tensor_ops::{BroadcastTo, Device, TryAdd},
};

/// Fields, and all their options.
#[checkpointed(crate = ::other)]
#[derive(Clone, Debug)]
pub struct Fields<F, E: Dtype, D: Device<E>> {
    #[checkpoint(verify)]
    first: (Linear<4, 4, E, D>, ReLU),
    #[checkpoint(segments = 2)]
    blocks: Repeated<(Linear<4, 4, E, D>, BatchNorm1D<4, E, D>), 3>,
    #[checkpoint(keep)]
    kept: Tanh,
    #[checkpoint(each)]
    sequence: checkpoint_sequential!(segments = 1, Linear<4, 4, E, D>, Tanh),
    #[policy]
    policy: Policy,
    #[checkpoint]
    child: F,
    #[skip]
    /// Not the macro's business.
    pub calls: usize,
}

/// A forward of its own.
#[checkpointed(forward = custom, crate = ::other)]
#[derive(Clone, Debug)]
pub struct Flow<E: Dtype, D: Device<E>> {
    layer: Linear<4, 4, E, D>,
    blocks: Repeated<Linear<4, 4, E, D>, 2>,
    #[param(init = ones)]
    scale: Tensor<Rank1<4>, E, D>,
    #[buffer]
    shift: Tensor<Rank1<4>, E, D>,
    #[scalar(default = 0.5)]
    half: f64,
}

#[checkpointed(crate = ::other)]
impl<E: Dtype, D: Device<E>> Flow<E, D> {
    fn forward<B: Dim>(
        &self,
        x: Tensor<(B, Const<4>), E, D>,
    ) -> ::core::result::Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        #[checkpoint]
        let y = self.helped(x)?;
        let mut z = y;
        #[checkpoint(segments = 2)]
        for block in &self.blocks {
            z = block.forward(z);
        }
        ::other::first_pass! { let _ = self.half; }
        let last = twice(&self.layer, z)?;
        let last = ::other::checkpoint!(self.layer, last)?;
        last.try_add(self.shift.clone().broadcast_like(x.shape()))
    }

    fn helped<B: Dim>(
        &self,
        x: Tensor<(B, Const<4>), E, D>,
    ) -> ::core::result::Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        self.layer.try_forward(x)?.try_add(self.scale.clone().broadcast_like(x.shape()))
    }
}

/// A function.
///
/// # Errors
/// The device's.
#[::other::prelude::checkpoint(crate = ::other)]
pub fn twice<B: Dim, E: Dtype, D: Device<E>>(
    layer: &Linear<4, 4, E, D>,
    x: Tensor<(B, Const<4>), E, D>,
) -> ::core::result::Result<Tensor<(B, Const<4>), E, D>, D::Err> {
    let once = layer.try_forward(x)?;
    layer.try_forward(once)
}

/// A struct that crosses edges.
#[derive(Clone, Debug, Boundary)]
#[boundary(crate = ::other)]
pub struct Pair<S: Shape, E: Dtype, D: Storage<E>, T> {
    /// One.
    pub a: Tensor<S, E, D, T>,
    /// And how often.
    pub n: usize,
}

checkpoint_sequential! {
    segments = 2, crate = ::other;
    /// Named layers.
    pub struct Named {
        first: ::tensors::nn::builders::Linear<4, 4>,
        act: ReLU,
        last: ::tensors::nn::builders::Linear<4, 4>,
    }
}

/// A sequence as a type.
pub type Sequence = checkpoint_sequential!(each, crate = ::other, ::tensors::nn::builders::Linear<4, 4>, Tanh);

/// A sequence as an expression, and a module's call.
///
/// # Errors
/// The device's.
pub fn expressions<E: Real, D: Device<E>>(
    layer: &Linear<4, 4, E, D>,
    x: Tensor<Rank1<4>, E, D, OwnedTape<E, D>>,
) -> ::core::result::Result<Tensor<Rank1<4>, E, D, OwnedTape<E, D>>, D::Err> {
    let y = checkpoint_sequential!(segments = 2, crate = ::other, x, *layer, Tanh, *layer)?;
    ::other::checkpoint!(verify, *layer, y)
}
