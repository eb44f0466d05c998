//! `checkpoint_sequential!(segments = 2, x, self.a, self.b, ..)` as an expression: layers that are
//! borrowed, each by `&` or `&mut`, for one call.

use dfdx::{
    nn::TensorCollection,
    tensor::{NoneTape, OwnedTape},
    tensor_ops::Device,
};

use crate::{
    Boundary, Edge, Real, ReplaySafe, Retape, Segments, SharedTape,
    chain::{DynLayer, chain, layer_mut, layer_ref},
    context::Site,
    fits::{Owned, TakenMut, TakenRef},
    flow::enter,
    sequence::Concat,
};

type Err<D> = <D as dfdx::tensor::HasErr>::Err;

/// A layer borrowed by `&`.
#[derive(Debug)]
pub struct Borrowed<'a, M>(&'a M);
/// A layer borrowed by `&mut`.
#[derive(Debug)]
pub struct BorrowedMut<'a, M>(&'a mut M);

/// Borrows a layer by `&`.
pub fn lent<M>(module: &M) -> Borrowed<'_, M> {
    Borrowed(module)
}
/// Borrows a layer by `&mut`.
pub fn lent_mut<M>(module: &mut M) -> BorrowedMut<'_, M> {
    BorrowedMut(module)
}

/// A borrowed layer that takes `X`.
pub trait BorrowedLayer<X> {
    /// What it gives.
    type Output;
    /// Its error.
    type Error: core::fmt::Debug;
    /// Calls it.
    ///
    /// # Errors
    /// The layer's.
    fn call(&mut self, x: X) -> Result<Self::Output, Self::Error>;
}
impl<M, X, Y, R: core::fmt::Debug> BorrowedLayer<X> for Borrowed<'_, M>
where
    X: TakenRef<M, (), Output = Y, Error = R>,
{
    type Output = Y;
    type Error = R;
    fn call(&mut self, x: X) -> Result<Y, R> {
        x.taken_ref(self.0)
    }
}
impl<M, X, Y, R: core::fmt::Debug> BorrowedLayer<X> for BorrowedMut<'_, M>
where
    X: TakenMut<M, (), Output = Y, Error = R>,
{
    type Output = Y;
    type Error = R;
    fn call(&mut self, x: X) -> Result<Y, R> {
        x.taken_mut(self.0)
    }
}

/// A borrowed layer as a row of a chain's table.
pub trait BorrowedRow<X, E: Real, D: Device<E>>: BorrowedLayer<X, Error = Err<D>> {
    /// The row.
    fn row(&mut self) -> Box<dyn DynLayer<E, D> + '_>;
}
impl<M, X, Y: Boundary<E, D>, E: Real, D: Device<E>> BorrowedRow<X, E, D> for Borrowed<'_, M>
where
    M: TensorCollection<E, D> + ReplaySafe + Owned,
    X: Boundary<E, D> + TakenRef<M, (), Output = Y, Error = Err<D>>,
{
    fn row(&mut self) -> Box<dyn DynLayer<E, D> + '_> {
        Box::new(layer_ref::<M, (), X, E, D>(self.0))
    }
}
impl<M, X, Y: Boundary<E, D>, E: Real, D: Device<E>> BorrowedRow<X, E, D> for BorrowedMut<'_, M>
where
    M: TensorCollection<E, D> + ReplaySafe + Owned,
    X: Boundary<E, D> + TakenMut<M, (), Output = Y, Error = Err<D>>,
{
    fn row(&mut self) -> Box<dyn DynLayer<E, D> + '_> {
        Box::new(layer_mut::<M, (), X, E, D>(self.0))
    }
}

/// A list of borrowed layers, one taking what the one before gives.
pub trait BorrowedList<X> {
    /// What the last gives.
    type Output;
    /// Their error.
    type Error: core::fmt::Debug;
    /// Calls them in order.
    ///
    /// # Errors
    /// A layer's.
    fn call_all(&mut self, x: X) -> Result<Self::Output, Self::Error>;
}
/// A list of borrowed layers as rows of a chain's table.
pub trait BorrowedRows<X, E: Real, D: Device<E>> {
    /// What the last gives.
    type Output: Boundary<E, D>;
    /// Pushes a row a layer.
    fn rows<'a>(&'a mut self, table: &mut Vec<Box<dyn DynLayer<E, D> + 'a>>);
}

macro_rules! list {
    ($X0:ident; $($F:ident $i:tt $In:ident $Out:ident),+; $Last:ident) => {
        impl<Er: core::fmt::Debug, $X0, $($F, $Out),+> BorrowedList<$X0> for ($($F,)+)
        where $($F: BorrowedLayer<$In, Output = $Out, Error = Er>),+
        {
            type Output = $Last;
            type Error = Er;
            fn call_all(&mut self, x: $X0) -> Result<$Last, Er> {
                $(let x = self.$i.call(x)?;)+
                Ok(x)
            }
        }
        impl<E: Real, D: Device<E>, $X0: Boundary<E, D>, $($F, $Out: Boundary<E, D>),+> BorrowedRows<$X0, E, D> for ($($F,)+)
        where $($F: BorrowedRow<$In, E, D, Output = $Out>),+
        {
            type Output = $Last;
            fn rows<'a>(&'a mut self, table: &mut Vec<Box<dyn DynLayer<E, D> + 'a>>) {
                $(table.push(self.$i.row());)+
            }
        }
    };
}
list!(X0; A 0 X0 X1; X1);
list!(X0; A 0 X0 X1, B 1 X1 X2; X2);
list!(X0; A 0 X0 X1, B 1 X1 X2, C 2 X2 X3; X3);
list!(X0; A 0 X0 X1, B 1 X1 X2, C 2 X2 X3, F 3 X3 X4; X4);
list!(X0; A 0 X0 X1, B 1 X1 X2, C 2 X2 X3, F 3 X3 X4, G 4 X4 X5; X5);
list!(X0; A 0 X0 X1, B 1 X1 X2, C 2 X2 X3, F 3 X3 X4, G 4 X4 X5, H 5 X5 X6; X6);
list!(X0; A 0 X0 X1, B 1 X1 X2, C 2 X2 X3, F 3 X3 X4, G 4 X4 X5, H 5 X5 X6, I 6 X6 X7; X7);
list!(X0; A 0 X0 X1, B 1 X1 X2, C 2 X2 X3, F 3 X3 X4, G 4 X4 X5, H 5 X5 X6, I 6 X6 X7, J 7 X7 X8; X8);
impl<X, A: BorrowedList<X>, B: BorrowedList<A::Output, Error = A::Error>> BorrowedList<X> for Concat<A, B> {
    type Output = B::Output;
    type Error = A::Error;
    fn call_all(&mut self, x: X) -> Result<B::Output, A::Error> {
        self.1.call_all(self.0.call_all(x)?)
    }
}
impl<E: Real, D: Device<E>, X, A: BorrowedRows<X, E, D>, B: BorrowedRows<A::Output, E, D>> BorrowedRows<X, E, D>
    for Concat<A, B>
{
    type Output = B::Output;
    fn rows<'a>(&'a mut self, table: &mut Vec<Box<dyn DynLayer<E, D> + 'a>>) {
        self.0.rows(table);
        self.1.rows(table);
    }
}

/// How borrowed layers run on a kind of tape.
pub trait BorrowedTape<L, X> {
    /// What comes out.
    type Output;
    /// The layers' error.
    type Error: core::fmt::Debug;
    /// Runs them.
    ///
    /// # Errors
    /// A layer's, or the device's.
    fn run(site: &'static Site, segments: Segments, x: X, layers: L) -> Result<Self::Output, Self::Error>;
}
impl<L: BorrowedList<X>, X> BorrowedTape<L, X> for NoneTape {
    type Output = L::Output;
    type Error = L::Error;
    fn run(_: &'static Site, _: Segments, x: X, mut layers: L) -> Result<L::Output, L::Error> {
        layers.call_all(x)
    }
}
impl<E: Real, D: Device<E>, L: BorrowedRows<X, E, D>, X: Boundary<E, D>> BorrowedTape<L, X> for OwnedTape<E, D> {
    type Output = L::Output;
    type Error = Err<D>;
    fn run(site: &'static Site, segments: Segments, x: X, mut layers: L) -> Result<L::Output, Err<D>> {
        let mut table = Vec::new();
        layers.rows(&mut table);
        let mut table: Vec<&mut dyn DynLayer<E, D>> = table.iter_mut().map(|l| &mut **l as _).collect();
        chain(site, segments, &mut table, x)
    }
}
/// On a shared tape the layers still see `OwnedTape`s.
impl<E: Real, D: Device<E>, L: BorrowedRows<X::Fed, E, D>, X: Retape<E, D>> BorrowedTape<L, X> for SharedTape<E, D>
where
    L::Output: Retape<E, D>,
{
    type Output = <L::Output as Retape<E, D>>::Shared;
    type Error = Err<D>;
    fn run(site: &'static Site, segments: Segments, x: X, layers: L) -> Result<Self::Output, Err<D>> {
        let tape = SharedTape::floating();
        let fed = X::Fed::load(x.store(&tape), &SharedTape::open());
        Ok(enter(OwnedTape::<E, D>::run(site, segments, fed, layers)?, &tape))
    }
}

/// Runs borrowed layers on `x`, cut where its tape tracks gradients.
///
/// # Errors
/// A layer's, or the device's; [`Cause::Segments`](crate::Cause::Segments) when they cannot be cut so.
pub fn sequence<L, X: Edge>(
    site: &'static Site,
    segments: Segments,
    x: X,
    layers: L,
) -> Result<<X::Tape as BorrowedTape<L, X>>::Output, <X::Tape as BorrowedTape<L, X>>::Error>
where
    X::Tape: BorrowedTape<L, X>,
{
    <X::Tape as BorrowedTape<L, X>>::run(site, segments, x, layers)
}
