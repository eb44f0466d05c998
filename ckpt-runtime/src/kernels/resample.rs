//! Images made larger by a whole factor.
//!
//! As with [pools](super::pool), rows are written one by one and read in a fixed order.

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

/// Where the numbers between pixels come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The nearest pixel.
    Nearest,
    /// The pixels around it, by their distance; pixels are areas, whose middle they stand for.
    Linear,
}

/// Resampling over buffers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no image layer runs on this device with this dtype",
    note = "the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait ResampleKernel<E: Real>: ImageBuffers<E> {
    /// Images `scale` times as high and wide.
    ///
    /// # Errors
    /// The device's.
    fn enlarged(
        &self,
        between: Between,
        scale: usize,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// Adds to each pixel the gradients of those made of it.
    fn add_reduced(
        &self,
        between: Between,
        scale: usize,
        input: Extent,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    );
}

/// What a pixel of the output is made of along one side: two pixels of the input, and the second
/// one's weight. For the nearest, both are one.
#[derive(Clone, Copy)]
struct Source {
    pixels: [usize; 2],
    weight: f64,
}

impl Source {
    fn of(between: Between, scale: usize, pixels: usize) -> Vec<Self> {
        let one = |pixel: usize| match between {
            Between::Nearest => Self { pixels: [pixel / scale; 2], weight: 0.0 },
            Between::Linear => {
                let place = ((pixel as f64 + 0.5) / scale as f64 - 0.5).max(0.0);
                let first = place as usize;
                Self { pixels: [first, (first + 1).min(pixels - 1)], weight: place - first as f64 }
            }
        };
        (0..pixels * scale).map(one).collect()
    }
}

impl<E: Scalar> ResampleKernel<E> for Cpu
where
    Cpu: HeapDevice<E>,
{
    fn enlarged(
        &self,
        between: Between,
        scale: usize,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        let output = enlarged(input, scale);
        let (from, to) = (input.width * input.channels, output.width * output.channels);
        let rows = piece(output.elements()).div_ceil(to);
        let (down, along) = (Source::of(between, scale, input.height), Source::of(between, scale, input.width));
        // SAFETY: the rows tile the buffer, and either function writes all of its row.
        let y = unsafe {
            written(output.elements(), |y| {
                y.par_chunks_mut(to).with_min_len(rows).enumerate().for_each(|(index, y)| {
                    let (image, row) = (index / output.height, index % output.height);
                    let row_of = |row: usize| &x[(image * input.height + row) * from..][..from];
                    let source = down[row];
                    match between {
                        Between::Nearest => repeat_row(row_of(source.pixels[0]), y, input.channels, scale),
                        Between::Linear => {
                            let [upper, lower] = source.pixels.map(row_of);
                            mix_row(upper, lower, E::of(source.weight), y, input.channels, &along);
                        }
                    }
                });
            })
        };
        self.keep(y)
    }

    fn add_reduced(
        &self,
        between: Between,
        scale: usize,
        input: Extent,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    ) {
        let output = enlarged(input, scale);
        let (from, to) = (output.width * output.channels, input.width * input.channels);
        let rows = piece(dx.len()).div_ceil(to);
        let (down, along) = (Source::of(between, scale, input.height), Source::of(between, scale, input.width));
        dx.par_chunks_mut(to).with_min_len(rows).enumerate().for_each(|(index, dx)| {
            let (image, row) = (index / input.height, index % input.height);
            // What a row is a part of lies no farther than a pixel's height around it.
            let near = (row * scale).saturating_sub(scale)..((row + 2) * scale).min(output.height);
            for row_of_y in near {
                let dy = &dy[(image * output.height + row_of_y) * from..][..from];
                let Source { pixels, weight } = down[row_of_y];
                for (pixel, weight) in pixels.into_iter().zip([1.0 - weight, weight]) {
                    if pixel == row && weight != 0.0 {
                        match between {
                            Between::Nearest => gather_row(dy, dx, input.channels, scale),
                            Between::Linear => unmix_row(dy, E::of(weight), dx, input.channels, &along),
                        }
                    }
                }
            }
        });
    }
}

fn enlarged(input: Extent, scale: usize) -> Extent {
    Extent { height: input.height * scale, width: input.width * scale, ..input }
}

/// Writes each pixel `scale` times.
pub(super) fn repeat_row<E: Scalar>(x: &[E], y: &mut [MaybeUninit<E>], channels: usize, scale: usize) {
    for (y, x) in y.chunks_exact_mut(channels * scale).zip(x.chunks_exact(channels)) {
        y.chunks_exact_mut(channels).for_each(|y| write_copy(y, x));
    }
}

vectorised! {
    /// Adds `scale` pixels to each one.
    fn gather_row<E>(dy: &[E], dx: &mut [E], channels: usize, scale: usize) {
        for (dx, dy) in dx.chunks_exact_mut(channels).zip(dy.chunks_exact(channels * scale)) {
            for dy in dy.chunks_exact(channels) {
                for (dx, dy) in dx.iter_mut().zip(dy) {
                    *dx += *dy;
                }
            }
        }
    }

    /// Writes pixels between those of two rows, the lower one of weight `down`.
    fn mix_row<E>(upper: &[E], lower: &[E], down: E, y: &mut [MaybeUninit<E>], channels: usize, along: &[Source]) {
        for (y, source) in y.chunks_exact_mut(channels).zip(along) {
            let right = E::of(source.weight);
            let [a, b] = source.pixels.map(|pixel| &upper[pixel * channels..][..channels]);
            let [c, d] = source.pixels.map(|pixel| &lower[pixel * channels..][..channels]);
            for (y, ((a, b), (c, d))) in y.iter_mut().zip(a.iter().zip(b).zip(c.iter().zip(d))) {
                let (above, below) = ((*b - *a).fma::<FMA>(right, *a), (*d - *c).fma::<FMA>(right, *c));
                y.write((below - above).fma::<FMA>(down, above));
            }
        }
    }

    /// Adds `weight` times a row's gradients to the pixels it was made of.
    fn unmix_row<E>(dy: &[E], weight: E, dx: &mut [E], channels: usize, along: &[Source]) {
        for (dy, source) in dy.chunks_exact(channels).zip(along) {
            let weights = [1.0 - source.weight, source.weight].map(|w| E::of(w) * weight);
            for (pixel, weight) in source.pixels.into_iter().zip(weights) {
                let dx = &mut dx[pixel * channels..][..channels];
                for (dx, dy) in dx.iter_mut().zip(dy) {
                    *dx = dy.fma::<FMA>(weight, *dx);
                }
            }
        }
    }
}
