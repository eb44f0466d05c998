//! Sequences: `checkpoint_sequential!`'s types, and every list of layers that can be cut.
//!
//! A list of layers is a tuple of up to twelve, or a balanced tree of such tuples
//! ([`Concat`]) for longer ones, so that no type nests deeply and none has hundreds of parameters.
//! Its tensors are named as the plain tuple's, `0.` to `n.`, however it is grouped or cut.

use std::marker::PhantomData;

use dfdx::{
    nn::{BuildModule, BuildOnDevice, Module, ModuleMut, ModuleVisitor, TensorCollection, modules::Repeated},
    shapes::Dtype,
    tensor::{NoneTape, OwnedTape},
    tensor_ops::Device,
};

use crate::{
    Boundary, Edge, Mode, Real, ReplaySafe, Retape, Segments, SharedTape,
    chain::{DynLayer, chain, layer_mut, layer_ref},
    context::{Context, Site},
    failure::{self, Cause, Pass},
    fits::{Cut, Owned, TakenMut, TakenRef},
    flow::{cut, enter},
    parameters::{LentSlice, LentSliceRef},
    policy, region,
};

type Err<D> = <D as dfdx::tensor::HasErr>::Err;

/// Layers run one after the other in `K` checkpointed segments (0: one a layer), the last of which
/// is kept. Write it as `checkpoint_sequential!(segments = 3, Linear<2, 3>, ReLU, ..)`.
///
/// As dfdx's tuples it is its own builder, and its tensors have the plain tuple's names: weights
/// saved from `(A, B, C)` load into it, whatever `K`.
#[derive(Clone, Debug, Default)]
pub struct Sequential<const K: usize, L>(pub L);

/// Two lists of layers as one.
#[derive(Clone, Debug, Default)]
pub struct Concat<A, B>(pub A, pub B);

/// Layers that can be run through `&` on inputs with the tape `T`.
pub trait RunRef<X, T> {
    /// What comes out.
    type Output;
    /// The layers' error.
    type Error: core::fmt::Debug;
    /// Runs them.
    ///
    /// # Errors
    /// A layer's.
    fn run_ref(&self, x: X) -> Result<Self::Output, Self::Error>;
}

/// Layers that can be run through `&mut` on inputs with the tape `T`.
pub trait RunMut<X, T> {
    /// What comes out.
    type Output;
    /// The layers' error.
    type Error: core::fmt::Debug;
    /// Runs them.
    ///
    /// # Errors
    /// A layer's.
    fn run_mut(&mut self, x: X) -> Result<Self::Output, Self::Error>;
}

/// Layers that can be cut into regions and run through `&`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be cut into segments for `{X}`",
    label = "not a run of layers, or its layers do not fit this input",
    note = "`segments` and `each` go on a `Repeated<Block, N>`, a tuple of layers or a `checkpoint_sequential!`"
)]
pub trait SegmentsRef<X, E: Real, D: Device<E>> {
    /// What comes out.
    type Output;
    /// Runs them, cut.
    ///
    /// # Errors
    /// A layer's, or the device's; [`Cause::Segments`] when they cannot be cut so.
    fn cut_ref(&self, site: &'static Site, segments: Segments, x: X) -> Result<Self::Output, Err<D>>;
}

/// Layers that can be cut into regions and run through `&mut`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be cut into segments for `{X}`",
    label = "not a run of layers, or its layers do not fit this input",
    note = "`segments` and `each` go on a `Repeated<Block, N>`, a tuple of layers or a `checkpoint_sequential!`"
)]
pub trait SegmentsMut<X, E: Real, D: Device<E>> {
    /// What comes out.
    type Output;
    /// Runs them, cut.
    ///
    /// # Errors
    /// A layer's, or the device's; [`Cause::Segments`] when they cannot be cut so.
    fn cut_mut(&mut self, site: &'static Site, segments: Segments, x: X) -> Result<Self::Output, Err<D>>;
}

/// Runs a field that is cut, through `&self`.
///
/// # Errors
/// A layer's, or the device's; [`Cause::Segments`] when it cannot be cut so.
pub fn segments_ref<E: Real, D: Device<E>, M: SegmentsRef<X, E, D>, X: Boundary<E, D>>(
    site: &'static Site,
    segments: Segments,
    module: &M,
    x: X,
) -> Result<M::Output, Err<D>> {
    module.cut_ref(site, segments, x)
}

/// Runs a field that is cut, through `&mut self`.
///
/// # Errors
/// A layer's, or the device's; [`Cause::Segments`] when it cannot be cut so.
pub fn segments_mut<E: Real, D: Device<E>, M: SegmentsMut<X, E, D>, X: Boundary<E, D>>(
    site: &'static Site,
    segments: Segments,
    module: &mut M,
    x: X,
) -> Result<M::Output, Err<D>> {
    module.cut_mut(site, segments, x)
}

// ---------------------------------------------------------------- equal blocks

macro_rules! repeated {
    ($Segments:ident, $cut_fn:ident, $Taken:ident, $take:ident, $Slice:ident, [$($m:tt)*]) => {
        impl<T, X, E: Real, D: Device<E>, const N: usize> $Segments<X, E, D> for Repeated<T, N>
        where
            T: TensorCollection<E, D> + ReplaySafe + Owned,
            X: Boundary<E, D> + $Taken<T, T, Output = X, Error = Err<D>>,
        {
            type Output = X;
            fn $cut_fn(&$($m)* self, site: &'static Site, segments: Segments, mut x: X) -> Result<X, Err<D>> {
                if !X::TAPED {
                    for block in &$($m)* self.modules {
                        x = x.$take(block)?;
                    }
                    return Ok(x);
                }
                let context = Context::current();
                let tape = SharedTape::open();
                let (bounds, keep_last) = match cut(policy::segments(segments, &context), N) {
                    Ok(cut) => cut,
                    Err(segments) => {
                        let cause = Cause::Segments { segments, layers: N };
                        let device = X::device(&x.store(&tape)).unwrap_or_default();
                        return Err(failure::refuse(&device, &context.inside(site, None), Pass::First, cause));
                    }
                };
                let last = bounds.len().saturating_sub(1);
                for (i, (from, to)) in bounds.into_iter().enumerate() {
                    x = region::run(
                        context.clone().inside(site, Some((from, to))),
                        site,
                        (keep_last && i == last).then_some(Mode::Keep),
                        &tape,
                        $Slice(&$($m)* self.modules[from..to]),
                        x,
                        |_, blocks, mut x| {
                            for block in blocks {
                                x = x.$take(block)?;
                            }
                            Ok(x)
                        },
                    )?;
                }
                Ok(x)
            }
        }
    };
}
repeated!(SegmentsRef, cut_ref, TakenRef, taken_ref, LentSliceRef, []);
repeated!(SegmentsMut, cut_mut, TakenMut, taken_mut, LentSlice, [mut]);

// ---------------------------------------------------------------- different layers

/// A list of layers as rows of a chain's table.
pub trait RowsRef<X, E: Real, D: Device<E>> {
    /// What the last layer gives.
    type Output: Boundary<E, D>;
    /// Runs them as they are, for inference.
    ///
    /// # Errors
    /// A layer's.
    fn infer(&self, x: X) -> Result<Self::Output, Err<D>>;
    /// Pushes a row a layer.
    fn rows<'a>(&'a self, table: &mut Vec<Box<dyn DynLayer<E, D> + 'a>>);
}

/// [`RowsRef`], through `&mut`.
pub trait RowsMut<X, E: Real, D: Device<E>> {
    /// What the last layer gives.
    type Output: Boundary<E, D>;
    /// Runs them as they are, for inference.
    ///
    /// # Errors
    /// A layer's.
    fn infer(&mut self, x: X) -> Result<Self::Output, Err<D>>;
    /// Pushes a row a layer.
    fn rows<'a>(&'a mut self, table: &mut Vec<Box<dyn DynLayer<E, D> + 'a>>);
}

fn run_table<E: Real, D: Device<E>, X: Boundary<E, D>, Y: Boundary<E, D>>(
    site: &'static Site,
    segments: Segments,
    mut table: Vec<Box<dyn DynLayer<E, D> + '_>>,
    x: X,
) -> Result<Y, Err<D>> {
    let mut layers: Vec<&mut dyn DynLayer<E, D>> = Vec::with_capacity(table.len());
    for layer in &mut table {
        layers.push(&mut **layer);
    }
    chain(site, segments, &mut layers, x)
}

/// What is named and built: a list of modules, whatever its grouping.
pub trait LayerList<E: Dtype, D: Device<E>>: Sized {
    /// The list on another device, of another dtype.
    type To<E2: Dtype, D2: Device<E2>>;
    /// How many layers it has.
    const LEN: usize;
    /// Visits each layer under its index, the first of which is `first`; `path` leads from the
    /// module that is visited to this list.
    ///
    /// # Errors
    /// The visitor's.
    fn visit<Root: TensorCollection<E, D>, V: ModuleVisitor<Root, E, D>, P: Path<Root, Self>>(
        visitor: &mut V,
        first: usize,
        path: P,
    ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err>;
}

/// A list of builders.
pub trait BuildList<D: Device<E>, E: Dtype> {
    /// The list of modules.
    type Built: LayerList<E, D, To<E, D> = Self::Built>;
}

/// The way from a module to a list of layers inside it.
pub trait Path<Root, Part>: Copy {
    /// Goes it.
    fn get(self, root: &Root) -> &Part;
    /// Goes it, to change.
    fn get_mut(self, root: &mut Root) -> &mut Part;
}

/// The way to a sequence's list.
#[derive(Clone, Copy, Debug)]
pub struct Inside;
/// The way to the first half of a [`Concat`], whose second is `B`.
#[derive(Debug)]
pub struct First<P, B>(P, PhantomData<fn(B)>);
/// The way to the second half of a [`Concat`], whose first is `A`.
#[derive(Debug)]
pub struct Second<P, A>(P, PhantomData<fn(A)>);

impl<P: Copy, B> Clone for First<P, B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Copy, B> Copy for First<P, B> {}
impl<P: Copy, A> Clone for Second<P, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Copy, A> Copy for Second<P, A> {}

impl<const K: usize, L> Path<Sequential<K, L>, L> for Inside {
    fn get(self, root: &Sequential<K, L>) -> &L {
        &root.0
    }
    fn get_mut(self, root: &mut Sequential<K, L>) -> &mut L {
        &mut root.0
    }
}
impl<Root, A: 'static, B: 'static, P: Path<Root, Concat<A, B>>> Path<Root, A> for First<P, B> {
    fn get(self, root: &Root) -> &A {
        &self.0.get(root).0
    }
    fn get_mut(self, root: &mut Root) -> &mut A {
        &mut self.0.get_mut(root).0
    }
}
impl<Root, A: 'static, B: 'static, P: Path<Root, Concat<A, B>>> Path<Root, B> for Second<P, A> {
    fn get(self, root: &Root) -> &B {
        &self.0.get(root).1
    }
    fn get_mut(self, root: &mut Root) -> &mut B {
        &mut self.0.get_mut(root).1
    }
}

macro_rules! list {
    ($X0:ident; $($F:ident $i:tt $In:ident $Out:ident $P:ty),+; $Last:ident) => {
        impl<Er: core::fmt::Debug, $X0, $($F, $Out),+> RunRef<$X0, NoneTape> for ($($F,)+)
        where $($In: TakenRef<$F, $P, Output = $Out, Error = Er>),+
        {
            type Output = $Last;
            type Error = Er;
            fn run_ref(&self, x: $X0) -> Result<$Last, Er> {
                $(let x = TakenRef::<$F, $P>::taken_ref(x, &self.$i)?;)+
                Ok(x)
            }
        }
        impl<Er: core::fmt::Debug, $X0, $($F, $Out),+> RunMut<$X0, NoneTape> for ($($F,)+)
        where $($In: TakenMut<$F, $P, Output = $Out, Error = Er>),+
        {
            type Output = $Last;
            type Error = Er;
            fn run_mut(&mut self, x: $X0) -> Result<$Last, Er> {
                $(let x = TakenMut::<$F, $P>::taken_mut(x, &mut self.$i)?;)+
                Ok(x)
            }
        }
        impl<E: Real, D: Device<E>, $X0: Boundary<E, D>, $($F, $Out: Boundary<E, D>),+> RowsRef<$X0, E, D> for ($($F,)+)
        where
            $($F: TensorCollection<E, D> + ReplaySafe + Owned,)+
            $($In: TakenRef<$F, $P, Output = $Out, Error = Err<D>>,)+
        {
            type Output = $Last;
            fn infer(&self, x: $X0) -> Result<$Last, Err<D>> {
                $(let x = TakenRef::<$F, $P>::taken_ref(x, &self.$i)?;)+
                Ok(x)
            }
            fn rows<'a>(&'a self, table: &mut Vec<Box<dyn DynLayer<E, D> + 'a>>) {
                $(table.push(Box::new(layer_ref::<$F, $P, $In, E, D>(&self.$i)));)+
            }
        }
        impl<E: Real, D: Device<E>, $X0: Boundary<E, D>, $($F, $Out: Boundary<E, D>),+> RowsMut<$X0, E, D> for ($($F,)+)
        where
            $($F: TensorCollection<E, D> + ReplaySafe + Owned,)+
            $($In: TakenMut<$F, $P, Output = $Out, Error = Err<D>>,)+
        {
            type Output = $Last;
            fn infer(&mut self, x: $X0) -> Result<$Last, Err<D>> {
                $(let x = TakenMut::<$F, $P>::taken_mut(x, &mut self.$i)?;)+
                Ok(x)
            }
            fn rows<'a>(&'a mut self, table: &mut Vec<Box<dyn DynLayer<E, D> + 'a>>) {
                $(table.push(Box::new(layer_mut::<$F, $P, $In, E, D>(&mut self.$i)));)+
            }
        }
        impl<E: Real, D: Device<E>, $X0: Boundary<E, D>, $($F, $Out: Boundary<E, D>),+> SegmentsRef<$X0, E, D> for ($($F,)+)
        where
            $($F: TensorCollection<E, D> + ReplaySafe + Owned,)+
            $($In: TakenRef<$F, $P, Output = $Out, Error = Err<D>>,)+
        {
            type Output = $Last;
            fn cut_ref(&self, site: &'static Site, segments: Segments, x: $X0) -> Result<$Last, Err<D>> {
                if !$X0::TAPED {
                    return RowsRef::<$X0, E, D>::infer(self, x);
                }
                let mut table = Vec::with_capacity(<Self as LayerList<E, D>>::LEN);
                RowsRef::<$X0, E, D>::rows(self, &mut table);
                run_table(site, segments, table, x)
            }
        }
        impl<E: Real, D: Device<E>, $X0: Boundary<E, D>, $($F, $Out: Boundary<E, D>),+> SegmentsMut<$X0, E, D> for ($($F,)+)
        where
            $($F: TensorCollection<E, D> + ReplaySafe + Owned,)+
            $($In: TakenMut<$F, $P, Output = $Out, Error = Err<D>>,)+
        {
            type Output = $Last;
            fn cut_mut(&mut self, site: &'static Site, segments: Segments, x: $X0) -> Result<$Last, Err<D>> {
                if !$X0::TAPED {
                    return RowsMut::<$X0, E, D>::infer(self, x);
                }
                let mut table = Vec::with_capacity(<Self as LayerList<E, D>>::LEN);
                RowsMut::<$X0, E, D>::rows(self, &mut table);
                run_table(site, segments, table, x)
            }
        }
        impl<$($F),+> Cut for ($($F,)+) {}
        impl<E: Dtype, D: Device<E>, $($F: TensorCollection<E, D> + 'static),+> LayerList<E, D> for ($($F,)+) {
            type To<E2: Dtype, D2: Device<E2>> = ($($F::To<E2, D2>,)+);
            const LEN: usize = [$($i),+].len();
            fn visit<Root: TensorCollection<E, D>, V: ModuleVisitor<Root, E, D>, P: Path<Root, Self>>(
                visitor: &mut V,
                first: usize,
                path: P,
            ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
                let visited = ($(visitor.visit_module(
                    &(first + $i).to_string(),
                    |root: &Root| &path.get(root).$i,
                    |root: &mut Root| &mut path.get_mut(root).$i,
                )?,)+);
                Ok((|| Some(($(visited.$i?,)+)))())
            }
        }
        impl<D: Device<E>, E: Dtype, $($F: BuildOnDevice<D, E>),+> BuildList<D, E> for ($($F,)+)
        where
            $($F::Built: 'static),+
        {
            type Built = ($($F::Built,)+);
        }
    };
}
list!(X0; A 0 X0 X1 (); X1);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A; X2);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B; X3);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B, F 3 X3 X4 C; X4);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B, F 3 X3 X4 C, G 4 X4 X5 F; X5);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B, F 3 X3 X4 C, G 4 X4 X5 F, H 5 X5 X6 G; X6);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B, F 3 X3 X4 C, G 4 X4 X5 F, H 5 X5 X6 G, I 6 X6 X7 H; X7);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B, F 3 X3 X4 C, G 4 X4 X5 F, H 5 X5 X6 G, I 6 X6 X7 H, J 7 X7 X8 I; X8);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B, F 3 X3 X4 C, G 4 X4 X5 F, H 5 X5 X6 G, I 6 X6 X7 H, J 7 X7 X8 I, K 8 X8 X9 J; X9);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B, F 3 X3 X4 C, G 4 X4 X5 F, H 5 X5 X6 G, I 6 X6 X7 H, J 7 X7 X8 I, K 8 X8 X9 J, L 9 X9 X10 K; X10);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B, F 3 X3 X4 C, G 4 X4 X5 F, H 5 X5 X6 G, I 6 X6 X7 H, J 7 X7 X8 I, K 8 X8 X9 J, L 9 X9 X10 K, M 10 X10 X11 L; X11);
list!(X0; A 0 X0 X1 (), B 1 X1 X2 A, C 2 X2 X3 B, F 3 X3 X4 C, G 4 X4 X5 F, H 5 X5 X6 G, I 6 X6 X7 H, J 7 X7 X8 I, K 8 X8 X9 J, L 9 X9 X10 K, M 10 X10 X11 L, N 11 X11 X12 M; X12);

impl<X, A: RunRef<X, NoneTape>, B: RunRef<A::Output, NoneTape, Error = A::Error>> RunRef<X, NoneTape> for Concat<A, B> {
    type Output = B::Output;
    type Error = A::Error;
    fn run_ref(&self, x: X) -> Result<B::Output, A::Error> {
        self.1.run_ref(self.0.run_ref(x)?)
    }
}
impl<X, A: RunMut<X, NoneTape>, B: RunMut<A::Output, NoneTape, Error = A::Error>> RunMut<X, NoneTape> for Concat<A, B> {
    type Output = B::Output;
    type Error = A::Error;
    fn run_mut(&mut self, x: X) -> Result<B::Output, A::Error> {
        self.1.run_mut(self.0.run_mut(x)?)
    }
}
impl<E: Real, D: Device<E>, X, A: RowsRef<X, E, D>, B: RowsRef<A::Output, E, D>> RowsRef<X, E, D> for Concat<A, B> {
    type Output = B::Output;
    fn infer(&self, x: X) -> Result<B::Output, Err<D>> {
        self.1.infer(self.0.infer(x)?)
    }
    fn rows<'a>(&'a self, table: &mut Vec<Box<dyn DynLayer<E, D> + 'a>>) {
        self.0.rows(table);
        self.1.rows(table);
    }
}
impl<E: Real, D: Device<E>, X, A: RowsMut<X, E, D>, B: RowsMut<A::Output, E, D>> RowsMut<X, E, D> for Concat<A, B> {
    type Output = B::Output;
    fn infer(&mut self, x: X) -> Result<B::Output, Err<D>> {
        self.1.infer(self.0.infer(x)?)
    }
    fn rows<'a>(&'a mut self, table: &mut Vec<Box<dyn DynLayer<E, D> + 'a>>) {
        self.0.rows(table);
        self.1.rows(table);
    }
}
impl<E: Real, D: Device<E>, X: Boundary<E, D>, A, B> SegmentsRef<X, E, D> for Concat<A, B>
where
    A: RowsRef<X, E, D>,
    B: RowsRef<A::Output, E, D>,
{
    type Output = B::Output;
    fn cut_ref(&self, site: &'static Site, segments: Segments, x: X) -> Result<B::Output, Err<D>> {
        if !X::TAPED {
            return self.infer(x);
        }
        let mut table = Vec::new();
        self.rows(&mut table);
        run_table(site, segments, table, x)
    }
}
impl<E: Real, D: Device<E>, X: Boundary<E, D>, A, B> SegmentsMut<X, E, D> for Concat<A, B>
where
    A: RowsMut<X, E, D>,
    B: RowsMut<A::Output, E, D>,
{
    type Output = B::Output;
    fn cut_mut(&mut self, site: &'static Site, segments: Segments, x: X) -> Result<B::Output, Err<D>> {
        if !X::TAPED {
            return self.infer(x);
        }
        let mut table = Vec::new();
        self.rows(&mut table);
        run_table(site, segments, table, x)
    }
}
impl<E: Dtype, D: Device<E>, A: LayerList<E, D> + 'static, B: LayerList<E, D> + 'static> LayerList<E, D>
    for Concat<A, B>
{
    type To<E2: Dtype, D2: Device<E2>> = Concat<A::To<E2, D2>, B::To<E2, D2>>;
    const LEN: usize = A::LEN + B::LEN;
    fn visit<Root: TensorCollection<E, D>, V: ModuleVisitor<Root, E, D>, P: Path<Root, Self>>(
        visitor: &mut V,
        first: usize,
        path: P,
    ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        let a = A::visit(visitor, first, First(path, PhantomData::<fn(B)>))?;
        let b = B::visit(visitor, first + A::LEN, Second(path, PhantomData::<fn(A)>))?;
        Ok(a.zip(b).map(|(a, b)| Concat(a, b)))
    }
}
impl<D: Device<E>, E: Dtype, A: BuildList<D, E>, B: BuildList<D, E>> BuildList<D, E> for Concat<A, B>
where
    A::Built: 'static,
    B::Built: 'static,
{
    type Built = Concat<A::Built, B::Built>;
}

impl<M, const N: usize> Cut for Repeated<M, N> {}
impl<A, B> Cut for Concat<A, B> {}
impl<const K: usize, L> Cut for Sequential<K, L> {}

// ---------------------------------------------------------------- the sequence itself

const SITE: &Site = {
    const SITE: Site = Site::new("Sequential");
    &SITE
};

const fn declared<const K: usize>() -> Segments {
    if K == 0 { Segments::Each } else { Segments::Count(K) }
}

impl<const K: usize, L, X, T> RunRef<X, T> for Sequential<K, L>
where
    T: SequenceTape<L, X>,
{
    type Output = T::Output;
    type Error = T::Error;
    fn run_ref(&self, x: X) -> Result<T::Output, T::Error> {
        T::run(SITE, declared::<K>(), &self.0, x)
    }
}
impl<const K: usize, L, X, T> RunMut<X, T> for Sequential<K, L>
where
    T: SequenceTapeMut<L, X>,
{
    type Output = T::Output;
    type Error = T::Error;
    fn run_mut(&mut self, x: X) -> Result<T::Output, T::Error> {
        T::run(SITE, declared::<K>(), &mut self.0, x)
    }
}

/// How a list of layers runs on a kind of tape: plainly, or cut.
pub trait SequenceTape<L, X> {
    /// What comes out.
    type Output;
    /// The layers' error.
    type Error: core::fmt::Debug;
    /// Runs them.
    ///
    /// # Errors
    /// A layer's, or the device's.
    fn run(site: &'static Site, segments: Segments, layers: &L, x: X) -> Result<Self::Output, Self::Error>;
}
/// [`SequenceTape`], through `&mut`.
pub trait SequenceTapeMut<L, X> {
    /// What comes out.
    type Output;
    /// The layers' error.
    type Error: core::fmt::Debug;
    /// Runs them.
    ///
    /// # Errors
    /// A layer's, or the device's.
    fn run(site: &'static Site, segments: Segments, layers: &mut L, x: X) -> Result<Self::Output, Self::Error>;
}
impl<L: RunRef<X, NoneTape>, X> SequenceTape<L, X> for NoneTape {
    type Output = L::Output;
    type Error = L::Error;
    fn run(_: &'static Site, _: Segments, layers: &L, x: X) -> Result<L::Output, L::Error> {
        layers.run_ref(x)
    }
}
impl<L: RunMut<X, NoneTape>, X> SequenceTapeMut<L, X> for NoneTape {
    type Output = L::Output;
    type Error = L::Error;
    fn run(_: &'static Site, _: Segments, layers: &mut L, x: X) -> Result<L::Output, L::Error> {
        layers.run_mut(x)
    }
}
impl<E: Real, D: Device<E>, L: SegmentsRef<X, E, D>, X> SequenceTape<L, X> for OwnedTape<E, D> {
    type Output = L::Output;
    type Error = Err<D>;
    fn run(site: &'static Site, segments: Segments, layers: &L, x: X) -> Result<L::Output, Err<D>> {
        layers.cut_ref(site, segments, x)
    }
}
impl<E: Real, D: Device<E>, L: SegmentsMut<X, E, D>, X> SequenceTapeMut<L, X> for OwnedTape<E, D> {
    type Output = L::Output;
    type Error = Err<D>;
    fn run(site: &'static Site, segments: Segments, layers: &mut L, x: X) -> Result<L::Output, Err<D>> {
        layers.cut_mut(site, segments, x)
    }
}
/// On a shared tape the layers still see `OwnedTape`s.
impl<E: Real, D: Device<E>, L: SegmentsMut<X::Fed, E, D>, X: Retape<E, D>> SequenceTapeMut<L, X> for SharedTape<E, D>
where
    L::Output: Retape<E, D>,
{
    type Output = <L::Output as Retape<E, D>>::Shared;
    type Error = Err<D>;
    fn run(site: &'static Site, segments: Segments, layers: &mut L, x: X) -> Result<Self::Output, Err<D>> {
        let tape = SharedTape::floating();
        let fed = X::Fed::load(x.store(&tape), &SharedTape::open());
        Ok(enter(layers.cut_mut(site, segments, fed)?, &tape))
    }
}

impl<const K: usize, L, X: Edge> Module<X> for Sequential<K, L>
where
    Self: RunRef<X, X::Tape>,
{
    type Output = <Self as RunRef<X, X::Tape>>::Output;
    type Error = <Self as RunRef<X, X::Tape>>::Error;
    fn try_forward(&self, x: X) -> Result<Self::Output, Self::Error> {
        self.run_ref(x)
    }
    fn forward(&self, x: X) -> Self::Output {
        failure::expect(self.run_ref(x))
    }
}
impl<const K: usize, L, X: Edge> ModuleMut<X> for Sequential<K, L>
where
    Self: RunMut<X, X::Tape>,
{
    type Output = <Self as RunMut<X, X::Tape>>::Output;
    type Error = <Self as RunMut<X, X::Tape>>::Error;
    fn try_forward_mut(&mut self, x: X) -> Result<Self::Output, Self::Error> {
        self.run_mut(x)
    }
    fn forward_mut(&mut self, x: X) -> Self::Output {
        failure::expect(self.run_mut(x))
    }
}

impl<const K: usize, E: Dtype, D: Device<E>, L: LayerList<E, D>> TensorCollection<E, D> for Sequential<K, L> {
    type To<E2: Dtype, D2: Device<E2>> = Sequential<K, L::To<E2, D2>>;
    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        Ok(L::visit(visitor, 0, Inside)?.map(Sequential))
    }
}
impl<const K: usize, D: Device<E>, E: Dtype, L: BuildList<D, E>> BuildOnDevice<D, E> for Sequential<K, L>
where
    Sequential<K, L::Built>: BuildModule<D, E>,
{
    type Built = Sequential<K, L::Built>;
}

impl<const K: usize, L, X, E: Real, D: Device<E>> SegmentsRef<X, E, D> for Sequential<K, L>
where
    L: SegmentsRef<X, E, D>,
{
    type Output = L::Output;
    fn cut_ref(&self, site: &'static Site, segments: Segments, x: X) -> Result<L::Output, Err<D>> {
        self.0.cut_ref(site, segments, x)
    }
}
impl<const K: usize, L, X, E: Real, D: Device<E>> SegmentsMut<X, E, D> for Sequential<K, L>
where
    L: SegmentsMut<X, E, D>,
{
    type Output = L::Output;
    fn cut_mut(&mut self, site: &'static Site, segments: Segments, x: X) -> Result<L::Output, Err<D>> {
        self.0.cut_mut(site, segments, x)
    }
}
