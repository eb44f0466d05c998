//! Pools of images: the largest or the mean number of each window, and the mean of each channel.
//!
//! Both passes run row by row of what they write, each number of which comes from its window's, or
//! its windows', in a fixed order: rows need nothing of one another, and the bits do not depend on
//! who computes them.

use std::mem::MaybeUninit;

use dfdx::tensor::{Cpu, HasErr, Storage};
use rayon::prelude::*;

use super::{
    buffer::written,
    device::HeapDevice,
    images::{Extent, ImageBuffers, Layout},
    parts::piece,
    scalar::Scalar,
};
use crate::Real;

/// The windows of a pool, equal in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Numbers that a window takes of a row, and of a column.
    pub size: usize,
    /// Pixels from a window to the next.
    pub stride: usize,
    /// Pixels around the image.
    pub padding: usize,
    /// Pixels from a window's number to the next.
    pub dilation: usize,
}

impl Window {
    /// Windows along a side of `pixels`; `None` where not one fits.
    pub fn count(self, pixels: usize) -> Option<usize> {
        let reach = self.dilation.checked_mul(self.size - 1)?.checked_add(1)?;
        let free = self.padding.checked_mul(2)?.checked_add(pixels)?.checked_sub(reach)?;
        Some(free / self.stride + 1)
    }

    /// The extent of a pool's output.
    pub fn output(self, input: Extent) -> Option<Extent> {
        Some(Extent { height: self.count(input.height)?, width: self.count(input.width)?, ..input })
    }

    /// The numbers of window `window` that lie on a side of `pixels`, and where they do.
    fn places(self, window: usize, pixels: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..self.size).filter_map(move |i| {
            let place = (window * self.stride + i * self.dilation).checked_sub(self.padding)?;
            (place < pixels).then_some((i, place))
        })
    }

    /// The windows, of `windows`, whose number `i` lies at `place`, and `i`.
    fn over(self, place: usize, windows: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..self.size).filter_map(move |i| {
            let from = (place + self.padding).checked_sub(i * self.dilation)?;
            let window = from / self.stride;
            (from.is_multiple_of(self.stride) && window < windows).then_some((window, i))
        })
    }
}

/// Pools over buffers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no image layer runs on this device with this dtype",
    note = "the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait PoolKernel<E: Real>: ImageBuffers<E> {
    /// Where in its window each largest number stood.
    type Places: 'static;

    /// The largest number of each window, and where it stood where `keep` says so.
    ///
    /// # Errors
    /// The device's.
    #[allow(clippy::type_complexity)]
    fn largest(
        &self,
        window: Window,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
        keep: bool,
    ) -> Result<(<Self as Storage<E>>::Vec, Option<Self::Places>), Self::Err>;

    /// Adds each gradient to that of the number it came from.
    fn add_to_largest(
        &self,
        window: Window,
        input: Extent,
        places: &Self::Places,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    );

    /// The mean of each window, whose numbers around the image are zeros.
    ///
    /// # Errors
    /// The device's.
    fn means(
        &self,
        window: Window,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// Adds to each number its share of its windows' gradients.
    fn add_shares(
        &self,
        window: Window,
        input: Extent,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    );

    /// The mean of each channel of each image.
    ///
    /// # Errors
    /// The device's.
    fn channel_means(
        &self,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// Adds to each number its share of its channel's gradient; they lie as `layout` says.
    fn add_channel_shares(
        &self,
        input: Extent,
        layout: Layout,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    );
}

/// The place of a window that holds no number of the image.
const NOWHERE: u8 = u8::MAX;

impl<E: Scalar> PoolKernel<E> for Cpu
where
    Cpu: HeapDevice<E>,
{
    type Places = Vec<u8>;

    fn largest(
        &self,
        window: Window,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
        keep: bool,
    ) -> Result<(<Self as Storage<E>>::Vec, Option<Vec<u8>>), <Self as HasErr>::Err> {
        let output = window.output(input).expect("a window fits");
        let row = output.width * output.channels;
        let mut places = vec![NOWHERE; if keep { output.elements() } else { 0 }];
        // SAFETY: the rows tile the buffer, and `largest_row` writes all of its row.
        let y = unsafe {
            written(output.elements(), |y| {
                let rows = piece(output.elements()).div_ceil(row);
                if keep {
                    let pieces = y.par_chunks_mut(rows * row).zip(places.par_chunks_mut(rows * row));
                    pieces.enumerate().for_each(|(piece, (y, places))| {
                        for (i, (y, places)) in y.chunks_mut(row).zip(places.chunks_mut(row)).enumerate() {
                            largest_row(window, input, output, piece * rows + i, x, y, places);
                        }
                    });
                } else {
                    y.par_chunks_mut(rows * row).enumerate().for_each(|(piece, y)| {
                        let mut places = vec![NOWHERE; row];
                        for (i, y) in y.chunks_mut(row).enumerate() {
                            largest_row(window, input, output, piece * rows + i, x, y, &mut places);
                        }
                    });
                }
            })
        };
        Ok((self.keep(y)?, keep.then_some(places)))
    }

    fn add_to_largest(
        &self,
        window: Window,
        input: Extent,
        places: &Vec<u8>,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    ) {
        let output = window.output(input).expect("a window fits");
        rows_of(dx, input).for_each(|(index, dx)| add_to_largest_row(window, input, output, index, places, dy, dx));
    }

    fn means(
        &self,
        window: Window,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        let output = window.output(input).expect("a window fits");
        let mut y = vec![E::zero(); output.elements()];
        rows_of(&mut y, output).for_each(|(index, y)| mean_row(window, input, output, index, x, y));
        self.keep(y)
    }

    fn add_shares(
        &self,
        window: Window,
        input: Extent,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    ) {
        let output = window.output(input).expect("a window fits");
        rows_of(dx, input).for_each(|(index, dx)| add_share_row(window, input, output, index, dy, dx));
    }

    fn channel_means(
        &self,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        let (pixels, channels) = (input.height * input.width, input.channels);
        let mut y = vec![E::zero(); input.images * channels];
        y.par_chunks_mut(channels).zip(x.par_chunks(pixels * channels)).for_each(|(y, x)| mean_of_pixels(y, x));
        self.keep(y)
    }

    fn add_channel_shares(
        &self,
        input: Extent,
        layout: Layout,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    ) {
        let (pixels, channels) = (input.height * input.width, input.channels);
        let share = E::of(1.0 / pixels as f64);
        let images = dx.par_chunks_mut(pixels * channels).zip(dy.par_chunks(channels));
        images.for_each(|(dx, dy)| match layout {
            Layout::ChannelsLast => dx.chunks_mut(channels).for_each(|dx| add_times(dx, dy, share)),
            Layout::ChannelsFirst => {
                for (dx, dy) in dx.chunks_mut(pixels).zip(dy) {
                    dx.iter_mut().for_each(|dx| *dx += *dy * share);
                }
            }
        });
    }
}

/// The rows of pixels of all images, in parallel, each with its index.
fn rows_of<E: Scalar>(values: &mut [E], extent: Extent) -> impl ParallelIterator<Item = (usize, &mut [E])> {
    let row = extent.width * extent.channels;
    let rows = piece(values.len()).div_ceil(row);
    values.par_chunks_mut(row).with_min_len(rows).enumerate()
}

/// Where row `row` of an image's pixels starts.
#[inline(always)]
fn row_at(extent: Extent, image: usize, row: usize) -> usize {
    (image * extent.height + row) * extent.width * extent.channels
}

vectorised! {
    /// The largest numbers of the windows of a row of the output, and their places.
    fn largest_row<E>(
        window: Window,
        input: Extent,
        output: Extent,
        index: usize,
        x: &[E],
        y: &mut [MaybeUninit<E>],
        places: &mut [u8],
    ) {
        let (image, row) = (index / output.height, index % output.height);
        let channels = input.channels;
        for (column, (y, places)) in y.chunks_exact_mut(channels).zip(places.chunks_exact_mut(channels)).enumerate() {
            y.iter_mut().for_each(|y| _ = y.write(E::neg_infinity()));
            // SAFETY: all of it has just been written.
            let y = unsafe { &mut *(std::ptr::from_mut(y) as *mut [E]) };
            let mut first = true;
            for (i, from_row) in window.places(row, input.height) {
                for (j, from_column) in window.places(column, input.width) {
                    let x = &x[row_at(input, image, from_row) + from_column * channels..][..channels];
                    let place = (i * window.size + j) as u8;
                    if first {
                        // Where all are minus infinity, it is the first that counts.
                        y.copy_from_slice(x);
                        places.fill(place);
                        first = false;
                        continue;
                    }
                    for ((y, to), x) in y.iter_mut().zip(places.iter_mut()).zip(x) {
                        // NaN is the largest of all, and stays.
                        let larger = *x > *y || x.is_nan();
                        *y = if larger { *x } else { *y };
                        *to = if larger { place } else { *to };
                    }
                }
            }
            if first {
                places.fill(NOWHERE);
            }
        }
    }

    /// Adds to a row of the input the gradients of the windows whose largest number was there.
    fn add_to_largest_row<E>(
        window: Window,
        input: Extent,
        output: Extent,
        index: usize,
        places: &[u8],
        dy: &[E],
        dx: &mut [E],
    ) {
        let (image, row) = (index / input.height, index % input.height);
        let channels = input.channels;
        for (to, i) in window.over(row, output.height) {
            let start = row_at(output, image, to);
            for column in 0..output.width {
                let at = start + column * channels;
                let (dy, places) = (&dy[at..][..channels], &places[at..][..channels]);
                for (j, from) in window.places(column, input.width) {
                    let place = (i * window.size + j) as u8;
                    let dx = &mut dx[from * channels..][..channels];
                    for ((dx, dy), from) in dx.iter_mut().zip(dy).zip(places) {
                        *dx += if *from == place { *dy } else { E::zero() };
                    }
                }
            }
        }
    }

    /// The means of the windows of a row of the output.
    fn mean_row<E>(window: Window, input: Extent, output: Extent, index: usize, x: &[E], y: &mut [E]) {
        let (image, row) = (index / output.height, index % output.height);
        let (channels, share) = (input.channels, E::of(1.0 / (window.size * window.size) as f64));
        for (column, y) in y.chunks_exact_mut(channels).enumerate() {
            for (_, from_row) in window.places(row, input.height) {
                for (_, from_column) in window.places(column, input.width) {
                    let x = &x[row_at(input, image, from_row) + from_column * channels..][..channels];
                    for (y, x) in y.iter_mut().zip(x) {
                        *y += *x;
                    }
                }
            }
            y.iter_mut().for_each(|y| *y *= share);
        }
    }

    /// Adds to a row of the input its share of the windows over it.
    fn add_share_row<E>(window: Window, input: Extent, output: Extent, index: usize, dy: &[E], dx: &mut [E]) {
        let (image, row) = (index / input.height, index % input.height);
        let (channels, share) = (input.channels, E::of(1.0 / (window.size * window.size) as f64));
        for (to, _) in window.over(row, output.height) {
            let start = row_at(output, image, to);
            for column in 0..output.width {
                let dy = &dy[start + column * channels..][..channels];
                for (_, from) in window.places(column, input.width) {
                    let dx = &mut dx[from * channels..][..channels];
                    for (dx, dy) in dx.iter_mut().zip(dy) {
                        *dx += *dy * share;
                    }
                }
            }
        }
    }

    /// The mean of the pixels of `x`, whose sums are made in `f64` beyond a few of them.
    fn mean_of_pixels<E>(y: &mut [E], x: &[E]) {
        let channels = y.len();
        let mut sums = vec![0.0; channels];
        for block in x.chunks(channels * 64) {
            y.fill(E::zero());
            for pixel in block.chunks_exact(channels) {
                for (y, x) in y.iter_mut().zip(pixel) {
                    *y += *x;
                }
            }
            for (sum, y) in sums.iter_mut().zip(&*y) {
                *sum += y.to_f64().unwrap_or(f64::NAN);
            }
        }
        let share = 1.0 / (x.len() / channels) as f64;
        y.iter_mut().zip(sums).for_each(|(y, sum)| *y = E::of(sum * share));
    }

    fn add_times<E>(to: &mut [E], from: &[E], factor: E) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.fma::<FMA>(factor, *to);
        }
    }
}
