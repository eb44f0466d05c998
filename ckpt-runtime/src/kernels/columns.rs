//! Sums over the rows of a matrix.

use rayon::prelude::*;

use super::parts::{PARTS, add_in_order, rows_of_part};
use super::scalar::Scalar;

/// Adds the sum of all rows of `from` to `to`, which is as long as a row.
pub(super) fn add_column_sums<E: Scalar>(to: &mut [E], from: &[E]) {
    let width = to.len();
    if width == 0 || from.is_empty() {
        return;
    }
    let part = rows_of_part(from.len() / width) * width;
    let mut sums = vec![E::zero(); PARTS * width];
    sums.par_chunks_exact_mut(width).zip(from.par_chunks(part)).for_each(|(sum, rows)| add_rows(sum, rows));
    add_in_order(to, &sums);
}

vectorised! {
    fn add_rows<E>(sum: &mut [E], rows: &[E]) {
        for row in rows.chunks_exact(sum.len()) {
            for (sum, v) in sum.iter_mut().zip(row) {
                *sum += *v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_summed_onto_what_was_there() {
        let rows: Vec<f64> = (0..100 * 3).map(f64::from).collect();
        let mut to = vec![1.0; 3];
        add_column_sums(&mut to, &rows);
        let exact = |c: usize| 1.0 + (0..100).map(|r| (r * 3 + c) as f64).sum::<f64>();
        assert_eq!(to, [exact(0), exact(1), exact(2)]);
        add_column_sums::<f64>(&mut [], &[]);
    }
}
