//! Regions around modules: a field of a model, `checkpoint!`, and a module called in a forward.
//!
//! The input's tape decides, at compile time, how a module runs. Without a tape it is inference:
//! the module is called, nothing is stored or cloned. With one, its call is a region.

use dfdx::{
    nn::{Module, ModuleMut, TensorCollection},
    tensor::{NoneTape, OwnedTape},
    tensor_ops::Device,
};

use crate::{
    Boundary, Edge, Real, ReplaySafe, Retape, SharedTape,
    context::Site,
    fits::{fed_mut, fed_ref},
    flow::{call_mut, call_ref},
    parameters::{LentMut, LentRef},
    region::region,
};

type Err<D> = <D as dfdx::tensor::HasErr>::Err;

/// Runs a field of a model through `&self`.
///
/// # Errors
/// The module's, or the device's.
pub fn field_ref<E: Real, D: Device<E>, M, X: Boundary<E, D>>(
    site: &'static Site,
    module: &M,
    x: X,
) -> Result<M::Output, Err<D>>
where
    M: Module<X, Error = Err<D>> + TensorCollection<E, D> + Clone + 'static,
    M::Output: Boundary<E, D>,
{
    fed_ref::<E, D, M, X>(site, module, x)
}

/// Runs a field of a model through `&mut self`.
///
/// # Errors
/// The module's, or the device's.
pub fn field_mut<E: Real, D: Device<E>, M, X: Boundary<E, D>>(
    site: &'static Site,
    module: &mut M,
    x: X,
) -> Result<M::Output, Err<D>>
where
    M: ModuleMut<X, Error = Err<D>> + TensorCollection<E, D> + Clone + 'static,
    M::Output: Boundary<E, D>,
{
    fed_mut::<E, D, M, X>(site, module, x)
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

impl<M: Module<X>, X> RegionTape<M, X> for NoneTape {
    type Output = M::Output;
    type Error = M::Error;
    fn run(_: &'static Site, module: &M, x: X) -> Result<M::Output, M::Error> {
        module.try_forward(x)
    }
}
impl<M: ModuleMut<X>, X> RegionTapeMut<M, X> for NoneTape {
    type Output = M::Output;
    type Error = M::Error;
    fn run(_: &'static Site, module: &mut M, x: X) -> Result<M::Output, M::Error> {
        module.try_forward_mut(x)
    }
}
impl<E: Real, D: Device<E>, M, X: Boundary<E, D>> RegionTape<M, X> for OwnedTape<E, D>
where
    M: Module<X, Error = Err<D>> + TensorCollection<E, D> + Clone + 'static,
    M::Output: Boundary<E, D>,
{
    type Output = M::Output;
    type Error = Err<D>;
    fn run(site: &'static Site, module: &M, x: X) -> Result<M::Output, Err<D>> {
        field_ref(site, module, x)
    }
}
impl<E: Real, D: Device<E>, M, X: Boundary<E, D>> RegionTapeMut<M, X> for OwnedTape<E, D>
where
    M: ModuleMut<X, Error = Err<D>> + TensorCollection<E, D> + Clone + 'static,
    M::Output: Boundary<E, D>,
{
    type Output = M::Output;
    type Error = Err<D>;
    fn run(site: &'static Site, module: &mut M, x: X) -> Result<M::Output, Err<D>> {
        field_mut(site, module, x)
    }
}
/// On a shared tape the module still sees `OwnedTape`s, as dfdx's batch norm and dropout demand.
impl<E: Real, D: Device<E>, M, X: Retape<E, D>> RegionTape<M, X> for SharedTape<E, D>
where
    M: Module<X::Fed, Error = Err<D>> + TensorCollection<E, D> + Clone + 'static,
    M::Output: Retape<E, D>,
{
    type Output = <M::Output as Retape<E, D>>::Shared;
    type Error = Err<D>;
    fn run(site: &'static Site, module: &M, x: X) -> Result<Self::Output, Err<D>> {
        region(site, &SharedTape::floating(), LentRef::module(module), x, |tape, m, x| call_ref(tape, m, x))
    }
}
impl<E: Real, D: Device<E>, M, X: Retape<E, D>> RegionTapeMut<M, X> for SharedTape<E, D>
where
    M: ModuleMut<X::Fed, Error = Err<D>> + TensorCollection<E, D> + Clone + 'static,
    M::Output: Retape<E, D>,
{
    type Output = <M::Output as Retape<E, D>>::Shared;
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
