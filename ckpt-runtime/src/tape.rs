//! The shared tape: one tape that every tensor of a forward holds.
//!
//! dfdx's `OwnedTape` lives in one tensor at a time, so whoever writes a data flow by hand must
//! decide which use of a value "carries the tape"; the others lose their operations, or the
//! gradient, silently. Inside a checkpointed forward every tensor holds a handle of the same tape
//! instead: using a value twice, or not at all, can lose nothing.
//!
//! A tape belongs to the forward or region that [opened](SharedTape::open) it. Operations recorded
//! on a tape that is closed, or joining tapes of two different regions, mean that a tensor slipped
//! past a region's edge; that is reported as [`Cause::ForeignTape`](crate::Cause::ForeignTape) by
//! the region that ends next, since a tape's own methods cannot fail.

use std::{
    cell::RefCell,
    fmt, mem,
    rc::Rc,
    sync::atomic::{AtomicU64, Ordering},
};

use dfdx::tensor::{Gradients, HasErr, Merge, NoneTape, OwnedTape, Storage, Tape};

use crate::failure;

/// Which forward or region a tape belongs to; `None` for one that dfdx made by default.
type Scope = Option<u64>;

enum State<E, D: Storage<E>> {
    Open {
        /// What was recorded; `None` where nothing was, as moving a tape in is cheaper than merging.
        tape: Option<OwnedTape<E, D>>,
        scope: Scope,
    },
    /// Merged into another tape.
    Moved(Handle<E, D>),
    /// Its region has ended.
    Closed,
}

type Handle<E, D> = Rc<RefCell<State<E, D>>>;

/// A clonable tape: every clone records into the same list of operations.
///
/// The macros put it on the tensors of a checkpointed forward. Like dfdx's `OwnedTape` it works on
/// one thread.
pub struct SharedTape<E, D: Storage<E>>(Option<Handle<E, D>>);

impl<E, D: Storage<E>> SharedTape<E, D> {
    /// A new tape that belongs to the forward or region that opens it.
    pub fn open() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self::with_scope(Some(NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// A new tape that becomes part of the first one it is joined with.
    #[doc(hidden)]
    pub fn floating() -> Self {
        Self::with_scope(None)
    }

    fn with_scope(scope: Scope) -> Self {
        Self(Some(Rc::new(RefCell::new(State::Open { tape: None, scope }))))
    }

    /// The handle at the end of the chain of merges; made now for a tape that was never used.
    fn root(&mut self) -> Handle<E, D> {
        let root = match self.0.take() {
            None => Self::with_scope(None).0.expect("just made"),
            Some(mut handle) => loop {
                let next = match &*handle.borrow() {
                    State::Moved(next) => next.clone(),
                    _ => break handle.clone(),
                };
                handle = next;
            },
        };
        self.0 = Some(root.clone());
        root
    }

    /// A handle of this tape; of a new one, where it is a tape that was never used.
    pub(crate) fn rooted(&self) -> Self {
        let mut tape = self.clone();
        tape.root();
        tape
    }

    /// Adds the operations and gradients of `owned`.
    pub(crate) fn absorb(&self, owned: OwnedTape<E, D>) {
        match &mut *self.clone().root().borrow_mut() {
            State::Open { tape, .. } => merge_into(tape, Some(owned)),
            _ => failure::foreign_tape(),
        }
    }

    /// Takes out all that was recorded so far; the tape stays open.
    pub(crate) fn drain(&self) -> OwnedTape<E, D> {
        match &mut *self.clone().root().borrow_mut() {
            State::Open { tape, .. } => tape.take().unwrap_or_default(),
            _ => OwnedTape::default(),
        }
    }

    /// Ends the tape: what is recorded from now on, by a tensor that outlived its region, is an error.
    pub(crate) fn close(&self) -> OwnedTape<E, D> {
        match mem::replace(&mut *self.clone().root().borrow_mut(), State::Closed) {
            State::Open { tape, .. } => tape.unwrap_or_default(),
            _ => OwnedTape::default(),
        }
    }

    /// Joins `other` into this tape.
    pub(crate) fn join(&self, other: Self) {
        let _ = self.clone().merge(other);
    }
}

fn merge_into<E, D: Storage<E>>(tape: &mut Option<OwnedTape<E, D>>, other: Option<OwnedTape<E, D>>) {
    *tape = match (tape.take(), other) {
        (Some(a), Some(b)) => Some(a.merge(b)),
        (a, b) => a.or(b),
    };
}

impl<E, D: Storage<E>> Clone for SharedTape<E, D> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A tape that belongs to no region yet: what dfdx makes for a parameter that enters an operation.
impl<E, D: Storage<E>> Default for SharedTape<E, D> {
    fn default() -> Self {
        Self(None)
    }
}

impl<E, D: Storage<E>> fmt::Debug for SharedTape<E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedTape").finish_non_exhaustive()
    }
}

impl<E, D: Storage<E>> Merge<NoneTape> for SharedTape<E, D> {
    fn merge(self, _: NoneTape) -> Self {
        self
    }
}

impl<E, D: Storage<E>> Merge<SharedTape<E, D>> for SharedTape<E, D> {
    fn merge(mut self, mut other: Self) -> Self {
        if other.0.is_none() {
            return self;
        }
        if self.0.is_none() {
            return other;
        }
        let (ours, theirs) = (self.root(), other.root());
        if Rc::ptr_eq(&ours, &theirs) {
            return self;
        }
        let merged = match (&mut *ours.borrow_mut(), &mut *theirs.borrow_mut()) {
            (State::Open { tape: a, scope: to }, State::Open { tape: b, scope: from })
                if to.is_none() || from.is_none() || to == from =>
            {
                merge_into(a, b.take());
                *to = to.or(*from);
                true
            }
            _ => false,
        };
        if merged {
            *theirs.borrow_mut() = State::Moved(ours);
        } else {
            failure::foreign_tape();
        }
        self
    }
}

impl<E, D: Storage<E>> Tape<E, D> for SharedTape<E, D> {
    const OWNS_TAPE: bool = true;

    fn add_backward_op<F>(&mut self, operation: F)
    where
        F: 'static + FnOnce(&mut Gradients<E, D>) -> Result<(), <D as HasErr>::Err>,
    {
        match &mut *self.root().borrow_mut() {
            State::Open { tape, .. } => tape.get_or_insert_default().add_backward_op(operation),
            _ => failure::foreign_tape(),
        }
    }
}

/// A tape that an input may arrive with: `OwnedTape`, `SharedTape`, or none.
pub trait InputTape<E, D: Storage<E>>: 'static {
    /// Whether gradients are tracked.
    const TAPED: bool;
    /// Moves what was recorded into `tape`.
    fn join_into(self, tape: &SharedTape<E, D>);
    /// The tape of this kind that continues `tape`.
    fn continue_from(tape: &SharedTape<E, D>) -> Self;
}

impl<E: 'static, D: Storage<E>> InputTape<E, D> for NoneTape {
    const TAPED: bool = false;
    fn join_into(self, _: &SharedTape<E, D>) {}
    fn continue_from(_: &SharedTape<E, D>) -> Self {
        NoneTape
    }
}

impl<E: 'static, D: Storage<E>> InputTape<E, D> for OwnedTape<E, D> {
    const TAPED: bool = true;
    fn join_into(self, tape: &SharedTape<E, D>) {
        tape.absorb(self);
    }
    fn continue_from(tape: &SharedTape<E, D>) -> Self {
        tape.drain()
    }
}

impl<E: 'static, D: Storage<E>> InputTape<E, D> for SharedTape<E, D> {
    const TAPED: bool = true;
    fn join_into(self, tape: &SharedTape<E, D>) {
        tape.join(self);
    }
    fn continue_from(tape: &SharedTape<E, D>) -> Self {
        tape.clone()
    }
}
