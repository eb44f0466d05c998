//! Slices in dfdx's own operations.

use dfdx::{
    shapes::Shape,
    tensor::{Tape, Tensor},
    tensor_ops::{Device, TryMul},
};

use crate::Real;

/// A tensor that may be sliced: its elements, as a tensor of its own.
///
/// On dfdx 0.13.0's `Cpu` the gradient of a slice is written over what other uses of the tensor have
/// given. A tensor made for one slice has no others, and hands on what it gets by adding.
pub(super) fn to_slice<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    x: Tensor<S, E, D, T>,
) -> Result<Tensor<S, E, D, T>, D::Err> {
    x.try_mul(E::ONE)
}
