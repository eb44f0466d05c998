//! Settings of the process, which a training binary makes as it starts.
//!
//! ```
//! use ckpt_runtime::process;
//!
//! process::keep_freed_memory();
//! process::start_workers(None).expect("nobody has started rayon's workers yet");
//! ```
//! Neither changes a result. Of the step of a small U-Net (0.07 s on two cores, medians of five runs in
//! turn) the first saved 15 %, both 27 %; of a GPT's (0.9 s) the first 2 %, and the second nothing.
#![allow(unsafe_code)] // `mallopt` is a C function.

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

/// Tells the C library to keep the memory that is freed, instead of giving it back to the system.
///
/// A training step frees and allocates the same large buffers over and over; where each goes back,
/// the system hands out every page anew, zeroed. The process then holds as much as its highest peak
/// until it ends. What is allocated, and so what [`memory`](crate::memory) and other instruments
/// count, stays the same.
///
/// Does something on Linux with glibc, where its defaults give memory back; says whether it did.
/// Elsewhere, or with a global allocator of its own, a program asks that allocator.
pub fn keep_freed_memory() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// No block is large enough for a mapping of its own.
        const NO_MAPPINGS: (i32, i32) = (libc::M_MMAP_MAX, 0);
        /// No amount of free memory at the end of the heap is large enough to be given back.
        const NO_TRIMMING: (i32, i32) = (libc::M_TRIM_THRESHOLD, -1);
        [NO_MAPPINGS, NO_TRIMMING].into_iter().all(|(parameter, value)| {
            // SAFETY: it takes two numbers, and locks what it sets.
            unsafe { libc::mallopt(parameter, value) == 1 }
        })
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

/// Starts rayon's workers, on which the kernels of this crate run, with the calling thread as one
/// of them: `threads` in all, or one a core.
///
/// Without it the first kernel starts them beside the calling thread, which then waits for them to
/// wake up at every operation: 50 µs each, which small models notice.
///
/// # Errors
/// Where rayon's workers have been started before.
pub fn start_workers(threads: Option<usize>) -> Result<(), ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).use_current_thread().build_global()
}
