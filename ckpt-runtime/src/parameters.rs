//! Whose gradients a region owns, and how it lends its modules to its body.
//!
//! A region borrows its modules for the first pass and *owns* clones of them for the recompute.
//! Cloning a module of dfdx clones reference counts and keeps the tensors' identities: gradients
//! land where they belong, a weight that changes between the passes is copied on write (the
//! recompute sees the weight that the forward used), and what the recompute does to the clone's
//! state, such as running statistics, is thrown away with it.

use std::marker::PhantomData;

use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorRef},
    shapes::Shape,
    tensor::{Gradients, Tensor},
    tensor_ops::Device,
};

use crate::{Boundary, Real, gradients};

/// What a region owns for its recompute.
pub trait Lend<E: Real, D: Device<E>>: 'static {
    /// What the body gets.
    type Refs<'a>;
    /// Lends the owned modules to the body.
    fn lend(&mut self) -> Self::Refs<'_>;
    /// Moves the gradients of all trained tensors.
    fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err>;
}

/// What a region borrows for its first pass.
pub trait Parameters<E: Real, D: Device<E>> {
    /// The owned form.
    type Owned: Lend<E, D>;
    /// Clones what is borrowed.
    fn own(&self) -> Self::Owned;
    /// Lends the borrowed modules to the body.
    fn refs(&mut self) -> <Self::Owned as Lend<E, D>>::Refs<'_>;
}

/// How a borrowed value takes part in the backward pass.
pub trait Role<T, E: Real, D: Device<E>>: 'static {
    /// Moves the gradients of its trained tensors.
    fn migrate(value: &T, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err>;
}

/// A module: every tensor of the collection that is trained.
#[derive(Debug)]
pub struct Trained;
/// A bare tensor, of static or dynamic shape.
#[derive(Debug)]
pub struct Leaf;
/// No tensor at all.
#[derive(Debug)]
pub struct Constant;

impl<T: TensorCollection<E, D>, E: Real, D: Device<E>> Role<T, E, D> for Trained {
    fn migrate(value: &T, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err> {
        T::iter_tensors(&mut RecursiveWalker { m: value, f: &mut Walk { from, to } })?;
        Ok(())
    }
}

impl<T: Boundary<E, D, Stored = T>, E: Real, D: Device<E>> Role<T, E, D> for Leaf {
    fn migrate(value: &T, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err> {
        let mut handles = Vec::new();
        T::gradients(value, &mut handles);
        handles.iter().try_for_each(|h| h.migrate(from, to))
    }
}

impl<T, E: Real, D: Device<E>> Role<T, E, D> for Constant {
    fn migrate(_: &T, _: &mut Gradients<E, D>, _: &mut Gradients<E, D>) -> Result<(), D::Err> {
        Ok(())
    }
}

/// Moves the gradients of a collection's trained tensors.
struct Walk<'a, E: Real, D: Device<E>> {
    from: &'a mut Gradients<E, D>,
    to: &'a mut Gradients<E, D>,
}

impl<E: Real, D: Device<E>> TensorVisitor<E, D> for Walk<'_, E, D> {
    type Viewer = ViewTensorRef;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: &Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        if options.do_gradient_update {
            gradients::migrate(tensor, self.from, self.to)?;
        }
        Ok(None)
    }
}

/// A value lent to a region by `&mut`.
#[derive(Debug)]
pub struct LentMut<'a, T, K>(pub(crate) &'a mut T, pub(crate) PhantomData<K>);
/// A value lent to a region by `&`.
#[derive(Debug)]
pub struct LentRef<'a, T, K>(pub(crate) &'a T, pub(crate) PhantomData<K>);
/// A slice of modules lent to a region by `&mut`.
#[derive(Debug)]
pub struct LentSlice<'a, T>(pub(crate) &'a mut [T]);
/// A slice of modules lent to a region by `&`.
#[derive(Debug)]
pub struct LentSliceRef<'a, T>(pub(crate) &'a [T]);

impl<'a, T> LentMut<'a, T, Trained> {
    pub(crate) fn module(module: &'a mut T) -> Self {
        Self(module, PhantomData)
    }
}
impl<'a, T> LentRef<'a, T, Trained> {
    pub(crate) fn module(module: &'a T) -> Self {
        Self(module, PhantomData)
    }
}

/// A value that a region owns and lends by `&mut`.
#[derive(Debug)]
pub struct OwnedMut<T, K>(T, PhantomData<K>);
/// A value that a region owns and lends by `&`.
#[derive(Debug)]
pub struct OwnedRef<T, K>(T, PhantomData<K>);
/// Modules that a region owns and lends as a slice.
#[derive(Debug)]
pub struct OwnedSlice<T>(Vec<T>);
/// Modules that a region owns and lends as a shared slice.
#[derive(Debug)]
pub struct OwnedSliceRef<T>(Vec<T>);

impl<T: Clone + 'static, K: Role<T, E, D>, E: Real, D: Device<E>> Parameters<E, D> for LentMut<'_, T, K> {
    type Owned = OwnedMut<T, K>;
    fn own(&self) -> OwnedMut<T, K> {
        OwnedMut(self.0.clone(), PhantomData)
    }
    fn refs(&mut self) -> &mut T {
        self.0
    }
}
impl<T: 'static, K: Role<T, E, D>, E: Real, D: Device<E>> Lend<E, D> for OwnedMut<T, K> {
    type Refs<'a> = &'a mut T;
    fn lend(&mut self) -> &mut T {
        &mut self.0
    }
    fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err> {
        K::migrate(&self.0, from, to)
    }
}

impl<T: Clone + 'static, K: Role<T, E, D>, E: Real, D: Device<E>> Parameters<E, D> for LentRef<'_, T, K> {
    type Owned = OwnedRef<T, K>;
    fn own(&self) -> OwnedRef<T, K> {
        OwnedRef(self.0.clone(), PhantomData)
    }
    fn refs(&mut self) -> &T {
        self.0
    }
}
impl<T: 'static, K: Role<T, E, D>, E: Real, D: Device<E>> Lend<E, D> for OwnedRef<T, K> {
    type Refs<'a> = &'a T;
    fn lend(&mut self) -> &T {
        &self.0
    }
    fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err> {
        K::migrate(&self.0, from, to)
    }
}

impl<T: Clone + 'static + TensorCollection<E, D>, E: Real, D: Device<E>> Parameters<E, D> for LentSlice<'_, T> {
    type Owned = OwnedSlice<T>;
    fn own(&self) -> OwnedSlice<T> {
        OwnedSlice(self.0.to_vec())
    }
    fn refs(&mut self) -> &mut [T] {
        self.0
    }
}
impl<T: 'static + TensorCollection<E, D>, E: Real, D: Device<E>> Lend<E, D> for OwnedSlice<T> {
    type Refs<'a> = &'a mut [T];
    fn lend(&mut self) -> &mut [T] {
        &mut self.0
    }
    fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err> {
        self.0.iter().try_for_each(|m| <Trained as Role<T, E, D>>::migrate(m, from, to))
    }
}

impl<T: Clone + 'static + TensorCollection<E, D>, E: Real, D: Device<E>> Parameters<E, D> for LentSliceRef<'_, T> {
    type Owned = OwnedSliceRef<T>;
    fn own(&self) -> OwnedSliceRef<T> {
        OwnedSliceRef(self.0.to_vec())
    }
    fn refs(&mut self) -> &[T] {
        self.0
    }
}
impl<T: 'static + TensorCollection<E, D>, E: Real, D: Device<E>> Lend<E, D> for OwnedSliceRef<T> {
    type Refs<'a> = &'a [T];
    fn lend(&mut self) -> &[T] {
        &self.0
    }
    fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err> {
        self.0.iter().try_for_each(|m| <Trained as Role<T, E, D>>::migrate(m, from, to))
    }
}

/// Parameters that are lent once more, for one segment of several.
#[derive(Debug)]
pub(crate) struct Reborrowed<'a, P>(pub(crate) &'a mut P);

impl<P: Parameters<E, D>, E: Real, D: Device<E>> Parameters<E, D> for Reborrowed<'_, P> {
    type Owned = P::Owned;
    fn own(&self) -> P::Owned {
        self.0.own()
    }
    fn refs(&mut self) -> <P::Owned as Lend<E, D>>::Refs<'_> {
        self.0.refs()
    }
}

macro_rules! tuples {
    ($($T:ident $i:tt),*) => {
        impl<E: Real, D: Device<E>, $($T: Lend<E, D>),*> Lend<E, D> for ($($T,)*) {
            type Refs<'a> = ($($T::Refs<'a>,)*);
            #[allow(clippy::unused_unit)]
            fn lend(&mut self) -> Self::Refs<'_> { ($(self.$i.lend(),)*) }
            #[allow(unused_variables)]
            fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err> {
                $(self.$i.migrate(from, to)?;)*
                Ok(())
            }
        }
        impl<E: Real, D: Device<E>, $($T: Parameters<E, D>),*> Parameters<E, D> for ($($T,)*) {
            type Owned = ($($T::Owned,)*);
            #[allow(clippy::unused_unit)]
            fn own(&self) -> Self::Owned { ($(self.$i.own(),)*) }
            #[allow(clippy::unused_unit)]
            fn refs(&mut self) -> <Self::Owned as Lend<E, D>>::Refs<'_> { ($(self.$i.refs(),)*) }
        }
    };
}
tuples!();
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
