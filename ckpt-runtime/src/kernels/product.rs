//! Products of matrices, on the crate `gemm`.
//!
//! An element of a product is summed in an order that depends on the shapes and on the machine's
//! caches, not on the number of threads.

use std::{marker::PhantomData, mem::MaybeUninit};

use gemm::Parallelism;

use super::{buffer::rewritten, scalar::Scalar, transpose::transpose_to};

/// A view of a matrix in a slice, with a stride between its rows and one between its columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix<'a, E> {
    data: &'a [E],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, E> Matrix<'a, E> {
    /// Rows that follow one another.
    pub(super) fn new(data: &'a [E], rows: usize, columns: usize) -> Self {
        Self::strided(data, rows, columns, columns)
    }

    /// Rows that start `stride` elements after one another.
    ///
    /// # Panics
    /// Where the slice is too short.
    pub(super) fn strided(data: &'a [E], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(extent(rows, columns, stride) <= data.len(), "a matrix beyond its slice");
        Self { data, rows, columns, row_stride: stride, column_stride: 1 }
    }

    /// `count` of its rows, from `first` on.
    ///
    /// # Panics
    /// On a transpose, or where it has not as many rows.
    pub(super) fn rows(self, first: usize, count: usize) -> Self {
        Self::strided(
            &self.data[(first * self.row_stride).min(self.data.len())..],
            count,
            self.columns,
            self.row_stride,
        )
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Its transpose as a copy, in the memory of `to`.
    ///
    /// # Panics
    /// On a transpose.
    pub(super) fn transpose_to(self, to: &mut Vec<E>)
    where
        E: Scalar,
    {
        assert_eq!(self.column_stride, 1, "the transpose of a transpose");
        // SAFETY: a transpose has an element for each one of the matrix.
        unsafe {
            rewritten(to, self.rows * self.columns, |to| transpose_to(self.data, self.row_stride, self.rows, to));
        }
    }

    /// Its transpose, in place.
    pub(super) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            data: self.data,
        }
    }
}

/// Elements from the first of a matrix to behind its last.
fn extent(rows: usize, columns: usize, stride: usize) -> usize {
    if rows == 0 || columns == 0 { 0 } else { (rows - 1) * stride + columns }
}

/// Where a product goes: rows that start `stride` elements after one another, and do not overlap.
#[derive(Debug)]
pub(super) struct Target<'a, E> {
    data: *mut E,
    initialised: bool,
    rows: usize,
    columns: usize,
    stride: usize,
    borrow: PhantomData<&'a mut [E]>,
}

impl<'a, E: Scalar> Target<'a, E> {
    /// Rows that follow one another.
    pub(super) fn new(data: &'a mut [E], rows: usize, columns: usize) -> Self {
        Self::strided(data, rows, columns, columns)
    }

    /// Rows that start `stride` elements after one another.
    ///
    /// # Panics
    /// Where the slice is too short, or the rows overlap.
    pub(super) fn strided(data: &'a mut [E], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(extent(rows, columns, stride) <= data.len() && columns <= stride, "a target beyond its slice");
        Self { data: data.as_mut_ptr(), initialised: true, rows, columns, stride, borrow: PhantomData }
    }

    /// Rows that follow one another and hold nothing yet.
    pub(super) fn fresh(data: &'a mut [MaybeUninit<E>], rows: usize, columns: usize) -> Self {
        assert!(rows * columns <= data.len(), "a target beyond its slice");
        let data = data.as_mut_ptr().cast();
        Self { data, initialised: false, rows, columns, stride: columns, borrow: PhantomData }
    }

    /// A target among others that are written at the same time.
    ///
    /// # Safety
    /// From `data` on, the matrix's elements are valid for reads and writes for `'a`, initialised
    /// where `initialised` says so, and accessed through nothing else in that time.
    pub(super) unsafe fn shared(data: *mut E, initialised: bool, rows: usize, columns: usize, stride: usize) -> Self {
        assert!(columns <= stride || rows <= 1, "rows that overlap");
        Self { data, initialised, rows, columns, stride, borrow: PhantomData }
    }

    /// `self = a b`. Every element is written.
    pub(super) fn set(self, a: Matrix<'_, E>, b: Matrix<'_, E>, threads: Threads) {
        self.multiply(false, a, b, threads);
    }

    /// `self += a b`.
    ///
    /// # Panics
    /// On a [fresh](Self::fresh) target.
    pub(super) fn add(self, a: Matrix<'_, E>, b: Matrix<'_, E>, threads: Threads) {
        assert!(self.initialised, "nothing to add to");
        self.multiply(true, a, b, threads);
    }

    fn multiply(self, add: bool, a: Matrix<'_, E>, b: Matrix<'_, E>, threads: Threads) {
        assert_eq!((self.rows, a.columns, b.columns), (a.rows, b.rows, self.columns), "a product of unfit matrices");
        // SAFETY: the constructors have checked that every element of the three matrices lies in
        // its slice (`shared` has it from its caller); the target is borrowed mutably, so that it
        // overlaps neither factor, and its rows do not overlap. It is read only where it was
        // initialised. `gemm` writes all of it for any inner dimension, 0 included, and takes
        // f32 and f64, which are all that `Scalar` is implemented for.
        unsafe {
            gemm::gemm(
                self.rows,
                self.columns,
                a.columns,
                self.data,
                1,
                self.stride as isize,
                add,
                a.data.as_ptr(),
                a.column_stride as isize,
                a.row_stride as isize,
                b.data.as_ptr(),
                b.column_stride as isize,
                b.row_stride as isize,
                E::one(),
                E::one(),
                false,
                false,
                false,
                match threads {
                    Threads::One => Parallelism::None,
                    Threads::All => Parallelism::Rayon(0),
                },
            );
        }
    }
}

/// Who computes a product.
#[derive(Clone, Copy, Debug)]
pub(super) enum Threads {
    /// The calling thread: it is one of several that do alike.
    One,
    /// All of the current pool.
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * 7919) % 101) as f64 / 50.0 - 1.0).collect()
    }

    fn naive(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> Vec<f64> {
        let mut c = vec![0.0; m * n];
        for i in 0..m {
            for j in 0..n {
                c[i * n + j] = (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
            }
        }
        c
    }

    fn near(a: &[f64], b: &[f64]) {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn products_and_sums_of_products() {
        let (m, k, n) = (5, 7, 3);
        let (a, b) = (numbers(m * k), numbers(k * n));
        let expected = naive(&a, &b, m, k, n);
        let mut c = vec![f64::NAN; m * n];
        Target::new(&mut c, m, n).set(Matrix::new(&a, m, k), Matrix::new(&b, k, n), Threads::One);
        near(&c, &expected);
        Target::new(&mut c, m, n).add(Matrix::new(&a, m, k), Matrix::new(&b, k, n), Threads::All);
        near(&c, &expected.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
    }

    #[test]
    fn transposed_and_strided_views() {
        let (m, k, n) = (4, 6, 5);
        let (a, b) = (numbers(m * k), numbers(k * n));
        let bt: Vec<f64> = (0..n * k).map(|i| b[(i % k) * n + i / k]).collect();
        let mut c = vec![7.0; m * (n + 2)];
        Target::strided(&mut c, m, n, n + 2).set(
            Matrix::new(&a, m, k),
            Matrix::new(&bt, n, k).transposed(),
            Threads::One,
        );
        let expected = naive(&a, &b, m, k, n);
        for (row, expected) in c.chunks(n + 2).zip(expected.chunks(n)) {
            near(&row[..n], expected);
            assert_eq!(row[n..], [7.0, 7.0]);
        }
    }

    #[test]
    fn an_empty_inner_dimension_gives_zeros() {
        let mut c = vec![1.0; 4];
        Target::new(&mut c, 2, 2).set(Matrix::<f64>::new(&[], 2, 0), Matrix::new(&[], 0, 2), Threads::One);
        assert_eq!(c, [0.0; 4]);
    }

    #[test]
    #[should_panic(expected = "beyond its slice")]
    fn a_view_beyond_its_slice_is_refused() {
        let _ = Matrix::new(&[0.0f32; 5], 2, 3);
    }
}
