//! Meters of memory: what is live, and how high it was.
//!
//! A binary installs the counting allocator with one line and asks:
//! ```no_run
//! use ckpt_runtime::memory::{self, CountingAllocator};
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator::system();
//!
//! memory::reset_peak();
//! let before = memory::live_bytes();
//! // ... one training step ...
//! println!("peak {} bytes above the step's start", memory::peak_bytes() - before);
//! ```
//! Bytes are those asked of the allocator, of the whole process. A device with memory of its own
//! is read through a [`MemoryMeter`] of its own.
#![allow(unsafe_code)] // A global allocator is an unsafe trait.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    fmt,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// A global allocator that counts what it hands out, on top of another.
///
/// Costs two relaxed atomic additions an allocation. Without it installed, [`live_bytes`] and
/// [`peak_bytes`] are zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator<A = System> {
    inner: A,
}

impl CountingAllocator {
    /// Counts on top of the system's allocator.
    #[must_use]
    pub const fn system() -> Self {
        Self { inner: System }
    }
}

impl<A> CountingAllocator<A> {
    /// Counts on top of `inner`.
    pub const fn new(inner: A) -> Self {
        Self { inner }
    }
}

fn took(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    // A load is cheaper than a read-modify-write, and the peak is passed rarely.
    if live > PEAK.load(Relaxed) {
        PEAK.fetch_max(live, Relaxed);
    }
}

fn gave_back(bytes: usize) {
    LIVE.fetch_sub(bytes, Relaxed);
}

// SAFETY: every call is handed on unchanged to `inner`, whose contract is the caller's; counting
// neither allocates nor panics.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds `alloc`'s contract.
        let block = unsafe { self.inner.alloc(layout) };
        if !block.is_null() {
            took(layout.size());
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds `alloc_zeroed`'s contract.
        let block = unsafe { self.inner.alloc_zeroed(layout) };
        if !block.is_null() {
            took(layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        gave_back(layout.size());
        // SAFETY: the caller upholds `dealloc`'s contract.
        unsafe { self.inner.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller upholds `realloc`'s contract.
        let moved = unsafe { self.inner.realloc(block, layout, size) };
        if !moved.is_null() {
            // Both may be live at once while the allocator copies; count it so.
            took(size);
            gave_back(layout.size());
        }
        moved
    }
}

/// Bytes that are allocated now.
#[must_use]
pub fn live_bytes() -> usize {
    LIVE.load(Relaxed)
}

/// The highest [`live_bytes`] since the last [`reset_peak`].
#[must_use]
pub fn peak_bytes() -> usize {
    PEAK.load(Relaxed)
}

/// Starts a new measurement: the peak becomes what is live now.
pub fn reset_peak() {
    PEAK.store(LIVE.load(Relaxed), Relaxed);
}

/// Reads the memory of a device, in bytes.
pub trait MemoryMeter {
    /// Bytes that are allocated now.
    fn live(&self) -> usize;
    /// The highest number of live bytes since the last [`reset_peak`](Self::reset_peak).
    fn peak(&self) -> usize;
    /// Starts a new measurement.
    fn reset_peak(&self);
}

/// The process's heap, where the [`CountingAllocator`] is installed: the memory of dfdx's `Cpu`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapMeter;

impl MemoryMeter for HeapMeter {
    fn live(&self) -> usize {
        live_bytes()
    }
    fn peak(&self) -> usize {
        peak_bytes()
    }
    fn reset_peak(&self) {
        reset_peak();
    }
}

/// A number of bytes, printed for people, in the width that a format asks for: `Bytes(1_500_000)` is
/// `1.5 MB`.
///
/// ```
/// use ckpt_runtime::memory::Bytes;
/// assert_eq!(format!("{:>8}|{}", Bytes(1_500_000), Bytes(12)), "  1.5 MB|12 B");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        let text = match self.0 {
            0..1_000 => format!("{} B", self.0),
            1_000..1_000_000 => format!("{:.1} kB", bytes / 1e3),
            1_000_000..1_000_000_000 => format!("{:.1} MB", bytes / 1e6),
            _ => format!("{:.2} GB", bytes / 1e9),
        };
        f.pad(&text)
    }
}
