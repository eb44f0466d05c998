//! Work shared among threads, with scratch for each of them.

use std::{mem::MaybeUninit, sync::Mutex};

use rayon::prelude::*;

use crate::kernels::scalar::Scalar;

/// Bytes of the widest vectors, at which each thread's scratch begins.
const ALIGNMENT: usize = 64;

/// Does `work` for every item, on all threads, with scratch of `len` elements that holds anything.
///
/// The scratch is made once a thread, however many items there are, and freed at the end.
pub(super) fn share<E: Scalar, I: IndexedParallelIterator>(
    items: I,
    len: usize,
    work: impl Fn(&mut [MaybeUninit<E>], I::Item) + Sync + Send,
) {
    // An item does not wait for others, so that no more are under way than there are threads.
    let workers = rayon::current_num_threads().min(items.len());
    let stride = len.max(1).next_multiple_of(ALIGNMENT / size_of::<E>());
    let mut memory = Vec::with_capacity(workers * stride + ALIGNMENT / size_of::<E>());
    let memory: &mut [MaybeUninit<E>] = memory.spare_capacity_mut();
    let skipped = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT / size_of::<E>());
    let free = Mutex::new(memory[skipped..].chunks_exact_mut(stride).take(workers).collect::<Vec<_>>());
    items.for_each(|item| {
        let scratch = free.lock().expect("no panic while it is held").pop().expect("scratch for each thread");
        work(&mut scratch[..len], item);
        free.lock().expect("no panic while it is held").push(scratch);
    });
}
