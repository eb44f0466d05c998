//! Regions around modules: a field of a model, `checkpoint!`, and a module called in a forward.
//!
//! The input's tape decides, at compile time, how a module runs. Without a tape it is inference:
//! the module is called, nothing is stored or cloned. With one, its call is a region.

use dfdx::{
    tensor::{NoneTape, OwnedTape},
    tensor_ops::Device,
};

use crate::{
    Edge, Real, ReplaySafe, Retape, SharedTape,
    context::Site,
    fits::{FedMut, FedRef, GivenMut, GivenRef, ModuleField, Owned},
    flow::{call_mut, call_ref},
    parameters::{LentMut, LentRef},
    region::region,
};

type Err<D> = <D as dfdx::tensor::HasErr>::Err;

/// Runs a field of a model through `&self`.
///
/// # Errors
/// The module's, or the device's.
pub fn field_ref<E: Real, D: Device<E>, M, X: FedRef<M, (), E, D>>(
    site: &'static Site,
    module: &M,
    x: X,
) -> Result<X::Output, Err<D>> {
    x.fed_ref(site, module)
}

/// Runs a field of a model through `&mut self`.
///
/// # Errors
/// The module's, or the device's.
pub fn field_mut<E: Real, D: Device<E>, M, X: FedMut<M, (), E, D>>(
    site: &'static Site,
    module: &mut M,
    x: X,
) -> Result<X::Output, Err<D>> {
    x.fed_mut(site, module)
}

/// How a module runs as a region on a kind of tape: the kinds are `NoneTape`, `OwnedTape` and
/// `SharedTape`.
pub trait RegionTape<M, X> {
    /// The module's output.
    type Output;
    /// The module's error.
    type Error: core::fmt::Debug;
    /// Runs the module through `&`.
    ///
    /// # Errors
    /// The module's, or the device's.
    fn run(site: &'static Site, module: &M, x: X) -> Result<Self::Output, Self::Error>;
}

/// [`RegionTape`], through `&mut`.
pub trait RegionTapeMut<M, X> {
    /// The module's output.
    type Output;
    /// The module's error.
    type Error: core::fmt::Debug;
    /// Runs the module through `&mut`.
    ///
    /// # Errors
    /// The module's, or the device's.
    fn run(site: &'static Site, module: &mut M, x: X) -> Result<Self::Output, Self::Error>;
}

impl<M, X, Y, R: core::fmt::Debug> RegionTape<M, X> for NoneTape
where
    X: GivenRef<M, Output = Y, Error = R>,
{
    type Output = Y;
    type Error = R;
    fn run(_: &'static Site, module: &M, x: X) -> Result<Y, R> {
        x.given_ref(module)
    }
}
impl<M, X, Y, R: core::fmt::Debug> RegionTapeMut<M, X> for NoneTape
where
    X: GivenMut<M, Output = Y, Error = R>,
{
    type Output = Y;
    type Error = R;
    fn run(_: &'static Site, module: &mut M, x: X) -> Result<Y, R> {
        x.given_mut(module)
    }
}
impl<E: Real, D: Device<E>, M, X, Y> RegionTape<M, X> for OwnedTape<E, D>
where
    X: FedRef<M, (), E, D, Output = Y>,
{
    type Output = Y;
    type Error = Err<D>;
    fn run(site: &'static Site, module: &M, x: X) -> Result<Y, Err<D>> {
        x.fed_ref(site, module)
    }
}
impl<E: Real, D: Device<E>, M, X, Y> RegionTapeMut<M, X> for OwnedTape<E, D>
where
    X: FedMut<M, (), E, D, Output = Y>,
{
    type Output = Y;
    type Error = Err<D>;
    fn run(site: &'static Site, module: &mut M, x: X) -> Result<Y, Err<D>> {
        x.fed_mut(site, module)
    }
}
/// On a shared tape the module still sees `OwnedTape`s, as dfdx's batch norm and dropout demand.
impl<E: Real, D: Device<E>, M, X: Retape<E, D>, Y: Retape<E, D>> RegionTape<M, X> for SharedTape<E, D>
where
    M: ModuleField<E, D> + Owned,
    X::Fed: GivenRef<M, Output = Y, Error = Err<D>>,
{
    type Output = Y::Shared;
    type Error = Err<D>;
    fn run(site: &'static Site, module: &M, x: X) -> Result<Self::Output, Err<D>> {
        region(site, &SharedTape::floating(), LentRef::module(module), x, |tape, m, x| call_ref(tape, m, x))
    }
}
impl<E: Real, D: Device<E>, M, X: Retape<E, D>, Y: Retape<E, D>> RegionTapeMut<M, X> for SharedTape<E, D>
where
    M: ModuleField<E, D> + Owned,
    X::Fed: GivenMut<M, Output = Y, Error = Err<D>>,
{
    type Output = Y::Shared;
    type Error = Err<D>;
    fn run(site: &'static Site, module: &mut M, x: X) -> Result<Self::Output, Err<D>> {
        region(site, &SharedTape::floating(), LentMut::module(module), x, |tape, m, x| call_mut(tape, m, x))
    }
}

/// `checkpoint!(module, x)`: one module's call as a region, on any tape.
///
/// # Errors
/// The module's, or the device's.
pub fn checkpoint_ref<M: ReplaySafe, X: Edge>(
    site: &'static Site,
    module: &M,
    x: X,
) -> Result<<X::Tape as RegionTape<M, X>>::Output, <X::Tape as RegionTape<M, X>>::Error>
where
    X::Tape: RegionTape<M, X>,
{
    <X::Tape as RegionTape<M, X>>::run(site, module, x)
}

/// `checkpoint!(&mut module, x)`.
///
/// # Errors
/// The module's, or the device's.
pub fn checkpoint_mut<M: ReplaySafe, X: Edge>(
    site: &'static Site,
    module: &mut M,
    x: X,
) -> Result<<X::Tape as RegionTapeMut<M, X>>::Output, <X::Tape as RegionTapeMut<M, X>>::Error>
where
    X::Tape: RegionTapeMut<M, X>,
{
    <X::Tape as RegionTapeMut<M, X>>::run(site, module, x)
}
