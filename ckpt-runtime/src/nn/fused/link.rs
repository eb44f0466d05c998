//! Which layers can stand in a fused run.

use dfdx::{shapes::Dim, tensor_ops::Device};

use super::step::{Moments, Phase, Steps};
use crate::{
    Real,
    kernels::ActivateKernel,
    nn::{ActivationFn, Gelu, Images, Relu, Silu},
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

/// Images that go through the layers `L`: those of as many channels as the first layer takes.
///
/// Asked of the images and not of the layers, so that where it fails the compiler says which layer
/// does not fit, and not that there is no method `forward`.
#[diagnostic::on_unimplemented(
    message = "images of shape `{Self}` do not go through `{L}`",
    label = "these images do not fit its layers"
)]
pub trait Through<L, E: Real, D: Device<E>>: Images {
    /// The channels that come out.
    type Out: Dim;

    #[doc(hidden)]
    fn steps(layers: &L, phase: Phase, steps: &mut Steps<E, D>);

    #[doc(hidden)]
    fn learn(layers: &mut L, moments: &mut dyn Iterator<Item = Moments>) -> Result<(), D::Err>;
}

impl<S: Images, E: Real, D: Device<E>, L: Link<S::Channels, E, D>> Through<L, E, D> for S {
    type Out = L::Out;

    fn steps(layers: &L, phase: Phase, steps: &mut Steps<E, D>) {
        layers.steps(phase, steps);
    }

    fn learn(layers: &mut L, moments: &mut dyn Iterator<Item = Moments>) -> Result<(), D::Err> {
        layers.learn(moments)
    }
}

/// Makes a layer that is a [`Link`] a module: in training through `&mut`, and through `&` as well
/// where nothing in it changes.
macro_rules! run {
    ($Layer:ident) => {
        impl<S, E, D, L> dfdx::nn::Module<dfdx::tensor::Tensor<S, E, D, dfdx::tensor::NoneTape>> for $Layer<L>
        where
            S: $crate::nn::fused::Through<Self, E, D>,
            E: $crate::Real,
            D: $crate::kernels::ImageBuffers<E>,
        {
            type Output = dfdx::tensor::Tensor<S::With<S::Out>, E, D>;
            type Error = D::Err;

            fn try_forward(&self, x: dfdx::tensor::Tensor<S, E, D>) -> Result<Self::Output, D::Err> {
                $crate::nn::fused::apply(stringify!($Layer), self, x)
            }
        }

        impl<S, E, D, L> dfdx::nn::Module<dfdx::tensor::Tensor<S, E, D, dfdx::tensor::OwnedTape<E, D>>> for $Layer<L>
        where
            S: $crate::nn::fused::Through<Self, E, D>,
            E: $crate::Real,
            D: $crate::kernels::ImageBuffers<E>,
            L: $crate::Stateless,
        {
            type Output = dfdx::tensor::Tensor<S::With<S::Out>, E, D, dfdx::tensor::OwnedTape<E, D>>;
            type Error = D::Err;

            fn try_forward(
                &self,
                x: dfdx::tensor::Tensor<S, E, D, dfdx::tensor::OwnedTape<E, D>>,
            ) -> Result<Self::Output, D::Err> {
                $crate::nn::fused::apply(stringify!($Layer), self, x)
            }
        }

        impl<S, E, D, L> dfdx::nn::ModuleMut<dfdx::tensor::Tensor<S, E, D, dfdx::tensor::OwnedTape<E, D>>> for $Layer<L>
        where
            S: $crate::nn::fused::Through<Self, E, D>,
            E: $crate::Real,
            D: $crate::kernels::ImageBuffers<E>,
        {
            type Output = dfdx::tensor::Tensor<S::With<S::Out>, E, D, dfdx::tensor::OwnedTape<E, D>>;
            type Error = D::Err;

            fn try_forward_mut(
                &mut self,
                x: dfdx::tensor::Tensor<S, E, D, dfdx::tensor::OwnedTape<E, D>>,
            ) -> Result<Self::Output, D::Err> {
                $crate::nn::fused::train(stringify!($Layer), self, x)
            }
        }
    };
}
pub(crate) use run;

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
