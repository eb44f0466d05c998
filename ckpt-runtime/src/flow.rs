//! A forward on a shared tape: its entry and exit, and the module calls between.

use dfdx::{nn::modules::Repeated, tensor_ops::Device};

use crate::{
    Boundary, Plain, Real, ReplaySafe, Retape, SharedTape,
    context::{Context, Site},
    failure::{self, Pass},
    fits::{GivenMut, GivenRef},
    function::Training,
    parameters::{LentSlice, Parameters, Reborrowed},
    policy::{self, Mode, Segments},
    region,
};

type Err<D> = <D as dfdx::tensor::HasErr>::Err;

/// Puts an input of a forward onto its tape.
pub fn enter<E: Real, D: Device<E>, X: Retape<E, D>>(x: X, tape: &SharedTape<E, D>) -> X::Shared {
    X::Shared::load(x.store(tape), tape)
}

/// Ends a forward: its output on `OwnedTape`s, all that was recorded on the first of them.
///
/// # Errors
/// When a tape of another region was met; [`last_failure`](crate::last_failure) says so.
pub fn leave<E: Real, D: Device<E>, Y: Retape<E, D>>(y: Y, tape: SharedTape<E, D>) -> Result<Y::Owned, Err<D>> {
    let stored = y.store(&tape);
    if let Some(cause) = failure::take_pending()
        && let Some(device) = Y::device(&stored)
    {
        return Err(failure::refuse(&device, &Context::current(), Pass::First, cause));
    }
    let y = Y::Owned::load(stored, &tape);
    tape.close();
    Ok(y)
}

/// Calls a module through `&mut` in a forward on a shared tape.
///
/// # Errors
/// The module's.
pub fn call_mut<E: Real, D: Device<E>, M, X: Retape<E, D>, Y: Retape<E, D>>(
    tape: &SharedTape<E, D>,
    module: &mut M,
    x: X,
) -> Result<Y::Shared, Err<D>>
where
    X::Fed: GivenMut<M, Output = Y, Error = Err<D>>,
{
    let fed = X::Fed::load(x.store(tape), &SharedTape::open());
    let _paused = Training::pauses();
    Ok(enter(fed.given_mut(module)?, tape))
}

/// Calls a module through `&` in a forward on a shared tape.
///
/// # Errors
/// The module's.
pub fn call_ref<E: Real, D: Device<E>, M, X: Retape<E, D>, Y: Retape<E, D>>(
    tape: &SharedTape<E, D>,
    module: &M,
    x: X,
) -> Result<Y::Shared, Err<D>>
where
    X::Fed: GivenRef<M, Output = Y, Error = Err<D>>,
{
    let fed = X::Fed::load(x.store(tape), &SharedTape::open());
    let _paused = Training::pauses();
    Ok(enter(fed.given_ref(module)?, tape))
}

/// [`call_mut`] inside a region.
///
/// # Errors
/// The module's.
pub fn replayed_mut<E: Real, D: Device<E>, M: ReplaySafe, X: Retape<E, D>, Y: Retape<E, D>>(
    tape: &SharedTape<E, D>,
    module: &mut M,
    x: X,
) -> Result<Y::Shared, Err<D>>
where
    X::Fed: GivenMut<M, Output = Y, Error = Err<D>>,
{
    call_mut(tape, module, x)
}

/// [`call_ref`] inside a region.
///
/// # Errors
/// The module's.
pub fn replayed_ref<E: Real, D: Device<E>, M: ReplaySafe, X: Retape<E, D>, Y: Retape<E, D>>(
    tape: &SharedTape<E, D>,
    module: &M,
    x: X,
) -> Result<Y::Shared, Err<D>>
where
    X::Fed: GivenRef<M, Output = Y, Error = Err<D>>,
{
    call_ref(tape, module, x)
}

/// Calls a module in inference.
///
/// # Errors
/// The module's.
pub fn infer<M, X, Y, R>(module: &M, x: X) -> Result<Y, R>
where
    X: GivenRef<M, Output = Y, Error = R>,
{
    x.given_ref(module)
}

/// A collection of modules that a forward loops over.
pub trait Blocks {
    /// One of them.
    type Block;
    /// All of them.
    fn blocks(&self) -> &[Self::Block];
    /// All of them.
    fn blocks_mut(&mut self) -> &mut [Self::Block];
}

impl<B, const N: usize> Blocks for Repeated<B, N> {
    type Block = B;
    fn blocks(&self) -> &[B] {
        &self.modules
    }
    fn blocks_mut(&mut self) -> &mut [B] {
        &mut self.modules
    }
}
impl<B> Blocks for Vec<B> {
    type Block = B;
    fn blocks(&self) -> &[B] {
        self
    }
    fn blocks_mut(&mut self) -> &mut [B] {
        self
    }
}
impl<B> Blocks for [B] {
    type Block = B;
    fn blocks(&self) -> &[B] {
        self
    }
    fn blocks_mut(&mut self) -> &mut [B] {
        self
    }
}
impl<B, const N: usize> Blocks for [B; N] {
    type Block = B;
    fn blocks(&self) -> &[B] {
        self
    }
    fn blocks_mut(&mut self) -> &mut [B] {
        self
    }
}

/// Iterates over modules in inference.
pub fn blocks<B: Blocks + ?Sized>(blocks: &B) -> std::slice::Iter<'_, B::Block> {
    blocks.blocks().iter()
}

/// Iterates over modules in training.
pub fn blocks_mut<B: Blocks + ?Sized>(blocks: &mut B) -> std::slice::IterMut<'_, B::Block> {
    blocks.blocks_mut().iter_mut()
}

/// The modules of a loop as a slice, to be cut.
pub fn blocks_slice_mut<B: Blocks + ?Sized>(blocks: &mut B) -> &mut [B::Block] {
    blocks.blocks_mut()
}

/// How a run of `layers` is cut: the bounds of each segment, and whether the last is kept.
///
/// # Errors
/// With the number of segments asked for, when there are none or more than layers.
pub(crate) fn cut(segments: Segments, layers: usize) -> Result<(Vec<(usize, usize)>, bool), usize> {
    match segments {
        Segments::Each => Ok(((0..layers).map(|i| (i, i + 1)).collect(), false)),
        Segments::Count(k) if k == 0 || k > layers => Err(k),
        Segments::Count(k) => {
            let (size, longer) = (layers / k, layers % k);
            let start = |i: usize| i * size + i.min(longer);
            Ok(((0..k).map(|i| (start(i), start(i + 1))).collect(), true))
        }
    }
}

/// A loop over modules, cut into regions: `carried` goes from one to the next, `constants` go to all.
///
/// # Errors
/// The body's, or the device's; [`Cause::Segments`](crate::Cause::Segments) when it cannot be cut so.
#[allow(clippy::too_many_arguments)]
pub fn segmented_loop<E: Real, D: Device<E>, B, P, C, K>(
    site: &'static Site,
    segments: Segments,
    tape: &SharedTape<E, D>,
    blocks: &mut [B],
    mut extra: P,
    mut carried: C,
    constants: K,
    body: LoopBody<E, D, B, P, C, K>,
) -> Result<C, Err<D>>
where
    B: Clone + 'static + dfdx::nn::TensorCollection<E, D>,
    P: Parameters<E, D>,
    C: Boundary<E, D>,
    K: Boundary<E, D> + Clone,
{
    let context = Context::current();
    let (bounds, keep_last) = match cut(policy::segments(segments, &context), blocks.len()) {
        Ok(cut) => cut,
        Err(segments) => {
            let cause = crate::Cause::Segments { segments, layers: blocks.len() };
            let stored = carried.store(tape);
            let device = C::device(&stored).unwrap_or_default();
            return Err(failure::refuse(&device, &context.inside(site, None), Pass::First, cause));
        }
    };
    let last = bounds.len().saturating_sub(1);
    for (i, (from, to)) in bounds.into_iter().enumerate() {
        let least = (keep_last && i == last).then_some(Mode::Keep);
        let parameters = (LentSlice(&mut blocks[from..to]), Reborrowed(&mut extra));
        let inputs = (carried, constants.clone(), Plain(body));
        carried = region::run(
            context.clone().inside(site, Some((from, to))),
            site,
            least,
            tape,
            parameters,
            inputs,
            |tape, (blocks, extra), (carried, constants, Plain(body))| body(tape, blocks, extra, carried, constants),
        )?;
    }
    Ok(carried)
}

/// The body of a [`segmented_loop`].
pub type LoopBody<E, D, B, P, C, K> = for<'a> fn(
    &SharedTape<E, D>,
    &'a mut [B],
    <<P as Parameters<E, D>>::Owned as crate::parameters::Lend<E, D>>::Refs<'a>,
    C,
    K,
) -> Result<C, Err<D>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_differ_by_at_most_one() {
        let (bounds, keep_last) = cut(Segments::Count(5), 9).unwrap();
        assert_eq!(bounds, [(0, 2), (2, 4), (4, 6), (6, 8), (8, 9)]);
        assert!(keep_last);
        assert_eq!(cut(Segments::Each, 3), Ok((vec![(0, 1), (1, 2), (2, 3)], false)));
        assert_eq!(cut(Segments::Count(0), 3), Err(0));
        assert_eq!(cut(Segments::Count(4), 3), Err(4));
    }
}
