//! What `#[checkpoint] fn` and `checkpoint!` need: how a call on a kind of tape borrows modules.

use std::cell::Cell;

use dfdx::{
    tensor::{HasErr, NoneTape, OwnedTape, Storage, TensorFromVec},
    tensor_ops::Device,
};

use crate::{
    Boundary, Cause, Pass, Real, SharedTape,
    context::{Context, Site},
    failure,
};

/// A tape that a checkpointed function can be called on.
pub trait CallerTape {
    /// How a call borrows a module that training changes: in inference it is only read.
    type RefMut<'a, M: ?Sized + 'a>;
}

impl CallerTape for NoneTape {
    type RefMut<'a, M: ?Sized + 'a> = &'a M;
}
impl<E, D: Storage<E>> CallerTape for OwnedTape<E, D> {
    type RefMut<'a, M: ?Sized + 'a> = &'a mut M;
}
impl<E, D: Storage<E>> CallerTape for SharedTape<E, D> {
    type RefMut<'a, M: ?Sized + 'a> = &'a mut M;
}

/// A tape of a function's first tensor beside which a further tensor may come on the tape `T`.
#[diagnostic::on_unimplemented(
    message = "the first float tensor of this call has no tape, but a further one has",
    label = "the first float tensor says whether gradients are tracked",
    note = "trace the first tensor too (`x.leaky_trace()`, `x.traced(grads)`), or none of them"
)]
pub trait Admits<T> {}

impl Admits<NoneTape> for NoneTape {}
impl<E, D: Storage<E>, T> Admits<T> for OwnedTape<E, D> {}
impl<E, D: Storage<E>, T> Admits<T> for SharedTape<E, D> {}

/// Puts a parameter onto the shared tape as it is: an index tensor that carries a tape still does.
pub fn hand_over<E: Real, D: Device<E>, X, Y>(x: X, tape: &SharedTape<E, D>) -> Y
where
    X: Boundary<E, D>,
    Y: Boundary<E, D, Stored = X::Stored>,
{
    Y::load(x.store(tape), tape)
}

thread_local! {
    /// Whether the code that runs is the body of a forward in training, not of a module it calls.
    static TRAINING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a forward in training is running, until dropped.
#[derive(Debug)]
pub struct Training {
    around: bool,
}

impl Training {
    /// The body of a forward in training begins.
    #[must_use]
    pub fn begins() -> Self {
        Self { around: TRAINING.replace(true) }
    }

    /// A module is called, which decides for itself what it tracks.
    pub(crate) fn pauses() -> Self {
        Self { around: TRAINING.replace(false) }
    }
}

impl Drop for Training {
    fn drop(&mut self) {
        TRAINING.set(self.around);
    }
}

/// Refuses a checkpointed function that is called on untaped inputs in a forward in training: its
/// modules would get no gradient, and nothing would say so.
///
/// # Errors
/// [`Cause::Untracked`] while a forward in training runs.
pub fn refuse_untracked<D: Storage<usize> + TensorFromVec<usize>>(
    site: &'static Site,
) -> Result<(), <D as HasErr>::Err> {
    if !TRAINING.get() {
        return Ok(());
    }
    Err(failure::refuse(&D::default(), &Context::current().inside(site, None), Pass::First, Cause::Untracked))
}

/// Calls one module as a region, in code that no other macro has written.
///
/// ```
/// use ckpt_runtime::prelude::*;
///
/// let dev = Cpu::seed_from_u64(0);
/// let (linear, mut norm) = (dev.build_module::<Linear<4, 4>, f32>(), dev.build_module::<BatchNorm1D<4>, f32>());
/// let x = dev.sample_normal::<Rank2<8, 4>>();
/// let h = ckpt_runtime::checkpoint!(linear, x.leaky_trace())?;
/// let y = ckpt_runtime::checkpoint!(name = "norm", verify, &mut norm, h)?;
/// let grads = y.square().mean().backward();
/// assert_eq!(grads.get(&linear.weight).shape().num_elements(), 16);
/// # Ok::<(), <Cpu as HasErr>::Err>(())
/// ```
///
/// The call is a `Result` with the module's error. The input's tape decides: without one it is
/// inference, and the module is called as it is. Several inputs are the tuple of them.
///
/// Options, before the module: `keep`, `plain`, `verify`, `verify(tolerance = ..)`, `name = ".."`
/// (the region's name; else the module's last field or variable), `crate = ::path`.
///
/// It shares its name with the attribute `#[checkpoint]`, which is in the
/// [`prelude`](crate::prelude). One scope can import one of the two by name; call this one by its
/// path, import it in the function that uses it, or put `#[macro_use] extern crate ckpt_runtime;`
/// at the crate's root. In the forward of a `#[checkpointed]` impl it needs no import.
#[macro_export]
macro_rules! checkpoint {
    ($($call:tt)*) => { $crate::__private::checkpoint_call!(@[$crate] $($call)*) };
}
