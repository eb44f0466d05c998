//! What a declaration asks of its layers, where the compiler shall say it well.
//!
//! A generated forward knows its input as a type parameter, and asks the input whether a layer takes
//! it, in place of asking the layer: the compiler then finds the forward as a method whatever the
//! layers are, and says which bound fails, instead of "no method named `forward_mut`". What can be
//! asked of a layer alone is asked at the field's own tokens, by functions that do nothing.

use dfdx::{
    nn::{Module, ModuleMut, TensorCollection},
    tensor_ops::Device,
};

use crate::{
    Boundary, Policy, Real, Retape, Segments, SharedTape,
    context::Site,
    flow::enter,
    parameters::{LentMut, LentRef},
    region::region,
    sequence::{SegmentsMut, SegmentsRef},
};

type Err<D> = <D as dfdx::tensor::HasErr>::Err;

/// A layer by its place, which may be the layer or a `&` of it: the compiler finds the method on
/// either, and both give the same borrow.
pub trait Reached {
    /// The borrow.
    fn reached(&self) -> &Self {
        self
    }
}
impl<M> Reached for M {}

macro_rules! taken {
    ($Taken:ident, $take:ident, $Given:ident, $give:ident, $Fed:ident, $fed:ident, $Call:ident, $call:ident, $Lent:ident, [$($m:tt)*], [$($note:tt)*]) => {
        /// A value that the layer `M`, which comes after `P`, takes.
        ///
        /// The impl has parameters for what the layer gives: where it named them `M::Output`, the
        /// compiler would look into the layer for them first, and report what it finds there.
        #[diagnostic::on_unimplemented(
            message = "`{M}` does not take `{Self}`",
            label = "this layer does not take what comes before it",
            note = "the layer before it: `{P}` (`()` where it is the first, or where that is not known)",
            note = "each layer takes what the one before gives: compare the shapes, and the dtypes",
            note = "where `{M}` holds several layers, one of these may be what does not fit"
            $($note)*
        )]
        pub trait $Taken<M, P>: Sized {
            /// What the layer gives.
            type Output;
            /// The layer's error.
            type Error: core::fmt::Debug;
            /// Calls the layer.
            ///
            /// # Errors
            /// The layer's.
            fn $take(self, module: &$($m)* M) -> Result<Self::Output, Self::Error>;
        }
        #[diagnostic::do_not_recommend]
        impl<X, M, P, Y, R> $Taken<M, P> for X
        where
            M: $Call<X, Output = Y, Error = R>,
            R: core::fmt::Debug,
        {
            type Output = Y;
            type Error = R;
            fn $take(self, module: &$($m)* M) -> Result<Y, R> {
                module.$call(self)
            }
        }

        /// A value that the layer `M` is called with.
        #[diagnostic::on_unimplemented(
            message = "`{M}` does not take `{Self}`",
            label = "this is not what the layer takes",
            note = "compare the shapes, and the dtypes; where `{M}` holds several layers, one of these may be what does not fit",
            note = "where `{M}` is a generic parameter, say what it does: `where {M}: Module<Tensor<.., E, D>, Output = Tensor<.., E, D>>` on the forward or on the impl"
            $($note)*
        )]
        pub trait $Given<M>: Sized {
            /// What the layer gives.
            type Output;
            /// The layer's error.
            type Error: core::fmt::Debug;
            /// Calls the layer.
            ///
            /// # Errors
            /// The layer's.
            fn $give(self, module: &$($m)* M) -> Result<Self::Output, Self::Error>;
        }
        #[diagnostic::do_not_recommend]
        impl<X, M, Y, R> $Given<M> for X
        where
            M: $Call<X, Output = Y, Error = R>,
            R: core::fmt::Debug,
        {
            type Output = Y;
            type Error = R;
            fn $give(self, module: &$($m)* M) -> Result<Y, R> {
                module.$call(self)
            }
        }

        /// A value that the layer `M`, which comes after `P`, takes as a region.
        pub trait $Fed<M, P, E: Real, D: Device<E>>: Boundary<E, D> {
            /// What the layer gives.
            type Output: Boundary<E, D>;
            /// Runs the layer as a region.
            ///
            /// # Errors
            /// The layer's, or the device's.
            fn $fed(self, site: &'static Site, module: &$($m)* M) -> Result<Self::Output, Err<D>>;
        }
        impl<X, M, P, Y, E: Real, D: Device<E>> $Fed<M, P, E, D> for X
        where
            X: Boundary<E, D> + $Taken<M, P, Output = Y, Error = Err<D>>,
            Y: Boundary<E, D>,
            M: ModuleField<E, D> + Owned,
        {
            type Output = Y;
            fn $fed(self, site: &'static Site, module: &$($m)* M) -> Result<Y, Err<D>> {
                if !X::TAPED {
                    return self.$take(module);
                }
                region(site, &SharedTape::open(), $Lent::module(module), self, |_, m, x| x.$take(m))
            }
        }
    };
}
taken!(TakenRef, taken_ref, GivenRef, given_ref, FedRef, fed_ref, Module, try_forward, LentRef, [], [, note = "a layer that changes in training, as batch norm does, and dfdx's dropout train through `forward_mut`"]);
taken!(TakenMut, taken_mut, GivenMut, given_mut, FedMut, fed_mut, ModuleMut, try_forward_mut, LentMut, [mut], []);

/// A struct whose forward is written on its impl, and the policy that it holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not declared to have a forward of its own",
    label = "this type's fields run in order, or it is no checkpointed struct",
    note = "write `#[checkpointed(forward = custom)]` on the struct"
)]
pub trait CustomForward {
    /// The policy, if it holds one.
    fn held_policy(&self) -> Option<&Policy>;
}

/// The policy that a model holds, or the default one.
pub fn held_policy<M: CustomForward>(model: &M) -> Policy {
    model.held_policy().cloned().unwrap_or_default()
}

/// A value that can be an input of a checkpointed forward.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can be no input of a checkpointed forward",
    label = "neither a tensor nor made of values that go on a tape",
    note = "derive `ckpt_runtime::Boundary` for a type of your own, with tensors or without; a number, a string, an `Option`, a `Vec`, an array and a tuple can be inputs as they are",
    note = "what never changes from call to call can be a `#[skip]` field of the model"
)]
pub trait ForwardInput<E: Real, D: Device<E>>: Sized {
    /// It, on the forward's tape.
    type Entered;
    /// Puts it onto the tape.
    fn entered(self, tape: &SharedTape<E, D>) -> Self::Entered;
}
#[diagnostic::do_not_recommend]
impl<X, Y, E: Real, D: Device<E>> ForwardInput<E, D> for X
where
    X: Retape<E, D, Shared = Y>,
{
    type Entered = Y;
    fn entered(self, tape: &SharedTape<E, D>) -> Y {
        enter(self, tape)
    }
}

/// Puts an input of a forward onto its tape; the macros call it with the input's own span.
pub fn entered<E: Real, D: Device<E>, X, Y>(x: X, tape: &SharedTape<E, D>) -> Y
where
    X: ForwardInput<E, D, Entered = Y>,
{
    x.entered(tape)
}

/// A layer that a region can keep for its recompute.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not `Clone`, and a checkpointed region keeps a clone of its layer",
    label = "this layer cannot be cloned",
    note = "write `#[derive(Clone)]` on it: a clone of a layer shares its parameters' data"
)]
pub trait Owned: Clone + 'static {}
#[diagnostic::do_not_recommend]
impl<M: Clone + 'static> Owned for M {}

/// Checks at compile time that a region can keep a layer; the macros call it with the layer's own span.
pub fn require_owned<M: Owned>() {}

/// A field that is no module.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no module of dfdx, so it cannot be a layer",
    label = "not a module for this dtype and device",
    note = "dfdx's prelude brings the builders; a field's type is the module: `dfdx::nn::modules::Linear<I, O, E, D>`, not `Linear<I, O>`",
    note = "a module is a `TensorCollection`: derive it with `#[checkpointed]`, or implement `ZeroSizedModule` for a layer without tensors",
    note = "a field that is no layer is `#[param]`, `#[buffer]`, `#[scalar]` or `#[skip]`"
)]
pub trait ModuleField<E: Real, D: Device<E>>: TensorCollection<E, D> {}
#[diagnostic::do_not_recommend]
impl<E: Real, D: Device<E>, M: TensorCollection<E, D>> ModuleField<E, D> for M {}

/// Checks at compile time that a field can be cut into segments.
pub fn require_segments<M: Cut>() {}

/// A run of layers that can be cut.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be cut into segments",
    label = "not a run of layers",
    note = "`segments` and `each` go on a `Repeated<Block, N>`, a tuple of layers or a `checkpoint_sequential!`; leave them out where one layer is one region"
)]
pub trait Cut {}

macro_rules! cut {
    ($Taken:ident, $cut:ident, $Segments:ident, $call:ident, [$($m:tt)*]) => {
        /// A value that the run of layers `M`, which comes after `P`, takes, cut.
        pub trait $Taken<M, P, E: Real, D: Device<E>>: Sized {
            /// What the last layer gives.
            type Output;
            /// Runs the layers.
            ///
            /// # Errors
            /// A layer's, or the device's.
            fn $cut(self, site: &'static Site, segments: Segments, module: &$($m)* M) -> Result<Self::Output, Err<D>>;
        }
        impl<X, M: $Segments<X, E, D, Output = Y>, P, Y, E: Real, D: Device<E>> $Taken<M, P, E, D> for X {
            type Output = Y;
            fn $cut(self, site: &'static Site, segments: Segments, module: &$($m)* M) -> Result<Y, Err<D>> {
                module.$call(site, segments, self)
            }
        }
    };
}
cut!(CutRef, taken_cut_ref, SegmentsRef, cut_ref, []);
cut!(CutMut, taken_cut_mut, SegmentsMut, cut_mut, [mut]);
