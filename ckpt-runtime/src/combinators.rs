//! Regions as types: [`Checkpoint`] and [`Scoped`], beside dfdx's `Residual` and `Repeated`.
//!
//! They add nothing to tensor names: weights saved from `(A, B)` load into `(A, Checkpoint<B>)`.

use dfdx::nn::{Module, ModuleMut};

use crate::{
    Edge, ReplaySafe,
    context::Site,
    failure,
    module::{RegionTape, RegionTapeMut},
    replay_safe::Replayed,
};

/// Runs `M` as a checkpointed region: stores its input, computes its inside again in the backward
/// pass. The type-level form of `torch.utils.checkpoint.checkpoint(module, x)`.
///
/// ```
/// use ckpt_runtime::prelude::*;
/// type Model = (Checkpoint<(Linear<4, 8>, Tanh)>, Checkpoint<Residual<Linear<8, 8>>>, Linear<8, 2>);
/// let dev: Cpu = Default::default();
/// let mut model = dev.build_module::<Model, f32>();
/// let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
/// let gradients = model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
/// # let _ = gradients;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint<M>(pub M);

/// Runs `M` in a scope of its own: stores its activations, and frees its temporary gradients as
/// soon as its backward is done. Never recomputed. Around dfdx's layers this lowers the peak; around the lean layers of
/// [`nn`](crate::nn), which make few temporaries, it changes little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scoped<M>(pub M);

/// A foreign layer of which you know that it repeats: [`ReplaySafe`] by your word.
///
/// It adds nothing to tensor names and changes nothing else. If the word does not hold, gradients
/// are wrong in silence; `verify` finds the cases that change the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssumeReplaySafe<M>(pub M);

impl<M> ReplaySafe for AssumeReplaySafe<M> {}
impl<M: crate::Stateless> crate::Stateless for AssumeReplaySafe<M> {}

macro_rules! site {
    ($site:expr) => {{
        const SITE: Site = $site;
        &SITE
    }};
}

macro_rules! combinator {
    ($Wrapper:ident, $site:expr, [$($bound:tt)*]) => {
        impl<M, X: Edge $($bound)*> Module<X> for $Wrapper<M>
        where
            X::Tape: RegionTape<M, X>,
        {
            type Output = <X::Tape as RegionTape<M, X>>::Output;
            type Error = <X::Tape as RegionTape<M, X>>::Error;
            fn try_forward(&self, x: X) -> Result<Self::Output, Self::Error> {
                <X::Tape as RegionTape<M, X>>::run(site!($site), &self.0, x)
            }
            fn forward(&self, x: X) -> Self::Output {
                failure::expect(self.try_forward(x))
            }
        }
        impl<M, X: Edge $($bound)*> ModuleMut<X> for $Wrapper<M>
        where
            X::Tape: RegionTapeMut<M, X>,
        {
            type Output = <X::Tape as RegionTapeMut<M, X>>::Output;
            type Error = <X::Tape as RegionTapeMut<M, X>>::Error;
            fn try_forward_mut(&mut self, x: X) -> Result<Self::Output, Self::Error> {
                <X::Tape as RegionTapeMut<M, X>>::run(site!($site), &mut self.0, x)
            }
            fn forward_mut(&mut self, x: X) -> Self::Output {
                failure::expect(self.try_forward_mut(x))
            }
        }
        // Building, saving and moving ask nothing more of `M`: where they did, the compiler would say
        // of the whole model that it cannot be built, and not of the layer that it is not replay-safe.
        transparent!($Wrapper);
    };
}

combinator!(Checkpoint, Site::new("Checkpoint"), [+ Replayed<M>]);
combinator!(Scoped, Site::new("Scoped").keep(), []);
transparent!(AssumeReplaySafe);

impl<M: Module<X>, X> Module<X> for AssumeReplaySafe<M> {
    type Output = M::Output;
    type Error = M::Error;
    fn try_forward(&self, x: X) -> Result<M::Output, M::Error> {
        self.0.try_forward(x)
    }
}
impl<M: ModuleMut<X>, X> ModuleMut<X> for AssumeReplaySafe<M> {
    type Output = M::Output;
    type Error = M::Error;
    fn try_forward_mut(&mut self, x: X) -> Result<M::Output, M::Error> {
        self.0.try_forward_mut(x)
    }
}
