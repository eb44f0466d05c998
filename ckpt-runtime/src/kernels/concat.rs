//! Two images behind one another along their channels, the first one enlarged where asked.

use std::mem::MaybeUninit;

use dfdx::tensor::{Cpu, HasErr, Storage};
use rayon::prelude::*;

use super::{
    buffer::{write_copy, written},
    device::HeapDevice,
    images::{Extent, ImageBuffers},
    parts::piece,
    scalar::Scalar,
};
use crate::Real;

/// Concatenation over buffers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no image layer runs on this device with this dtype",
    note = "the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait ConcatKernel<E: Real>: ImageBuffers<E> {
    /// Pixels with the channels of `a`, each of whose pixels counts for `scale` times as many in
    /// both directions, and then those of `b`, of extent `of_b`.
    ///
    /// # Errors
    /// The device's.
    fn concatenated(
        &self,
        scale: usize,
        of_b: Extent,
        a: &<Self as Storage<E>>::Vec,
        b: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// Adds to the gradient of `a` what the pixels made of it were given.
    fn add_first(&self, scale: usize, of_b: Extent, dy: &<Self as Storage<E>>::Vec, da: &mut <Self as Storage<E>>::Vec);

    /// Adds to the gradient of `b` what its channels were given.
    fn add_second(
        &self,
        scale: usize,
        of_b: Extent,
        dy: &<Self as Storage<E>>::Vec,
        db: &mut <Self as Storage<E>>::Vec,
    );
}

impl<E: Scalar> ConcatKernel<E> for Cpu
where
    Cpu: HeapDevice<E>,
{
    fn concatenated(
        &self,
        scale: usize,
        of_b: Extent,
        a: &<Self as Storage<E>>::Vec,
        b: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        let sizes = Sizes::new(scale, of_b, a.len());
        assert!(
            b.len() == of_b.elements()
                && of_b.height.is_multiple_of(scale)
                && of_b.width.is_multiple_of(scale)
                && a.len() * scale * scale + b.len() == of_b.pixels() * sizes.channels(),
            "images that do not fit beside one another"
        );
        let rows = piece(a.len() * scale * scale + b.len()).div_ceil(sizes.row());
        // SAFETY: the rows tile the buffer, and `join_row` writes all of its row.
        let y = unsafe {
            written(of_b.pixels() * sizes.channels(), |y| {
                let b = b.par_chunks(sizes.row_of_b());
                y.par_chunks_mut(sizes.row()).zip(b).with_min_len(rows).enumerate().for_each(|(row, (y, b))| {
                    join_row(&a[sizes.above(row) * sizes.row_of_a()..][..sizes.row_of_a()], b, y, sizes);
                });
            })
        };
        self.keep(y)
    }

    fn add_first(
        &self,
        scale: usize,
        of_b: Extent,
        dy: &<Self as Storage<E>>::Vec,
        da: &mut <Self as Storage<E>>::Vec,
    ) {
        let sizes = Sizes::new(scale, of_b, da.len());
        // The rows of `dy` that were made of a row of `a`.
        let dy = dy.par_chunks(sizes.row() * scale);
        let rows = piece(da.len()).div_ceil(sizes.row_of_a());
        da.par_chunks_mut(sizes.row_of_a()).zip(dy).with_min_len(rows).for_each(|(da, dy)| {
            dy.chunks_exact(sizes.row()).for_each(|dy| add_first_of_row(dy, da, sizes));
        });
    }

    fn add_second(
        &self,
        scale: usize,
        of_b: Extent,
        dy: &<Self as Storage<E>>::Vec,
        db: &mut <Self as Storage<E>>::Vec,
    ) {
        let channels = dy.len() / of_b.pixels();
        let sizes = Sizes {
            scale,
            of_b: of_b.channels,
            of_a: channels - of_b.channels,
            width: of_b.width,
            height: of_b.height,
        };
        let rows = piece(db.len()).div_ceil(sizes.row_of_b());
        let all = db.par_chunks_mut(sizes.row_of_b()).zip(dy.par_chunks(sizes.row())).with_min_len(rows);
        all.for_each(|(db, dy)| add_second_of_row(dy, db, sizes));
    }
}

/// What the loops go by.
#[derive(Clone, Copy)]
struct Sizes {
    /// The channels of each.
    of_a: usize,
    of_b: usize,
    scale: usize,
    /// Pixels of a row of the output, and rows of an image.
    width: usize,
    height: usize,
}

impl Sizes {
    fn new(scale: usize, of_b: Extent, elements_of_a: usize) -> Self {
        let of_a = elements_of_a * scale * scale / of_b.pixels();
        Self { of_a, of_b: of_b.channels, scale, width: of_b.width, height: of_b.height }
    }

    fn channels(self) -> usize {
        self.of_a + self.of_b
    }

    fn row(self) -> usize {
        self.width * self.channels()
    }

    fn row_of_a(self) -> usize {
        self.width / self.scale * self.of_a
    }

    fn row_of_b(self) -> usize {
        self.width * self.of_b
    }

    /// The row of `a` that row `row` of the output is made of.
    fn above(self, row: usize) -> usize {
        let (image, row) = (row / self.height, row % self.height);
        image * (self.height / self.scale) + row / self.scale
    }
}

/// Writes a row of pixels.
fn join_row<E: Scalar>(a: &[E], b: &[E], y: &mut [MaybeUninit<E>], sizes: Sizes) {
    let many = y.chunks_exact_mut(sizes.channels() * sizes.scale).zip(b.chunks_exact(sizes.of_b * sizes.scale));
    for ((y, b), a) in many.zip(a.chunks_exact(sizes.of_a)) {
        for (y, b) in y.chunks_exact_mut(sizes.channels()).zip(b.chunks_exact(sizes.of_b)) {
            let (of_a, of_b) = y.split_at_mut(sizes.of_a);
            write_copy(of_a, a);
            write_copy(of_b, b);
        }
    }
}

vectorised! {
    /// Adds the first channels' gradients of a row to the pixels that they were made of.
    fn add_first_of_row<E>(dy: &[E], da: &mut [E], sizes: Sizes) {
        for (dy, da) in dy.chunks_exact(sizes.channels() * sizes.scale).zip(da.chunks_exact_mut(sizes.of_a)) {
            for dy in dy.chunks_exact(sizes.channels()) {
                for (da, dy) in da.iter_mut().zip(dy) {
                    *da += *dy;
                }
            }
        }
    }

    /// Adds the last channels' gradients of a row.
    fn add_second_of_row<E>(dy: &[E], db: &mut [E], sizes: Sizes) {
        for (dy, db) in dy.chunks_exact(sizes.channels()).zip(db.chunks_exact_mut(sizes.of_b)) {
            for (db, dy) in db.iter_mut().zip(&dy[sizes.of_a..]) {
                *db += *dy;
            }
        }
    }
}
