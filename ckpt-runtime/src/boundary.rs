//! What may cross a region's edge.
//!
//! A value that enters a region is [stored](Boundary::store) without its tape, that is all a
//! checkpoint keeps, and [loaded](Boundary::load) onto the region's tape, once for the first pass
//! and once for the recompute. Values that leave are stored and loaded onto the tape outside.
//!
//! Float tensors carry gradients, on whatever tape, and so do untaped ones: they are leaves, whose
//! gradient the plain model would fill. Index and mask tensors cross without. `Option`, `Vec`,
//! arrays, tuples of up to twelve, and primitive values cross by their parts; a struct or enum of
//! yours does with `#[derive(Boundary)]`, and any other `Clone + 'static` value inside [`Plain`].

use std::marker::PhantomData;

use dfdx::{
    shapes::Shape,
    tensor::{NoneTape, OwnedTape, PutTape, SplitTape, Storage, Tensor},
    tensor_ops::Device,
};

use crate::{
    Real,
    failure::Difference,
    gradients::GradientHandle,
    tape::{InputTape, SharedTape},
};

/// A value that can cross a region's edge. Derive it for structs and enums that hold tensors.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot cross the edge of a checkpointed region",
    label = "neither a tensor nor made of values that can cross",
    note = "derive it: `#[derive(ckpt_runtime::Boundary)]`, or wrap a plain `Clone + 'static` value in `ckpt_runtime::Plain`"
)]
pub trait Boundary<E: Real, D: Device<E>>: Sized + 'static {
    /// Whether a part of it carries a tape.
    const TAPED: bool;
    /// The value without tapes: what a checkpoint keeps.
    type Stored: Clone + 'static;

    /// Strips the tapes off and joins them into `tape`.
    fn store(self, tape: &SharedTape<E, D>) -> Self::Stored;

    /// Puts a stored value onto `tape`. Where a part carries an `OwnedTape`, the first such part
    /// takes what `tape` holds.
    fn load(stored: Self::Stored, tape: &SharedTape<E, D>) -> Self;

    /// Pushes the handle of every float tensor's gradient, in order.
    fn gradients(stored: &Self::Stored, out: &mut Vec<GradientHandle<E, D>>);

    /// The first difference between the first pass's output and the recompute's, for `verify`.
    /// `tolerance` is relative; `0.0` compares bits.
    fn compare(first: &Self::Stored, again: &Self::Stored, tolerance: f64) -> Option<Difference>;

    /// The device of its first tensor.
    fn device(stored: &Self::Stored) -> Option<D>;
}

impl<S: Shape, E: Real, D: Device<E>, T: InputTape<E, D>> Boundary<E, D> for Tensor<S, E, D, T> {
    const TAPED: bool = T::TAPED;
    type Stored = Tensor<S, E, D>;

    fn store(self, tape: &SharedTape<E, D>) -> Self::Stored {
        let (value, own) = self.split_tape();
        own.join_into(tape);
        value
    }

    fn load(stored: Self::Stored, tape: &SharedTape<E, D>) -> Self {
        stored.put_tape(T::continue_from(tape))
    }

    fn gradients(stored: &Self::Stored, out: &mut Vec<GradientHandle<E, D>>) {
        out.push(GradientHandle::of(stored));
    }

    fn compare(first: &Self::Stored, again: &Self::Stored, tolerance: f64) -> Option<Difference> {
        let same = |a: E, b: E| {
            if a.bits() == b.bits() {
                return true;
            }
            let (a, b) = (a.to_f64().unwrap_or(f64::NAN), b.to_f64().unwrap_or(f64::NAN));
            // Between an infinity and anything else any relative distance would do.
            let near = || (a - b).abs() <= tolerance * a.abs().max(b.abs()) && (a - b).is_finite();
            tolerance > 0.0 && (a == b || near() || (a.is_nan() && b.is_nan()))
        };
        let device = first.device();
        let (first, again): (Vec<E>, Vec<E>) = (device.tensor_to_vec(first), device.tensor_to_vec(again));
        let element = first
            .iter()
            .zip(&again)
            .position(|(a, b)| !same(*a, *b))
            .or_else(|| (first.len() != again.len()).then_some(first.len().min(again.len())))?;
        let value = |v: &[E]| v.get(element).and_then(num_traits::ToPrimitive::to_f64).unwrap_or(f64::NAN);
        Some(Difference { element, first: value(&first), again: value(&again) })
    }

    fn device(stored: &Self::Stored) -> Option<D> {
        Some(stored.device().clone())
    }
}

impl<S: Shape, E: Real, D: Device<E>, T: InputTape<E, D>> Boundary<E, D> for Tensor<S, usize, D, T> {
    const TAPED: bool = T::TAPED;
    type Stored = Tensor<S, usize, D>;

    fn store(self, tape: &SharedTape<E, D>) -> Self::Stored {
        let (value, own) = self.split_tape();
        own.join_into(tape);
        value
    }

    fn load(stored: Self::Stored, tape: &SharedTape<E, D>) -> Self {
        stored.put_tape(T::continue_from(tape))
    }

    fn gradients(_: &Self::Stored, _: &mut Vec<GradientHandle<E, D>>) {}

    fn compare(first: &Self::Stored, again: &Self::Stored, _: f64) -> Option<Difference> {
        compare_exactly(first, again, |v| v as f64)
    }

    fn device(stored: &Self::Stored) -> Option<D> {
        Some(stored.device().clone())
    }
}

impl<S: Shape, E: Real, D: Device<E> + Storage<bool>> Boundary<E, D> for Tensor<S, bool, D, NoneTape> {
    const TAPED: bool = false;
    type Stored = Self;

    fn store(self, _: &SharedTape<E, D>) -> Self {
        self
    }

    fn load(stored: Self, _: &SharedTape<E, D>) -> Self {
        stored
    }

    fn gradients(_: &Self, _: &mut Vec<GradientHandle<E, D>>) {}

    fn compare(first: &Self, again: &Self, _: f64) -> Option<Difference> {
        compare_exactly(first, again, |v| f64::from(u8::from(v)))
    }

    fn device(stored: &Self) -> Option<D> {
        Some(stored.device().clone())
    }
}

fn compare_exactly<S: Shape, F: PartialEq + Copy, D: Storage<F>>(
    first: &Tensor<S, F, D>,
    again: &Tensor<S, F, D>,
    value: impl Fn(F) -> f64,
) -> Option<Difference> {
    let device = first.device();
    let (first, again) = (device.tensor_to_vec(first), device.tensor_to_vec(again));
    let element = first.iter().zip(&again).position(|(a, b)| a != b)?;
    Some(Difference { element, first: value(first[element]), again: value(again[element]) })
}

/// A plain value that crosses a region's edge as it is: a constant, held by value, without
/// gradients.
///
/// A tensor hidden in it keeps the tape it has; using that inside the region is reported as
/// [`Cause::ForeignTape`](crate::Cause::ForeignTape). The gradient of an *untaped* tensor hidden in
/// it would be lost, which nothing can see: derive [`Boundary`] for types that hold tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain<T>(pub T);

/// A value that is a [`Boundary`] itself; the macros wrap values in it or in [`Plain`].
#[derive(Clone, Copy, Debug)]
pub struct Crossing<T>(pub T);

/// The impl of a type that crosses as it is, without tensors.
macro_rules! crosses_as_it_is {
    ($({$($generics:tt)*})? $Type:ty) => {
        impl<E: Real, D: Device<E> $(, $($generics)*)?> Boundary<E, D> for $Type {
            const TAPED: bool = false;
            type Stored = Self;
            fn store(self, _: &SharedTape<E, D>) -> Self { self }
            fn load(stored: Self, _: &SharedTape<E, D>) -> Self { stored }
            fn gradients(_: &Self, _: &mut Vec<GradientHandle<E, D>>) {}
            fn compare(_: &Self, _: &Self, _: f64) -> Option<Difference> { None }
            fn device(_: &Self) -> Option<D> { None }
        }
    };
}
crosses_as_it_is!({T: Clone + 'static} Plain<T>);
crosses_as_it_is!({T: 'static} PhantomData<T>);
macro_rules! primitives {
    ($($Type:ty),*) => { $(crosses_as_it_is!($Type);)* };
}
primitives!(bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, String, &'static str);

impl<T: Boundary<E, D>, E: Real, D: Device<E>> Boundary<E, D> for Crossing<T> {
    const TAPED: bool = T::TAPED;
    type Stored = T::Stored;
    fn store(self, tape: &SharedTape<E, D>) -> Self::Stored {
        self.0.store(tape)
    }
    fn load(stored: Self::Stored, tape: &SharedTape<E, D>) -> Self {
        Self(T::load(stored, tape))
    }
    fn gradients(stored: &Self::Stored, out: &mut Vec<GradientHandle<E, D>>) {
        T::gradients(stored, out);
    }
    fn compare(first: &Self::Stored, again: &Self::Stored, tolerance: f64) -> Option<Difference> {
        T::compare(first, again, tolerance)
    }
    fn device(stored: &Self::Stored) -> Option<D> {
        T::device(stored)
    }
}

/// The impl of a container, by its items.
macro_rules! crosses_by_items {
    ([$($generics:tt)*] $Type:ty, $Stored:ty, |$stored:ident, $f:ident| $map:expr) => {
        impl<E: Real, D: Device<E>, B: Boundary<E, D> $($generics)*> Boundary<E, D> for $Type {
            const TAPED: bool = B::TAPED;
            type Stored = $Stored;
            fn store(self, tape: &SharedTape<E, D>) -> Self::Stored {
                let ($stored, $f) = (self, |item: B| item.store(tape));
                $map
            }
            fn load($stored: Self::Stored, tape: &SharedTape<E, D>) -> Self {
                let $f = |item| B::load(item, tape);
                $map
            }
            fn gradients(stored: &Self::Stored, out: &mut Vec<GradientHandle<E, D>>) {
                for item in stored.iter() {
                    B::gradients(item, out);
                }
            }
            fn compare(first: &Self::Stored, again: &Self::Stored, tolerance: f64) -> Option<Difference> {
                first.iter().zip(again).find_map(|(a, b)| B::compare(a, b, tolerance))
            }
            fn device(stored: &Self::Stored) -> Option<D> {
                stored.iter().find_map(B::device)
            }
        }
    };
}
crosses_by_items!([] Option<B>, Option<B::Stored>, |items, f| items.map(f));
crosses_by_items!([] Vec<B>, Vec<B::Stored>, |items, f| items.into_iter().map(f).collect());
crosses_by_items!([, const N: usize] [B; N], [B::Stored; N], |items, f| items.map(f));

impl<E: Real, D: Device<E>> Boundary<E, D> for () {
    const TAPED: bool = false;
    type Stored = ();
    fn store(self, _: &SharedTape<E, D>) {}
    fn load((): (), _: &SharedTape<E, D>) {}
    fn gradients((): &(), _: &mut Vec<GradientHandle<E, D>>) {}
    fn compare((): &(), (): &(), _: f64) -> Option<Difference> {
        None
    }
    fn device((): &()) -> Option<D> {
        None
    }
}

macro_rules! tuples {
    ($($T:ident $i:tt),+) => {
        impl<E: Real, D: Device<E>, $($T: Boundary<E, D>),+> Boundary<E, D> for ($($T,)+) {
            const TAPED: bool = false $(|| $T::TAPED)+;
            type Stored = ($($T::Stored,)+);
            fn store(self, tape: &SharedTape<E, D>) -> Self::Stored {
                ($(self.$i.store(tape),)+)
            }
            fn load(stored: Self::Stored, tape: &SharedTape<E, D>) -> Self {
                ($($T::load(stored.$i, tape),)+)
            }
            fn gradients(stored: &Self::Stored, out: &mut Vec<GradientHandle<E, D>>) {
                $($T::gradients(&stored.$i, out);)+
            }
            fn compare(first: &Self::Stored, again: &Self::Stored, tolerance: f64) -> Option<Difference> {
                None $(.or_else(|| $T::compare(&first.$i, &again.$i, tolerance)))+
            }
            fn device(stored: &Self::Stored) -> Option<D> {
                None $(.or_else(|| $T::device(&stored.$i)))+
            }
        }

        impl<E: Real, D: Device<E>, $($T: Retape<E, D>),+> Retape<E, D> for ($($T,)+) {
            type Shared = ($($T::Shared,)+);
            type Owned = ($($T::Owned,)+);
            type Fed = fed!($($T),+);
        }
    };
}
/// A tuple that is fed to a module: an index tensor carries the tape in first place only.
macro_rules! fed {
    ($First:ident $(, $Rest:ident)*) => { ($First::Fed, $($Rest::Owned,)*) };
}

/// The same value on other tapes: what a forward on a shared tape makes of values at its edges.
///
/// All forms share what they store, so that changing the tape is storing and loading.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot go into a checkpointed forward or come out of one",
    label = "neither a tensor nor made of values that go on a tape",
    note = "derive `ckpt_runtime::Boundary` for a type of your own, with tensors or without"
)]
pub trait Retape<E: Real, D: Device<E>>: Boundary<E, D> {
    /// Float tensors on the shared tape, index tensors untaped.
    type Shared: Boundary<E, D, Stored = Self::Stored>;
    /// Float tensors on `OwnedTape`s, index tensors untaped.
    type Owned: Boundary<E, D, Stored = Self::Stored>;
    /// What a module gets: as `Owned`, but an index tensor alone, or first in a tuple, is taped, so
    /// that an embedding's gradient is tracked.
    type Fed: Boundary<E, D, Stored = Self::Stored>;
}

impl<S: Shape, E: Real, D: Device<E>, T: InputTape<E, D>> Retape<E, D> for Tensor<S, E, D, T> {
    type Shared = Tensor<S, E, D, SharedTape<E, D>>;
    type Owned = Tensor<S, E, D, OwnedTape<E, D>>;
    type Fed = Self::Owned;
}
impl<S: Shape, E: Real, D: Device<E>, T: InputTape<E, D>> Retape<E, D> for Tensor<S, usize, D, T> {
    type Shared = Tensor<S, usize, D>;
    type Owned = Tensor<S, usize, D>;
    type Fed = Tensor<S, usize, D, OwnedTape<E, D>>;
}
impl<S: Shape, E: Real, D: Device<E> + Storage<bool>> Retape<E, D> for Tensor<S, bool, D> {
    type Shared = Self;
    type Owned = Self;
    type Fed = Self;
}
macro_rules! retape_as_it_is {
    ($($({$($generics:tt)*})? $Type:ty),* $(,)?) => { $(
        impl<E: Real, D: Device<E> $(, $($generics)*)?> Retape<E, D> for $Type {
            type Shared = Self;
            type Owned = Self;
            type Fed = Self;
        }
    )* };
}
retape_as_it_is!(
    bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, String, &'static str, (),
    {T: Clone + 'static} Plain<T>, {T: 'static} PhantomData<T>,
);
macro_rules! retape_by_items {
    ($([$($generics:tt)*] $Container:ty => $Shared:ty, $Owned:ty, $Fed:ty);* $(;)?) => { $(
        impl<E: Real, D: Device<E>, B: Retape<E, D> $($generics)*> Retape<E, D> for $Container {
            type Shared = $Shared;
            type Owned = $Owned;
            type Fed = $Fed;
        }
    )* };
}
retape_by_items!(
    [] Option<B> => Option<B::Shared>, Option<B::Owned>, Option<B::Fed>;
    [] Vec<B> => Vec<B::Shared>, Vec<B::Owned>, Vec<B::Fed>;
    [, const N: usize] [B; N] => [B::Shared; N], [B::Owned; N], [B::Fed; N];
);

tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, F 3);
tuples!(A 0, B 1, C 2, F 3, G 4);
tuples!(A 0, B 1, C 2, F 3, G 4, H 5);
tuples!(A 0, B 1, C 2, F 3, G 4, H 5, I 6);
tuples!(A 0, B 1, C 2, F 3, G 4, H 5, I 6, J 7);
tuples!(A 0, B 1, C 2, F 3, G 4, H 5, I 6, J 7, K 8);
tuples!(A 0, B 1, C 2, F 3, G 4, H 5, I 6, J 7, K 8, L 9);
tuples!(A 0, B 1, C 2, F 3, G 4, H 5, I 6, J 7, K 8, L 9, M 10);
tuples!(A 0, B 1, C 2, F 3, G 4, H 5, I 6, J 7, K 8, L 9, M 10, N 11);

/// Which tape a value carries: `OwnedTape` or `SharedTape` if any part does, else `NoneTape`.
///
/// It decides how a module that is written for every tape runs: as a region, or plainly.
pub trait Edge {
    /// The tape's type.
    type Tape;
}

impl<S: Shape, E, D: Storage<E>, T> Edge for Tensor<S, E, D, T> {
    type Tape = T;
}
impl<B: Edge> Edge for Option<B> {
    type Tape = B::Tape;
}
impl<B: Edge> Edge for Vec<B> {
    type Tape = B::Tape;
}
impl<B: Edge, const N: usize> Edge for [B; N] {
    type Tape = B::Tape;
}
macro_rules! edge_without_tape {
    ($($({$($generics:tt)*})? $Type:ty),* $(,)?) => { $(
        impl $(<$($generics)*>)? Edge for $Type { type Tape = NoneTape; }
    )* };
}
edge_without_tape!(
    bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, String, &'static str, (),
    {T} Plain<T>, {T} PhantomData<T>,
);

/// The tape of two values together.
pub trait JoinTape<Other> {
    /// The tape's type.
    type Tape;
}
impl<T> JoinTape<T> for NoneTape {
    type Tape = T;
}
impl<E, D: Storage<E>, T> JoinTape<T> for OwnedTape<E, D> {
    type Tape = Self;
}
impl<E, D: Storage<E>, T> JoinTape<T> for SharedTape<E, D> {
    type Tape = Self;
}
impl<A: Edge> Edge for (A,) {
    type Tape = A::Tape;
}
macro_rules! edge_tuples {
    ($A:ident, $($Rest:ident),+) => {
        impl<$A: Edge, $($Rest),+> Edge for ($A, $($Rest),+)
        where
            ($($Rest,)+): Edge,
            $A::Tape: JoinTape<<($($Rest,)+) as Edge>::Tape>,
        {
            type Tape = <$A::Tape as JoinTape<<($($Rest,)+) as Edge>::Tape>>::Tape;
        }
    };
}
edge_tuples!(A, B);
edge_tuples!(A, B, C);
edge_tuples!(A, B, C, F);
edge_tuples!(A, B, C, F, G);
edge_tuples!(A, B, C, F, G, H);
