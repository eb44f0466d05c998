//! Which layers can stand in a fused run.

use dfdx::{shapes::Dim, tensor_ops::Device};

use super::step::{Moments, Phase, Steps};
use crate::{
    Real,
    kernels::ActivateKernel,
    nn::{ActivationFn, Gelu, Relu, Silu},
};

/// A layer on images of `C` channels that can stand in a [`Fused`](super::Fused) run: the image
/// layers and activation functions of [`nn`](crate::nn), and tuples of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not run on images of `{C}` channels of `{E}`",
    label = "this cannot stand here in a fused run",
    note = "a fused run takes the image layers of `ckpt_runtime::nn`, `Relu`, `Gelu`, `Silu` and tuples of them, where each layer's channels are those that the one before it gives"
)]
pub trait Link<C: Dim, E: Real, D: Device<E>> {
    /// The channels of its output.
    type Out: Dim;

    /// Lists its operations.
    fn steps(&self, phase: Phase, steps: &mut Steps<E, D>);

    /// Takes in what its operations have seen in a training pass: each layer takes as many as it
    /// has listed operations that look at their input's distribution.
    ///
    /// # Errors
    /// The device's.
    fn learn(&mut self, _: &mut dyn Iterator<Item = Moments>) -> Result<(), D::Err> {
        Ok(())
    }
}

macro_rules! activations {
    ($($Function:ty)*) => { $(
        impl<C: Dim, E: Real, D: Device<E> + ActivateKernel<E>> Link<C, E, D> for $Function {
            type Out = C;
            fn steps(&self, _: Phase, steps: &mut Steps<E, D>) {
                steps.activate(<$Function as ActivationFn>::FUNCTION);
            }
        }
    )* };
}
activations! { Relu Gelu Silu }

/// Layers in turn. `C0` are the channels that the first takes, `C1` those that it gives, ..
macro_rules! tuples {
    ($([$($L:ident $i:tt $In:ident $Out:ident),+] $Last:ident;)+) => { $(
        impl<C0: Dim, $($Out: Dim, $L: Link<$In, E, D, Out = $Out>,)+ E: Real, D: Device<E>> Link<C0, E, D> for ($($L,)+) {
            type Out = $Last;
            fn steps(&self, phase: Phase, steps: &mut Steps<E, D>) {
                $( self.$i.steps(phase, steps); )+
            }
            fn learn(&mut self, moments: &mut dyn Iterator<Item = Moments>) -> Result<(), D::Err> {
                $( self.$i.learn(moments)?; )+
                Ok(())
            }
        }
    )+ };
}
tuples! {
    [L0 0 C0 C1] C1;
    [L0 0 C0 C1, L1 1 C1 C2] C2;
    [L0 0 C0 C1, L1 1 C1 C2, L2 2 C2 C3] C3;
    [L0 0 C0 C1, L1 1 C1 C2, L2 2 C2 C3, L3 3 C3 C4] C4;
    [L0 0 C0 C1, L1 1 C1 C2, L2 2 C2 C3, L3 3 C3 C4, L4 4 C4 C5] C5;
    [L0 0 C0 C1, L1 1 C1 C2, L2 2 C2 C3, L3 3 C3 C4, L4 4 C4 C5, L5 5 C5 C6] C6;
}
