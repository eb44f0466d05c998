//! How work is cut, which does not depend on the number of threads.

use super::scalar::Scalar;

/// Parts that a sum over rows is cut into. Sixteen keep as many threads busy, and cost a sum of
/// sixteen vectors at the end.
pub(super) const PARTS: usize = 16;

/// Rows of each part but the last. At least one.
pub(super) fn rows_of_part(rows: usize) -> usize {
    rows.div_ceil(PARTS).max(1)
}

/// Elements of each piece of element-wise work: whole cache lines, and enough of them to be worth
/// handing to another thread.
pub(super) fn piece(len: usize) -> usize {
    len.div_ceil(PARTS).next_multiple_of(64).max(1 << 12)
}

/// Adds the partial sums of the parts to `to`, in the parts' order.
pub(super) fn add_in_order<E: Scalar>(to: &mut [E], partial_sums: &[E]) {
    if to.is_empty() {
        assert!(partial_sums.is_empty(), "a gradient that is away");
        return;
    }
    for part in partial_sums.chunks_exact(to.len()) {
        for (to, part) in to.iter_mut().zip(part) {
            *to += *part;
        }
    }
}
