//! The other instrument: `peakmalloc.c`, when it is preloaded into the process.
//!
//! It counts the heap of any process, PyTorch's too, at the C allocator's usable sizes; the numbers
//! beside each other show whether our own counting allocator agrees with it.
#![allow(unsafe_code)]

use std::ffi::CStr;

/// The functions of a preloaded `libpeakmalloc.so`.
#[derive(Clone, Copy, Debug)]
pub struct PeakMalloc {
    live: extern "C" fn() -> usize,
    peak: extern "C" fn() -> usize,
    reset: extern "C" fn(),
}

impl PeakMalloc {
    /// `None` when the library is not preloaded.
    pub fn find() -> Option<Self> {
        let symbol = |name: &CStr| {
            // SAFETY: `name` is a terminated string, and asking for a symbol that is not there
            // gives null.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        };
        let live = symbol(c"peakmalloc_live")?;
        let peak = symbol(c"peakmalloc_peak")?;
        let reset = symbol(c"peakmalloc_reset")?;
        // SAFETY: peakmalloc.c declares `size_t (void)`, `size_t (void)` and `void (void)`; the
        // library stays loaded as long as the process.
        unsafe {
            Some(Self {
                live: std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> usize>(live),
                peak: std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> usize>(peak),
                reset: std::mem::transmute::<*mut libc::c_void, extern "C" fn()>(reset),
            })
        }
    }
}

impl ckpt_runtime::memory::MemoryMeter for PeakMalloc {
    fn live(&self) -> usize {
        (self.live)()
    }

    fn peak(&self) -> usize {
        (self.peak)()
    }

    fn reset_peak(&self) {
        (self.reset)();
    }
}
