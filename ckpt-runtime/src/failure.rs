//! Which region failed, and why.
//!
//! A region's error type is the device's own (`D::Err`), as dfdx's containers insist; it has no
//! room for a name. So the name is kept beside it: when a region fails, in the first pass or inside
//! `try_backward`, its path and the cause are stored for the thread, and [`last_failure`] tells.

use std::{
    cell::{Cell, RefCell},
    fmt,
};

use dfdx::{
    shapes::Const,
    tensor::{HasErr, TensorFromVec},
};

use crate::context::Context;

/// What went wrong in a region.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// The region's name under the names of the regions around it: `Gpt.blocks[2..4] > Block.attn`.
    pub region: String,
    /// When.
    pub pass: Pass,
    /// Why.
    pub cause: Cause,
}

/// The pass in which a region failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pass {
    /// The forward.
    First,
    /// The region's inside, computed again in the backward pass.
    Recompute,
    /// The gradient operations of the region's inside.
    Backward,
}

/// Why a region failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// The device, or a module inside, returned this error.
    Device(String),
    /// `verify` found that the recompute gives another output than the first pass.
    Differs(Difference),
    /// The recompute drew another number of random seeds than the first pass.
    Draws {
        /// Seeds drawn in the first pass.
        first: usize,
        /// Seeds asked for in the recompute.
        again: usize,
    },
    /// The recompute gave other float tensors than the first pass, in number or in size: their
    /// gradients would have been mixed up.
    Outputs {
        /// The number of elements of each, in the first pass.
        first: Vec<usize>,
        /// The number of elements of each, in the recompute.
        again: Vec<usize>,
    },
    /// A tensor of another region's tape was used: it reached the region by a way that the macros
    /// cannot see, such as inside a plain value. Its gradient would have been lost.
    ForeignTape,
    /// A checkpointed function was called on untaped inputs in a forward that trains: inference, by
    /// dfdx's rule, so that its modules would have got no gradient.
    Untracked,
    /// A run of layers was to be cut into no segments, or more than it has layers.
    Segments {
        /// The number of segments asked for.
        segments: usize,
        /// The number of layers there are.
        layers: usize,
    },
}

/// The first element in which the recompute and the first pass differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The element's index in the output tensor's row-major order.
    pub element: usize,
    /// Its value in the first pass.
    pub first: f64,
    /// Its value in the recompute.
    pub again: f64,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pass = match self.pass {
            Pass::First => "the first pass",
            Pass::Recompute => "the recompute",
            Pass::Backward => "the backward pass",
        };
        write!(f, "region `{}` failed in {pass}: {}", self.region, self.cause)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(e) => f.write_str(e),
            Self::Differs(d) => write!(
                f,
                "its output differs from the first pass at element {}: {} then, {} now",
                d.element, d.first, d.again
            ),
            Self::Draws { first, again } => write!(
                f,
                "it drew {again} random seeds where the first pass drew {first}: its control flow does not repeat"
            ),
            Self::Outputs { first, again } => write!(
                f,
                "it gave tensors of {again:?} elements where the first pass gave {first:?}: its control flow does \
                 not repeat"
            ),
            Self::ForeignTape => f.write_str(
                "it used a tensor of another region's tape; let every tensor enter as an input \
                 (`#[derive(Boundary)]` for a struct that holds tensors)",
            ),
            Self::Untracked => f.write_str(
                "none of its inputs tracks gradients, though the forward around it trains, so its modules would get \
                 none; call the module itself (`self.tok.forward(tokens)`), which is tracked",
            ),
            Self::Segments { segments, layers } => {
                write!(f, "it has {layers} layers and cannot be cut into {segments} segments")
            }
        }
    }
}

impl std::error::Error for Failure {}

thread_local! {
    static LAST: RefCell<Option<Failure>> = const { RefCell::new(None) };
    /// How many failures this thread has noted: tells an outer region that an inner one spoke.
    static NOTED: Cell<u64> = const { Cell::new(0) };
    /// A failure seen where no error can be returned; the region that ends next returns it.
    static PENDING: RefCell<Option<Cause>> = const { RefCell::new(None) };
}

/// The most recent failure of a region on this thread, if one ever failed.
///
/// Ask it after a `try_forward`, `try_forward_mut` or `try_backward` returned an error: the error
/// is the device's, this names the innermost region that failed and why. When the error is not a
/// device's at all (`verify` found a difference, a tape was foreign) the error returned is the
/// device's for a wrong number of elements, and the cause is here.
#[must_use]
pub fn last_failure() -> Option<Failure> {
    LAST.with_borrow(Clone::clone)
}

/// How many failures were noted so far.
pub(crate) fn noted() -> u64 {
    NOTED.get()
}

/// Notes that the region of `context` failed, unless a region inside it has since `before`.
pub(crate) fn note(context: &Context, pass: Pass, cause: Cause, before: u64) {
    if NOTED.get() == before {
        NOTED.set(before + 1);
        LAST.set(Some(Failure { region: context.to_string(), pass, cause }));
    }
}

/// Notes a failure that no device reported, and makes the device's error to return for it.
pub(crate) fn refuse<D: TensorFromVec<usize>>(
    device: &D,
    context: &Context,
    pass: Pass,
    cause: Cause,
) -> <D as HasErr>::Err {
    note(context, pass, cause, NOTED.get());
    // Devices' error types cannot be made from outside; every device refuses a vector of the wrong length.
    let Err(error) = device.try_tensor_from_vec(Vec::<usize>::new(), (Const::<1>,)) else {
        unreachable!("a device made a tensor of one element out of none");
    };
    error
}

/// Remembers that a tape was foreign, for the region that ends next.
pub(crate) fn foreign_tape() {
    pend(Cause::ForeignTape);
}

/// Remembers a failure seen where no error can be returned.
pub(crate) fn pend(cause: Cause) {
    PENDING.with_borrow_mut(|p| {
        p.get_or_insert(cause);
    });
}

/// Takes the failure that waits to be returned.
pub(crate) fn take_pending() -> Option<Cause> {
    PENDING.take()
}

/// Unwraps a forward's result; the panic names the region that failed.
#[track_caller]
pub fn expect<T, Er: fmt::Debug>(result: Result<T, Er>) -> T {
    result.unwrap_or_else(|error| match last_failure() {
        Some(failure) => panic!("{error:?}: {failure}"),
        None => panic!("{error:?}"),
    })
}
