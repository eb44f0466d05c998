//! The transpose of a matrix, as a copy.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::{buffer::written, scalar::Scalar};

/// Rows of the result that one piece of work makes, and the square block that stays in registers.
const BLOCK: usize = 16;

/// The transpose of `from`, which has rows of `columns` elements.
pub(super) fn transposed<E: Scalar>(from: &[E], columns: usize) -> Vec<E> {
    if from.is_empty() {
        return Vec::new();
    }
    let rows = from.len() / columns;
    assert_eq!(rows * columns, from.len());
    // SAFETY: the strips tile the result, and `strip` writes every row of its strip in full.
    unsafe {
        written(from.len(), |to| {
            to.par_chunks_mut(BLOCK * rows).enumerate().for_each(|(i, to)| strip(from, columns, i * BLOCK, rows, to));
        })
    }
}

/// Writes the transpose of `rows` rows, which start `stride` elements after one another in `from`, to
/// `to`, on this thread: as many of their columns as `to` holds.
pub(super) fn transpose_to<E: Scalar>(from: &[E], stride: usize, rows: usize, to: &mut [MaybeUninit<E>]) {
    assert_eq!(to.len() % rows, 0);
    to.chunks_mut(BLOCK * rows).enumerate().for_each(|(i, to)| strip(from, stride, i * BLOCK, rows, to));
}

vectorised! {
    /// The columns of `rows` rows from `first` on, as rows of `to`; as many as `to` holds.
    fn strip<E>(from: &[E], stride: usize, first: usize, rows: usize, to: &mut [MaybeUninit<E>]) {
        let count = to.len() / rows;
        let mut row = 0;
        if count == BLOCK {
            while row + BLOCK <= rows {
                let mut square = [[E::zero(); BLOCK]; BLOCK];
                for (i, line) in square.iter_mut().enumerate() {
                    line.copy_from_slice(&from[(row + i) * stride + first..][..BLOCK]);
                }
                for j in 0..BLOCK {
                    let to = &mut to[j * rows + row..][..BLOCK];
                    for i in 0..BLOCK {
                        to[i].write(square[i][j]);
                    }
                }
                row += BLOCK;
            }
        }
        for (j, to) in to.chunks_exact_mut(rows).enumerate() {
            for row in row..rows {
                to[row].write(from[row * stride + first + j]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_shape_is_transposed() {
        for (rows, columns) in [(1, 1), (3, 5), (16, 16), (17, 33), (48, 20), (1, 40), (40, 1)] {
            let from: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
            let to = transposed(&from, columns);
            assert!((0..to.len()).all(|i| to[i] == from[(i % rows) * columns + i / rows]), "{rows} x {columns}");
            // All but the last column, which another thing's rows may end with.
            // SAFETY: all of it is written.
            let part = unsafe { written(rows * (columns - 1), |to| transpose_to(&from, columns, rows, to)) };
            assert_eq!(part, to[..part.len()], "{rows} x {columns}");
        }
    }
}
