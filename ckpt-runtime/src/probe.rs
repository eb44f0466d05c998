//! How a macro treats a value whose type it does not see.
//!
//! A macro knows tokens, not types: whether a local that a region uses is a tensor or a plain
//! value, a field a module or a number, only the compiler can tell. `live!` and `lend!` ask it
//! by method probing: the same method name on ever more references, of which the compiler takes
//! the first that applies. The dtype and the device are given, so that nothing is left to infer.

use std::{cell::Cell, marker::PhantomData};

use dfdx::{
    nn::{ModuleField, ModuleFields, ModuleVisitor, TensorCollection},
    shapes::Dtype,
    tensor_ops::Device,
};

use crate::{
    Boundary, Crossing, Plain, Real, Retape, SharedTape,
    failure::Difference,
    fits,
    flow::enter,
    gradients::GradientHandle,
    parameters::{Constant, Leaf, LentMut, LentRef, LentSlice, LentSliceRef, OwnedMut, OwnedRef, Parameters, Trained},
};

/// A value about to cross a region's edge.
#[allow(missing_debug_implementations)]
pub struct Live<T, E, D>(Cell<Option<T>>, PhantomData<(E, D)>);

impl<T, E, D> Live<T, E, D> {
    /// Wraps it.
    pub fn new(value: T) -> Self {
        Self(Cell::new(Some(value)), PhantomData)
    }

    fn value(&self) -> T {
        self.0.take().expect("a live value is wrapped once")
    }
}

/// What can neither carry gradients nor be held as a constant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot cross the edge of a checkpointed region",
    label = "neither a tensor, nor made of tensors, nor `Clone + 'static`",
    note = "derive `ckpt_runtime::Boundary` for a type that holds tensors; a plain value must be `Clone + 'static`"
)]
pub trait CanCross {}

/// First: a boundary value.
pub trait CrossAsBoundary<T> {
    /// Wraps it.
    fn cross(&self) -> Crossing<T>;
}
impl<T: Boundary<E, D>, E: Real, D: Device<E>> CrossAsBoundary<T> for &&Live<T, E, D> {
    fn cross(&self) -> Crossing<T> {
        Crossing(self.value())
    }
}
/// Second: a constant.
pub trait CrossAsPlain<T> {
    /// Wraps it.
    fn cross(&self) -> Plain<T>;
}
impl<T: Clone + 'static, E: Real, D: Device<E>> CrossAsPlain<T> for &Live<T, E, D> {
    fn cross(&self) -> Plain<T> {
        Plain(self.value())
    }
}
/// Neither: an error that says so. It still gives what crosses, so that nothing else is wrong with
/// the region.
pub trait CrossNot<T> {
    /// Never there.
    fn cross(&self) -> Uncrossed<T>
    where
        T: CanCross;
}
impl<T, E: Real, D: Device<E>> CrossNot<T> for Live<T, E, D> {
    fn cross(&self) -> Uncrossed<T>
    where
        T: CanCross,
    {
        Uncrossed(self.value())
    }
}

/// A value that cannot cross, in code that does not compile.
#[derive(Debug)]
pub struct Uncrossed<T>(pub T);

impl<T> Clone for Uncrossed<T> {
    fn clone(&self) -> Self {
        unreachable!("it never crosses")
    }
}
impl<T: 'static, E: Real, D: Device<E>> Boundary<E, D> for Uncrossed<T> {
    const TAPED: bool = false;
    type Stored = ();
    fn store(self, _: &SharedTape<E, D>) {}
    fn load((): (), _: &SharedTape<E, D>) -> Self {
        unreachable!("it never crosses")
    }
    fn gradients((): &(), _: &mut Vec<GradientHandle<E, D>>) {}
    fn compare((): &(), (): &(), _: f64) -> Option<Difference> {
        None
    }
    fn device((): &()) -> Option<D> {
        None
    }
}

/// A place about to be lent to a region; `R` is `&mut T` or `&T`.
#[allow(missing_debug_implementations)]
pub struct Lending<R, E, D>(Cell<Option<R>>, PhantomData<(E, D)>);

impl<R, E, D> Lending<R, E, D> {
    /// Wraps a reference to it.
    pub fn new(place: R) -> Self {
        Self(Cell::new(Some(place)), PhantomData)
    }

    fn place(&self) -> R {
        self.0.take().expect("a place is lent once")
    }
}

/// What a region cannot own.
#[diagnostic::on_unimplemented(
    message = "a checkpointed region cannot own `{Self}`, which its recompute would need",
    label = "neither a module, nor a tensor, nor `Clone + 'static`",
    note = "a region clones the modules it uses: derive `Clone` for this type",
    note = "of a generic parameter the bound `Module<..>`, on the forward or on the impl, is enough"
)]
pub trait CanLend {}

macro_rules! lends {
    ($Trait:ident, [$($reference:tt)*], $Lent:ident, $Role:ty, [$($bound:tt)*], [$($m:tt)*]) => {
        impl<'a, T: $($bound)*, E: Real, D: Device<E>> $Trait for $($reference)* Lending<&'a $($m)* T, E, D> {
            type Lent = $Lent<'a, T, $Role>;
            fn lend(&self) -> Self::Lent {
                $Lent(self.place(), PhantomData)
            }
        }
    };
}
macro_rules! lending_trait {
    ($(#[$doc:meta])* $Trait:ident) => {
        $(#[$doc])*
        pub trait $Trait {
            /// The parameter.
            type Lent;
            /// Lends it.
            fn lend(&self) -> Self::Lent;
        }
    };
}
lending_trait!(
    /// First: a module.
    LendAsModule
);
lends!(LendAsModule, [&&&], LentMut, Trained, [TensorCollection<E, D> + Clone + 'static], [mut]);
lends!(LendAsModule, [&&&], LentRef, Trained, [TensorCollection<E, D> + Clone + 'static], []);
lending_trait!(
    /// Second: a slice of modules.
    LendAsSlice
);
impl<'a, T: TensorCollection<E, D> + Clone + 'static, E: Real, D: Device<E>> LendAsSlice
    for &&&Lending<&'a mut [T], E, D>
{
    type Lent = LentSlice<'a, T>;
    fn lend(&self) -> Self::Lent {
        LentSlice(self.place())
    }
}
impl<'a, T: TensorCollection<E, D> + Clone + 'static, E: Real, D: Device<E>> LendAsSlice for &&&Lending<&'a [T], E, D> {
    type Lent = LentSliceRef<'a, T>;
    fn lend(&self) -> Self::Lent {
        LentSliceRef(self.place())
    }
}
lending_trait!(
    /// Third: a bare tensor, or what is made of untaped tensors.
    LendAsLeaf
);
lends!(LendAsLeaf, [&&], LentMut, Leaf, [Boundary<E, D, Stored = T> + Clone], [mut]);
lends!(LendAsLeaf, [&&], LentRef, Leaf, [Boundary<E, D, Stored = T> + Clone], []);
lending_trait!(
    /// Fourth: a constant.
    LendAsConstant
);
lends!(LendAsConstant, [&], LentMut, Constant, [Clone + 'static], [mut]);
lends!(LendAsConstant, [&], LentRef, Constant, [Clone + 'static], []);
/// None: an error that says so. It still gives what it is asked for, so that nothing else is wrong
/// with the region's body.
pub trait LendNot {
    /// What was to be lent.
    type Target;
    /// The parameter.
    type Lent;
    /// Never there.
    fn lend(&self) -> Self::Lent
    where
        Self::Target: CanLend;
}
macro_rules! lends_not {
    ($Unlent:ident, $Owned:ident, [$($m:tt)*]) => {
        /// A place that cannot be lent, in code that does not compile.
        #[derive(Debug)]
        pub struct $Unlent<'a, T>(&'a $($m)* T);

        impl<'a, T, E: Real, D: Device<E>> LendNot for Lending<&'a $($m)* T, E, D> {
            type Target = T;
            type Lent = $Unlent<'a, T>;
            fn lend(&self) -> Self::Lent
            where
                T: CanLend,
            {
                $Unlent(self.place())
            }
        }
        impl<T: 'static, E: Real, D: Device<E>> Parameters<E, D> for $Unlent<'_, T> {
            type Owned = $Owned<T, Constant>;
            fn own(&self) -> Self::Owned {
                unreachable!("it is never lent")
            }
            fn refs(&mut self) -> &$($m)* T {
                self.0
            }
        }
    };
}
lends_not!(UnlentMut, OwnedMut, [mut]);
lends_not!(UnlentRef, OwnedRef, []);

/// Wraps a value that crosses a region's edge: `Crossing` when it is a boundary value, else `Plain`.
#[doc(hidden)]
#[macro_export]
macro_rules! __live {
    ($E:ty, $D:ty, $value:expr) => {{
        #[allow(unused_imports)]
        use $crate::__private::probe::{CrossAsBoundary as _, CrossAsPlain as _, CrossNot as _};
        (&&&$crate::__private::probe::Live::<_, $E, $D>::new($value)).cross()
    }};
}

/// A copy of something that a module owns, about to be used in its forward.
#[allow(missing_debug_implementations)]
pub struct Taking<T, E, D>(Cell<Option<T>>, PhantomData<(E, D)>);

impl<T, E, D> Taking<T, E, D> {
    /// Wraps it.
    pub fn new(value: T) -> Self {
        Self(Cell::new(Some(value)), PhantomData)
    }

    fn value(&self) -> T {
        self.0.take().expect("a value is taken once")
    }
}

/// First: a tensor, or something of tensors, which goes on the forward's tape.
pub trait TakeOnTape<E: Real, D: Device<E>> {
    /// It, on the tape.
    type Taken;
    /// Takes it.
    fn take(&self, tape: &SharedTape<E, D>) -> Self::Taken;
}
impl<T: Retape<E, D>, E: Real, D: Device<E>> TakeOnTape<E, D> for &Taking<T, E, D> {
    type Taken = T::Shared;
    fn take(&self, tape: &SharedTape<E, D>) -> T::Shared {
        enter(self.value(), tape)
    }
}
/// Second: anything else, as it is.
pub trait TakeAsItIs<T, E: Real, D: Device<E>> {
    /// Takes it.
    fn take(&self, tape: &SharedTape<E, D>) -> T;
}
impl<T, E: Real, D: Device<E>> TakeAsItIs<T, E, D> for Taking<T, E, D> {
    fn take(&self, _: &SharedTape<E, D>) -> T {
        self.value()
    }
}

/// Takes a copy of something that a module owns onto the tape of its forward.
#[doc(hidden)]
#[macro_export]
macro_rules! __taken {
    ($E:ty, $D:ty, $tape:expr, $value:expr) => {{
        #[allow(unused_imports)]
        use $crate::__private::probe::{TakeAsItIs as _, TakeOnTape as _};
        (&&$crate::__private::probe::Taking::<_, $E, $D>::new($value)).take($tape)
    }};
}

/// A field of a module `Mod` about to be shown to dfdx's visitors.
#[allow(missing_debug_implementations)]
pub struct Visiting<Mod, F, E, D>(PhantomData<(Mod, F, E, D)>);

impl<Mod, F, E, D> Visiting<Mod, F, E, D> {
    /// Of these types.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

/// First: a module.
pub trait VisitModule<Mod, F> {
    /// The field, for visitors.
    fn visit<'n, F1, F2>(&self, name: &'n str, get_ref: F1, get_mut: F2) -> ModuleField<'n, F1, F2, Mod, F>
    where
        F1: FnMut(&Mod) -> &F,
        F2: FnMut(&mut Mod) -> &mut F;
}
impl<Mod, F, E: Dtype, D: Device<E>> VisitModule<Mod, F> for &Visiting<Mod, F, E, D>
where
    Mod: TensorCollection<E, D>,
    F: TensorCollection<E, D>,
{
    fn visit<'n, F1, F2>(&self, name: &'n str, get_ref: F1, get_mut: F2) -> ModuleField<'n, F1, F2, Mod, F>
    where
        F1: FnMut(&Mod) -> &F,
        F2: FnMut(&mut Mod) -> &mut F,
    {
        Mod::module(name, get_ref, get_mut)
    }
}
/// Not a module: an error that says so. It still gives a field, so that nothing else is wrong with
/// the model.
pub trait VisitNot<Mod, F, E: Real, D: Device<E>> {
    /// Never there.
    fn visit<F1, F2>(&self, name: &str, get_ref: F1, get_mut: F2) -> Unvisited<F>
    where
        F1: FnMut(&Mod) -> &F,
        F2: FnMut(&mut Mod) -> &mut F,
        F: fits::ModuleField<E, D>;
}
impl<Mod, F, E: Real, D: Device<E>> VisitNot<Mod, F, E, D> for Visiting<Mod, F, E, D> {
    fn visit<F1, F2>(&self, _: &str, _: F1, _: F2) -> Unvisited<F>
    where
        F1: FnMut(&Mod) -> &F,
        F2: FnMut(&mut Mod) -> &mut F,
        F: fits::ModuleField<E, D>,
    {
        unreachable!("it is no module")
    }
}

/// A field that is no module, in code that does not compile.
#[derive(Debug)]
pub struct Unvisited<F>(PhantomData<F>);

impl<Mod: TensorCollection<E, D>, F, E: Dtype, D: Device<E>> ModuleFields<Mod, E, D> for Unvisited<F> {
    type Options<E2: Dtype, D2: Device<E2>> = Option<F>;
    type Output<E2: Dtype, D2: Device<E2>> = F;

    fn visit_fields<V: ModuleVisitor<Mod, E, D>>(self, _: &mut V) -> Result<Option<F>, V::Err> {
        Ok(None)
    }

    fn handle_options<E2: Dtype, D2: Device<E2>>(option: Option<F>) -> Option<F> {
        option
    }
}

/// Lends a place, given by `&mut` or `&`, to a region.
#[doc(hidden)]
#[macro_export]
macro_rules! __lend {
    ($E:ty, $D:ty, $place:expr) => {{
        #[allow(unused_imports)]
        use $crate::__private::probe::{
            LendAsConstant as _, LendAsLeaf as _, LendAsModule as _, LendAsSlice as _, LendNot as _,
        };
        (&&&&$crate::__private::probe::Lending::<_, $E, $D>::new($place)).lend()
    }};
}

#[cfg(test)]
mod tests {
    use dfdx::{prelude::*, tensor::Cpu};

    use crate::SharedTape;

    fn kind<T>(_: &T) -> String {
        std::any::type_name::<T>().split('<').next().unwrap().rsplit("::").next().unwrap().to_owned()
    }

    #[derive(Clone)]
    struct Config;

    #[test]
    fn values_cross_by_what_they_are() {
        let dev = Cpu::default();
        let x: Tensor<Rank1<2>, f32, Cpu> = dev.zeros();
        let shared = x.clone().put_tape(SharedTape::<f32, Cpu>::open());
        assert_eq!(kind(&__live!(f32, Cpu, shared)), "Crossing");
        assert_eq!(kind(&__live!(f32, Cpu, Some(x.clone()))), "Crossing");
        assert_eq!(kind(&__live!(f32, Cpu, (x.clone(), 3usize))), "Crossing");
        assert_eq!(kind(&__live!(f32, Cpu, true)), "Crossing");
        assert_eq!(kind(&__live!(f32, Cpu, Config)), "Plain");
        assert_eq!(kind(&__live!(f32, Cpu, |k: usize| k + 1)), "Plain");
    }

    #[test]
    fn tensors_are_taken_on_the_tape_and_all_else_as_it_is() {
        let dev = Cpu::default();
        let tape = &SharedTape::<f32, Cpu>::open();
        let x: Tensor<Rank1<2>, f32, Cpu> = dev.zeros();
        let _: Tensor<Rank1<2>, f32, Cpu, SharedTape<f32, Cpu>> = __taken!(f32, Cpu, tape, x.clone());
        let _: Option<Tensor<Rank1<2>, f32, Cpu, SharedTape<f32, Cpu>>> = __taken!(f32, Cpu, tape, Some(x));
        let _: f64 = __taken!(f32, Cpu, tape, 0.5f64);
        let _: Config = __taken!(f32, Cpu, tape, Config);
    }

    #[test]
    fn places_are_lent_by_what_they_are() {
        fn role<T>(_: &T) -> &'static str {
            let name = std::any::type_name::<T>();
            ["Trained", "Leaf", "Constant", "LentSlice"].into_iter().find(|r| name.contains(r)).unwrap()
        }
        let dev = Cpu::default();
        let mut linear = dev.build_module::<Linear<2, 2>, f32>();
        let mut fixed: Tensor<Rank1<2>, f32, Cpu> = dev.zeros();
        let mut sized: Tensor<(usize,), f32, Cpu> = dev.zeros_like(&(2,));
        let mut blocks = [linear.clone()];
        assert_eq!(role(&__lend!(f32, Cpu, &mut linear)), "Trained");
        assert_eq!(role(&__lend!(f32, Cpu, &linear)), "Trained");
        assert_eq!(role(&__lend!(f32, Cpu, &mut fixed)), "Trained");
        assert_eq!(role(&__lend!(f32, Cpu, &mut sized)), "Leaf");
        let (mut config, mut number) = (Config, 0.5f64);
        assert_eq!(role(&__lend!(f32, Cpu, &mut config)), "Constant");
        assert_eq!(role(&__lend!(f32, Cpu, &mut number)), "Leaf");
        assert_eq!(role(&__lend!(f32, Cpu, &mut blocks[..])), "LentSlice");
    }
}
