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
    Boundary, Real, Segments, SharedTape,
    context::Site,
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
    ($Taken:ident, $take:ident, $Call:ident, $call:ident, [$($m:tt)*]) => {
        /// A value that the layer `M` takes.
        #[diagnostic::on_unimplemented(
            message = "`{M}` does not take `{Self}`",
            label = "this layer does not take what comes before it",
            note = "each layer takes what the one before gives: compare the shapes, and the dtypes",
            note = "where `{M}` holds several layers, one of these may be what does not fit"
        )]
        pub trait $Taken<M>: Sized {
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
        impl<X, M: $Call<X>> $Taken<M> for X {
            type Output = M::Output;
            type Error = M::Error;
            fn $take(self, module: &$($m)* M) -> Result<M::Output, M::Error> {
                module.$call(self)
            }
        }
    };
}
taken!(TakenRef, taken_ref, Module, try_forward, []);
taken!(TakenMut, taken_mut, ModuleMut, try_forward_mut, [mut]);

/// A field that is no module.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no module of dfdx, so it cannot be a layer",
    label = "not a module for this dtype and device",
    note = "a module is a `TensorCollection`: derive it with `#[checkpointed]`, or implement `ZeroSizedModule` for a layer without tensors",
    note = "a field that is no layer is `#[param]`, `#[buffer]`, `#[scalar]` or `#[skip]`"
)]
pub trait ModuleField<E: Real, D: Device<E>>: TensorCollection<E, D> {}
#[diagnostic::do_not_recommend]
impl<E: Real, D: Device<E>, M: TensorCollection<E, D>> ModuleField<E, D> for M {}

/// Checks at compile time that a field is a module; the macros call it with the field's own span.
pub fn require_module<M: ModuleField<E, D>, E: Real, D: Device<E>>() {}

/// Checks at compile time that a field can be cut into segments.
pub fn require_segments<M: Cut>() {}

/// A run of layers that can be cut.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be cut into segments",
    label = "not a run of layers",
    note = "`segments` and `each` go on a `Repeated<Block, N>`, a tuple of layers or a `checkpoint_sequential!`; leave them out where one layer is one region"
)]
pub trait Cut {}

/// Runs a field as a region, through `&self`.
///
/// # Errors
/// The module's, or the device's.
pub fn fed_ref<E: Real, D: Device<E>, M, X>(site: &'static Site, module: &M, x: X) -> Result<X::Output, Err<D>>
where
    X: Boundary<E, D> + TakenRef<M, Error = Err<D>>,
    X::Output: Boundary<E, D>,
    M: ModuleField<E, D> + Clone + 'static,
{
    if !X::TAPED {
        return x.taken_ref(module);
    }
    region(site, &SharedTape::open(), LentRef::module(module), x, |_, m, x| x.taken_ref(m))
}

/// Runs a field as a region, through `&mut self`.
///
/// # Errors
/// The module's, or the device's.
pub fn fed_mut<E: Real, D: Device<E>, M, X>(site: &'static Site, module: &mut M, x: X) -> Result<X::Output, Err<D>>
where
    X: Boundary<E, D> + TakenMut<M, Error = Err<D>>,
    X::Output: Boundary<E, D>,
    M: ModuleField<E, D> + Clone + 'static,
{
    if !X::TAPED {
        return x.taken_mut(module);
    }
    region(site, &SharedTape::open(), LentMut::module(module), x, |_, m, x| x.taken_mut(m))
}

macro_rules! cut {
    ($Taken:ident, $cut:ident, $Segments:ident, $call:ident, [$($m:tt)*]) => {
        /// A value that the run of layers `M` takes, cut.
        pub trait $Taken<M, E: Real, D: Device<E>>: Sized {
            /// What the last layer gives.
            type Output;
            /// Runs the layers.
            ///
            /// # Errors
            /// A layer's, or the device's.
            fn $cut(self, site: &'static Site, segments: Segments, module: &$($m)* M) -> Result<Self::Output, Err<D>>;
        }
        impl<X, M: $Segments<X, E, D>, E: Real, D: Device<E>> $Taken<M, E, D> for X {
            type Output = M::Output;
            fn $cut(self, site: &'static Site, segments: Segments, module: &$($m)* M) -> Result<M::Output, Err<D>> {
                module.$call(site, segments, self)
            }
        }
    };
}
cut!(CutRef, taken_cut_ref, SegmentsRef, cut_ref, []);
cut!(CutMut, taken_cut_mut, SegmentsMut, cut_mut, [mut]);
