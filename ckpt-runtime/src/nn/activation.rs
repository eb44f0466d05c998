//! Activation functions that keep their input alone, one pass over the data each way.

use dfdx::{
    nn::{Module, NonMutableModule, ZeroSizedModule},
    shapes::{HasShape, Shape},
    tensor::{PutTape, SplitTape, Tape, Tensor, WithEmptyTape},
    tensor_ops::{Device, ReshapeTo, TryMul},
};

use super::gelu;
use crate::{
    GradientHandle, Real, ReplaySafe, Stateless,
    kernels::{Activation, ActivationKernel},
};

/// A function of one number that [`LinearAct`](super::LinearAct) and [`ActLinear`](super::ActLinear)
/// can fuse: [`Gelu`](super::Gelu), [`Relu`] or [`Silu`].
pub trait ActivationFn: Copy + Default + std::fmt::Debug + 'static {
    #[doc(hidden)]
    const FUNCTION: Activation;
}

impl ActivationFn for super::Gelu {
    const FUNCTION: Activation = Activation::Gelu;
}

/// `max(x, 0)`: `torch.nn.ReLU`. The gradient at 0 is 0.
///
/// # Shapes
/// Any shape, to the same shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relu;

/// `x / (1 + exp(-x))`, also called swish: `torch.nn.SiLU`; Hendrycks and Gimpel, arXiv 1606.08415.
///
/// # Shapes
/// Any shape, to the same shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silu;

macro_rules! layer {
    ($($Layer:ident)*) => { $(
        impl ReplaySafe for $Layer {}
        impl Stateless for $Layer {}
        impl ZeroSizedModule for $Layer {}
        impl NonMutableModule for $Layer {}
        impl ActivationFn for $Layer {
            const FUNCTION: Activation = Activation::$Layer;
        }
        impl<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>> Module<Tensor<S, E, D, T>> for $Layer {
            type Output = Tensor<S, E, D, T>;
            type Error = D::Err;
            fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
                activate(x, Activation::$Layer)
            }
        }
    )* };
}
layer! { Relu Silu }

/// The function of every element.
pub(super) fn activate<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    x: Tensor<S, E, D, T>,
    f: Activation,
) -> Result<Tensor<S, E, D, T>, D::Err> {
    let Some(kernel) = <dyn ActivationKernel<E, D>>::find() else {
        return composed(x, f);
    };
    // A permuted or broadcast input is laid out first, so that buffers run in step.
    let (x, mut tape) = x.try_contiguous()?.split_tape();
    let shape = *x.shape();
    let x = x.try_reshape_like(&(shape.num_elements(),))?;
    let y = kernel.forward(&x, f)?;
    if T::OWNS_TAPE {
        let gradient = GradientHandle::of(&y);
        tape.add_backward_op(move |grads| {
            let dy = gradient.take(grads)?;
            kernel.backward(&x, f, &dy, grads.get_or_alloc_mut(&x)?)
        });
    }
    Ok(y.try_reshape_like(&shape)?.put_tape(tape))
}

/// The function in dfdx's own operations, on any device.
pub(super) fn composed<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    x: Tensor<S, E, D, T>,
    f: Activation,
) -> Result<Tensor<S, E, D, T>, D::Err> {
    match f {
        Activation::Identity => Ok(x),
        Activation::Gelu => gelu::composed(x),
        Activation::Relu => x.try_relu(),
        Activation::Silu => {
            let same = x.with_empty_tape();
            x.try_sigmoid()?.try_mul(same)
        }
    }
}
