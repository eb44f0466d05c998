//! How a macro treats a value whose type it does not see.
//!
//! A macro knows tokens, not types: whether a local that a region uses is a tensor or a plain
//! value, a field a module or a number, only the compiler can tell. `live!` and `lend!` ask it
//! by method probing: the same method name on ever more references, of which the compiler takes
//! the first that applies. The dtype and the device are given, so that nothing is left to infer.

use std::{cell::Cell, marker::PhantomData};

use dfdx::{nn::TensorCollection, tensor_ops::Device};

use crate::{
    Boundary, Crossing, Plain, Real, Retape, SharedTape,
    flow::enter,
    parameters::{Constant, Leaf, LentMut, LentRef, LentSlice, LentSliceRef, Trained},
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
/// Neither: an error that says so.
pub trait CrossNot<T> {
    /// Never there.
    fn cross(&self) -> Plain<T>
    where
        T: CanCross;
}
impl<T, E: Real, D: Device<E>> CrossNot<T> for Live<T, E, D> {
    fn cross(&self) -> Plain<T>
    where
        T: CanCross,
    {
        Plain(self.value())
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
    note = "a region clones the modules it uses: derive `Clone` for this type"
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
impl<'a, T, E: Real, D: Device<E>> LendNot for Lending<&'a mut T, E, D> {
    type Target = T;
    type Lent = LentMut<'a, T, Constant>;
    fn lend(&self) -> Self::Lent
    where
        T: CanLend,
    {
        LentMut(self.place(), PhantomData)
    }
}
impl<'a, T, E: Real, D: Device<E>> LendNot for Lending<&'a T, E, D> {
    type Target = T;
    type Lent = LentRef<'a, T, Constant>;
    fn lend(&self) -> Self::Lent
    where
        T: CanLend,
    {
        LentRef(self.place(), PhantomData)
    }
}

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
