//! Activation functions, element by element and in place.

use std::mem::MaybeUninit;

use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, HasErr, Storage, TensorFromVec},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    buffer::read,
    device::{Heap, HeapDevice, Vector, kernels},
    parts::piece,
    scalar::{Scalar, logistic, normal},
};
use crate::Real;

/// A function of one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// `x`.
    #[default]
    Identity,
    /// `x Φ(x)`.
    Gelu,
    /// `max(x, 0)`.
    Relu,
    /// `x / (1 + e⁻ˣ)`.
    Silu,
}

impl Activation {
    /// Whether the derivative cannot be told from the function's value.
    pub(crate) fn needs_its_input(self) -> bool {
        matches!(self, Self::Gelu | Self::Silu)
    }
}

/// What a device has for activation functions.
pub(crate) trait ActivationKernel<E: Real, D: Device<E>> {
    /// The function of every element.
    fn forward(&self, x: &Vector<E, D>, f: Activation) -> Result<Vector<E, D>, D::Err>;
    /// Adds to `dx` the derivative of every element times `dy`.
    fn backward(
        &self,
        x: &Vector<E, D>,
        f: Activation,
        dy: &<D as Storage<E>>::Vec,
        dx: &mut <D as Storage<E>>::Vec,
    ) -> Result<(), D::Err>;
}
kernels!(ActivationKernel);

impl<E: Scalar> ActivationKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    fn forward(&self, x: &Vector<E, Cpu>, f: Activation) -> Result<Vector<E, Cpu>, <Cpu as HasErr>::Err> {
        let mut values = read(x);
        apply(f, &mut values);
        x.device().try_tensor_from_vec(values, *x.shape())
    }

    fn backward(
        &self,
        x: &Vector<E, Cpu>,
        f: Activation,
        dy: &<Cpu as Storage<E>>::Vec,
        dx: &mut <Cpu as Storage<E>>::Vec,
    ) -> Result<(), <Cpu as HasErr>::Err> {
        add_slopes(f, dx, dy, &read(x));
        Ok(())
    }
}

/// Replaces every element by its function, in parallel.
pub(super) fn apply<E: Scalar>(f: Activation, values: &mut [E]) {
    if f == Activation::Identity {
        return;
    }
    let piece = piece(values.len());
    values.par_chunks_mut(piece).for_each(|values| match f {
        Activation::Identity => {}
        Activation::Gelu => replace::<E, Gelu>(values),
        Activation::Relu => replace::<E, Relu>(values),
        Activation::Silu => replace::<E, Silu>(values),
    });
}

/// Writes the function of every element of `x` to `to`, in parallel.
pub(super) fn apply_to<E: Scalar>(f: Activation, to: &mut [MaybeUninit<E>], x: &[E]) {
    assert_eq!(to.len(), x.len());
    let piece = piece(x.len());
    to.par_chunks_mut(piece).zip(x.par_chunks(piece)).for_each(|(to, x)| match f {
        Activation::Identity => write::<E, Identity>(to, x),
        Activation::Gelu => write::<E, Gelu>(to, x),
        Activation::Relu => write::<E, Relu>(to, x),
        Activation::Silu => write::<E, Silu>(to, x),
    });
}

/// Multiplies every element of `gradient` by the derivative at its `x`, in parallel.
pub(super) fn scale_by_slopes<E: Scalar>(f: Activation, gradient: &mut [E], x: &[E]) {
    let piece = piece(x.len());
    gradient.par_chunks_mut(piece).zip(x.par_chunks(piece)).for_each(|(gradient, x)| match f {
        Activation::Identity => {}
        Activation::Gelu => scale::<E, Gelu>(gradient, x),
        Activation::Relu => scale::<E, Relu>(gradient, x),
        Activation::Silu => scale::<E, Silu>(gradient, x),
    });
}

/// Adds to every element of `sum` that of `gradient` times the derivative at its `x`, in parallel.
pub(super) fn add_slopes<E: Scalar>(f: Activation, sum: &mut [E], gradient: &[E], x: &[E]) {
    let piece = piece(x.len());
    let pieces = sum.par_chunks_mut(piece).zip(gradient.par_chunks(piece)).zip(x.par_chunks(piece));
    pieces.for_each(|((sum, gradient), x)| match f {
        Activation::Identity => add_scaled::<E, Identity>(sum, gradient, x),
        Activation::Gelu => add_scaled::<E, Gelu>(sum, gradient, x),
        Activation::Relu => add_scaled::<E, Relu>(sum, gradient, x),
        Activation::Silu => add_scaled::<E, Silu>(sum, gradient, x),
    });
}

/// Replaces every `x` by that of `gradient` times the derivative there, and writes the function of
/// `x` to `to`.
pub(super) fn replace_by_slopes_and_apply_to<E: Scalar>(
    f: Activation,
    x: &mut [E],
    gradient: &[E],
    to: &mut [MaybeUninit<E>],
) {
    assert!(gradient.len() == x.len() && to.len() == x.len());
    let piece = piece(x.len());
    let pieces = x.par_chunks_mut(piece).zip(gradient.par_chunks(piece)).zip(to.par_chunks_mut(piece));
    pieces.for_each(|((x, gradient), to)| match f {
        Activation::Identity => replace_and_write::<E, Identity>(x, gradient, to),
        Activation::Gelu => replace_and_write::<E, Gelu>(x, gradient, to),
        Activation::Relu => replace_and_write::<E, Relu>(x, gradient, to),
        Activation::Silu => replace_and_write::<E, Silu>(x, gradient, to),
    });
}

/// An activation function as a type, so that the loops over it are compiled one by one.
pub(super) trait Curve {
    /// The function and its derivative; what a caller does not use is not computed.
    fn at<E: Scalar, const FMA: bool>(x: E) -> (E, E);
}

pub(super) struct Identity;
impl Curve for Identity {
    #[inline(always)]
    fn at<E: Scalar, const FMA: bool>(x: E) -> (E, E) {
        (x, E::one())
    }
}

pub(super) struct Gelu;
impl Curve for Gelu {
    #[inline(always)]
    fn at<E: Scalar, const FMA: bool>(x: E) -> (E, E) {
        let density_at_0 = E::of(0.398_942_280_401_432_7);
        let (below, bell) = normal::<E, FMA>(x);
        (x * below, (x * density_at_0).fma::<FMA>(bell, below))
    }
}

pub(super) struct Relu;
impl Curve for Relu {
    // Written so that not-a-number stays one.
    #[inline(always)]
    fn at<E: Scalar, const FMA: bool>(x: E) -> (E, E) {
        let value = if x < E::zero() { E::zero() } else { x };
        (value, if x > E::zero() { E::one() } else { E::zero() })
    }
}

pub(super) struct Silu;
impl Curve for Silu {
    #[inline(always)]
    fn at<E: Scalar, const FMA: bool>(x: E) -> (E, E) {
        let s = logistic::<E, FMA>(x);
        (x * s, s * (x * (E::one() - s) + E::one()))
    }
}

vectorised! {
    fn replace<E, C: Curve>(values: &mut [E]) {
        for v in values {
            *v = C::at::<E, FMA>(*v).0;
        }
    }

    fn write<E, C: Curve>(to: &mut [MaybeUninit<E>], x: &[E]) {
        for (to, x) in to.iter_mut().zip(x) {
            to.write(C::at::<E, FMA>(*x).0);
        }
    }

    fn scale<E, C: Curve>(gradient: &mut [E], x: &[E]) {
        for (gradient, x) in gradient.iter_mut().zip(x) {
            *gradient *= C::at::<E, FMA>(*x).1;
        }
    }

    fn add_scaled<E, C: Curve>(sum: &mut [E], gradient: &[E], x: &[E]) {
        for ((sum, gradient), x) in sum.iter_mut().zip(gradient).zip(x) {
            *sum += *gradient * C::at::<E, FMA>(*x).1;
        }
    }

    fn replace_and_write<E, C: Curve>(x: &mut [E], gradient: &[E], to: &mut [MaybeUninit<E>]) {
        for ((x, gradient), to) in x.iter_mut().zip(gradient).zip(to) {
            let (value, slope) = C::at::<E, FMA>(*x);
            *x = *gradient * slope;
            to.write(value);
        }
    }
}
