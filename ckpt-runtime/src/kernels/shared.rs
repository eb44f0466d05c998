//! Buffers that several threads write.

use std::mem::MaybeUninit;

/// Where several threads write, each to elements of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<E>(*mut E);

// SAFETY: a pointer does nothing; who writes through it says why nobody else does.
unsafe impl<E: Send> Send for Shared<E> {}
// SAFETY: as above.
unsafe impl<E: Send> Sync for Shared<E> {}

impl<E> Shared<E> {
    pub(super) fn new(to: &mut [E]) -> Self {
        Self(to.as_mut_ptr())
    }

    /// A buffer that holds nothing yet.
    pub(super) fn fresh(to: &mut [MaybeUninit<E>]) -> Self {
        Self(to.as_mut_ptr().cast())
    }

    /// The element `i` on.
    ///
    /// # Safety
    /// `i` must be within the slice that this was made of.
    pub(super) unsafe fn at(self, i: usize) -> *mut E {
        // SAFETY: as the caller says.
        unsafe { self.0.add(i) }
    }
}
