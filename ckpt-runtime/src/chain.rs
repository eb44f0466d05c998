//! A run of different layers, cut into regions at run time.
//!
//! The layers are put into a table of erased layers; the values between them are erased too, so
//! that one region's body, "run these layers", serves any stretch of the table, and the number of
//! segments is a run-time value. What is erased is a box a value: the tensors inside are the same.

use std::{any::Any, marker::PhantomData};

use dfdx::{nn::TensorCollection, tensor::Gradients, tensor_ops::Device};

use crate::{
    Boundary, Mode, Real, Segments, SharedTape,
    context::{Context, Site},
    failure::{self, Cause, Difference, Pass},
    fits::{TakenMut, TakenRef},
    flow::cut,
    gradients::GradientHandle,
    parameters::{Lend, Parameters, Role, Trained},
    policy, region,
};

type Err<D> = <D as dfdx::tensor::HasErr>::Err;

/// A value between two layers, of a type that only they know.
#[allow(missing_debug_implementations)]
pub struct Erased<E: Real, D: Device<E>>(Box<dyn Value<E, D>>);
/// An [`Erased`] without its tape.
#[allow(missing_debug_implementations)]
pub struct ErasedStored<E: Real, D: Device<E>>(Box<dyn StoredValue<E, D>>);

trait Value<E: Real, D: Device<E>> {
    fn store(self: Box<Self>, tape: &SharedTape<E, D>) -> ErasedStored<E, D>;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

trait StoredValue<E: Real, D: Device<E>> {
    fn duplicate(&self) -> ErasedStored<E, D>;
    fn load(self: Box<Self>, tape: &SharedTape<E, D>) -> Erased<E, D>;
    fn gradients(&self, out: &mut Vec<GradientHandle<E, D>>);
    fn compare(&self, again: &dyn StoredValue<E, D>, tolerance: f64) -> Option<Difference>;
    fn device(&self) -> Option<D>;
    fn as_any(&self) -> &dyn Any;
}

struct Typed<X>(X);
struct TypedStored<E: Real, D: Device<E>, X: Boundary<E, D>>(X::Stored);

impl<E: Real, D: Device<E>, X: Boundary<E, D>> Value<E, D> for Typed<X> {
    fn store(self: Box<Self>, tape: &SharedTape<E, D>) -> ErasedStored<E, D> {
        ErasedStored(Box::new(TypedStored::<E, D, X>(self.0.store(tape))))
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        Box::new(self.0)
    }
}

impl<E: Real, D: Device<E>, X: Boundary<E, D>> StoredValue<E, D> for TypedStored<E, D, X> {
    fn duplicate(&self) -> ErasedStored<E, D> {
        ErasedStored(Box::new(Self(self.0.clone())))
    }
    fn load(self: Box<Self>, tape: &SharedTape<E, D>) -> Erased<E, D> {
        Erased::new(X::load(self.0, tape))
    }
    fn gradients(&self, out: &mut Vec<GradientHandle<E, D>>) {
        X::gradients(&self.0, out);
    }
    fn compare(&self, again: &dyn StoredValue<E, D>, tolerance: f64) -> Option<Difference> {
        let again = again.as_any().downcast_ref::<X::Stored>().expect("one chain gives one type");
        X::compare(&self.0, again, tolerance)
    }
    fn device(&self) -> Option<D> {
        X::device(&self.0)
    }
    fn as_any(&self) -> &dyn Any {
        &self.0
    }
}

impl<E: Real, D: Device<E>> Erased<E, D> {
    fn new<X: Boundary<E, D>>(x: X) -> Self {
        Self(Box::new(Typed(x)))
    }

    fn reveal<X: Boundary<E, D>>(self) -> X {
        // The table is typed when it is made: each layer's input is the output of the one before.
        *self.0.into_any().downcast().expect("the layers of a chain fit")
    }
}

impl<E: Real, D: Device<E>> Clone for ErasedStored<E, D> {
    fn clone(&self) -> Self {
        self.0.duplicate()
    }
}

impl<E: Real, D: Device<E>> Boundary<E, D> for Erased<E, D> {
    const TAPED: bool = true;
    type Stored = ErasedStored<E, D>;
    fn store(self, tape: &SharedTape<E, D>) -> Self::Stored {
        self.0.store(tape)
    }
    fn load(stored: Self::Stored, tape: &SharedTape<E, D>) -> Self {
        stored.0.load(tape)
    }
    fn gradients(stored: &Self::Stored, out: &mut Vec<GradientHandle<E, D>>) {
        stored.0.gradients(out);
    }
    fn compare(first: &Self::Stored, again: &Self::Stored, tolerance: f64) -> Option<Difference> {
        first.0.compare(&*again.0, tolerance)
    }
    fn device(stored: &Self::Stored) -> Option<D> {
        stored.0.device()
    }
}

/// A layer of a chain, its type erased.
pub trait DynLayer<E: Real, D: Device<E>> {
    /// Runs it.
    ///
    /// # Errors
    /// The module's.
    fn run(&mut self, x: Erased<E, D>) -> Result<Erased<E, D>, Err<D>>;
    /// Clones it, to be run again.
    fn own(&self) -> Box<dyn DynLayer<E, D>>;
    /// Moves the gradients of its trained tensors.
    ///
    /// # Errors
    /// The device's.
    fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), Err<D>>;
}

/// A row of the table: a layer that takes `X` and comes after `P`, held as `H` (`&mut M`, `&M`, or owned).
struct Layer<H, P, X>(H, PhantomData<fn(P, X)>);
/// An owned module that is called through `&mut`.
struct ByMut<M>(M);
/// An owned module that is called through `&`.
struct ByRef<M>(M);

/// A row of the table, for a layer that takes `X` through `&mut`.
pub fn layer_mut<'a, M, P, X, E: Real, D: Device<E>>(module: &'a mut M) -> impl DynLayer<E, D> + use<'a, M, P, X, E, D>
where
    M: TensorCollection<E, D> + Clone + 'static,
    P: 'static,
    X: Boundary<E, D> + TakenMut<M, P, Error = Err<D>>,
    <X as TakenMut<M, P>>::Output: Boundary<E, D>,
{
    Layer::<_, P, X>(module, PhantomData)
}

/// A row of the table, for a layer that takes `X` through `&`.
pub fn layer_ref<'a, M, P, X, E: Real, D: Device<E>>(module: &'a M) -> impl DynLayer<E, D> + use<'a, M, P, X, E, D>
where
    M: TensorCollection<E, D> + Clone + 'static,
    P: 'static,
    X: Boundary<E, D> + TakenRef<M, P, Error = Err<D>>,
    <X as TakenRef<M, P>>::Output: Boundary<E, D>,
{
    Layer::<_, P, X>(module, PhantomData)
}

macro_rules! row {
    ($Taken:ident, $take:ident, $By:ident, $Held:ty, |$layer:ident| $module:expr, [$($m:tt)*]) => {
        impl<E: Real, D: Device<E>, M, P, X> DynLayer<E, D> for Layer<$Held, P, X>
        where
            M: TensorCollection<E, D> + Clone + 'static,
            P: 'static,
            X: Boundary<E, D> + $Taken<M, P, Error = Err<D>>,
            <X as $Taken<M, P>>::Output: Boundary<E, D>,
        {
            fn run(&mut self, x: Erased<E, D>) -> Result<Erased<E, D>, Err<D>> {
                let $layer = self;
                Ok(Erased::new(x.reveal::<X>().$take(&$($m)* $module)?))
            }
            fn own(&self) -> Box<dyn DynLayer<E, D>> {
                let $layer = self;
                Box::new(Layer::<_, P, X>($By($module.clone()), PhantomData))
            }
            fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), Err<D>> {
                let $layer = self;
                <Trained as Role<M, E, D>>::migrate(&$module, from, to)
            }
        }
    };
}
row!(TakenMut, taken_mut, ByMut, &mut M, |layer| (*layer.0), [mut]);
row!(TakenMut, taken_mut, ByMut, ByMut<M>, |layer| layer.0.0, [mut]);
row!(TakenRef, taken_ref, ByRef, &M, |layer| (*layer.0), []);
row!(TakenRef, taken_ref, ByRef, ByRef<M>, |layer| layer.0.0, []);

/// A stretch of the table, as a region's parameters.
struct Rows<'s, 'l, E: Real, D: Device<E>>(&'s mut [&'l mut (dyn DynLayer<E, D> + 'l)]);
struct OwnedRows<E: Real, D: Device<E>>(Vec<Box<dyn DynLayer<E, D>>>);

impl<E: Real, D: Device<E>> Lend<E, D> for OwnedRows<E, D> {
    type Refs<'a> = Vec<&'a mut (dyn DynLayer<E, D> + 'a)>;
    fn lend(&mut self) -> Self::Refs<'_> {
        self.0.iter_mut().map(|l| &mut **l as &mut dyn DynLayer<E, D>).collect()
    }
    fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), Err<D>> {
        self.0.iter().try_for_each(|l| l.migrate(from, to))
    }
}

impl<E: Real, D: Device<E>> Parameters<E, D> for Rows<'_, '_, E, D> {
    type Owned = OwnedRows<E, D>;
    fn own(&self) -> OwnedRows<E, D> {
        OwnedRows(self.0.iter().map(|l| l.own()).collect())
    }
    fn refs(&mut self) -> Vec<&mut (dyn DynLayer<E, D> + '_)> {
        fn shorten<'s, 'l: 's, E: Real, D: Device<E>>(
            layer: &'s mut (dyn DynLayer<E, D> + 'l),
        ) -> &'s mut (dyn DynLayer<E, D> + 's) {
            layer
        }
        self.0.iter_mut().map(|l| shorten(&mut **l)).collect()
    }
}

/// Runs a table of layers that takes `x` and gives a `Y`, cut into regions.
///
/// # Errors
/// A layer's, or the device's; [`Cause::Segments`] when it cannot be cut so.
pub fn chain<'l, E: Real, D: Device<E>, X: Boundary<E, D>, Y: Boundary<E, D>>(
    site: &'static Site,
    segments: Segments,
    layers: &mut [&'l mut (dyn DynLayer<E, D> + 'l)],
    x: X,
) -> Result<Y, Err<D>> {
    let context = Context::current();
    let tape = SharedTape::open();
    let (bounds, keep_last) = match cut(policy::segments(segments, &context), layers.len()) {
        Ok(cut) => cut,
        Err(segments) => {
            let cause = Cause::Segments { segments, layers: layers.len() };
            let device = X::device(&x.store(&tape)).unwrap_or_default();
            return Err(failure::refuse(&device, &context.inside(site, None), Pass::First, cause));
        }
    };
    let last = bounds.len().saturating_sub(1);
    let mut value = Erased::new(x);
    for (i, (from, to)) in bounds.into_iter().enumerate() {
        value = region::run(
            context.clone().inside(site, Some((from, to))),
            site,
            (keep_last && i == last).then_some(Mode::Keep),
            &tape,
            Rows(&mut layers[from..to]),
            value,
            |_, layers, value| layers.into_iter().try_fold(value, |v, layer| layer.run(v)),
        )?;
    }
    Ok(value.reveal())
}
