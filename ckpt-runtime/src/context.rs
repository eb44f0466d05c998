//! What surrounds a region on its thread: the regions around it and the policy in force.
//!
//! A region captures the context in its first pass and reinstates it for the recompute, so that
//! what runs inside sees the same policy and reports the same path, whenever backward is called
//! and whatever surrounds that call.

use std::{cell::RefCell, fmt, mem, rc::Rc};

use crate::{failure, policy::Policy};

/// Where in the program a region was declared, and what its declaration asks for.
#[derive(Debug)]
pub struct Site {
    pub(crate) name: &'static str,
    pub(crate) mode: crate::Mode,
    pub(crate) verify: Option<f64>,
}

impl Site {
    /// A region that recomputes, called `name`.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, mode: crate::Mode::Checkpoint, verify: None }
    }

    /// Never recomputed: its inside is stored, in a scope of its own.
    #[must_use]
    pub const fn keep(self) -> Self {
        Self { mode: crate::Mode::Keep, ..self }
    }

    /// Not a region: its inside is recorded on the tape around it.
    #[must_use]
    pub const fn plain(self) -> Self {
        Self { mode: crate::Mode::Plain, ..self }
    }

    /// Compares the recompute's output with the first pass: to the bit for `0.0`, else within this
    /// relative tolerance.
    #[must_use]
    pub const fn verify(self, tolerance: f64) -> Self {
        Self { verify: Some(tolerance), ..self }
    }
}

/// One region of a path, under its parent.
struct Frame {
    site: &'static Site,
    /// Which of a chain's layers, for a segment.
    layers: Option<(usize, usize)>,
    parent: Option<Rc<Frame>>,
}

/// The path and the policy. Cloning costs two reference counts.
#[derive(Clone, Default)]
pub(crate) struct Context {
    path: Option<Rc<Frame>>,
    pub(crate) policy: Option<Rc<Policy>>,
}

thread_local! {
    static CURRENT: RefCell<Context> = const { RefCell::new(Context { path: None, policy: None }) };
}

impl Context {
    /// The context of this thread, now.
    pub(crate) fn current() -> Self {
        CURRENT.with_borrow(Clone::clone)
    }

    /// The same policy, one region deeper.
    pub(crate) fn inside(self, site: &'static Site, layers: Option<(usize, usize)>) -> Self {
        let parent = self.path;
        Self { path: Some(Rc::new(Frame { site, layers, parent })), policy: self.policy }
    }

    /// The same path, under another policy.
    pub(crate) fn under(self, policy: Policy) -> Self {
        Self { policy: Some(Rc::new(policy)), ..self }
    }

    /// Which of a run's layers this is inside of, for a segment.
    pub(crate) fn layers(&self) -> Option<(usize, usize)> {
        self.path.as_ref().and_then(|frame| frame.layers)
    }

    /// Makes this the thread's context until the guard is dropped, by a panic too.
    pub(crate) fn enter(&self) -> Entered {
        Entered { outside: CURRENT.replace(self.clone()) }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn write(frame: &Frame, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            if let Some(parent) = &frame.parent {
                write(parent, f)?;
                f.write_str(" > ")?;
            }
            f.write_str(frame.site.name)?;
            match frame.layers {
                Some((from, to)) if to == from + 1 => write!(f, "[{from}]"),
                Some((from, to)) => write!(f, "[{from}..{to}]"),
                None => Ok(()),
            }
        }
        self.path.as_deref().map_or(Ok(()), |frame| write(frame, f))
    }
}

/// Restores the context around it when dropped.
pub(crate) struct Entered {
    outside: Context,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The region that saw it does not end; it must not be blamed on the next one.
            failure::take_pending();
        }
        CURRENT.set(mem::take(&mut self.outside));
    }
}
