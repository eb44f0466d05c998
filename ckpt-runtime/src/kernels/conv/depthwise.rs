//! Convolutions of each channel by itself: sums over taps, many channels at a time.
//!
//! There is nothing for a product of matrices to reuse, so that memory sets the pace.

use std::{mem::MaybeUninit, ops::Range};

use rayon::prelude::*;

use super::super::{
    buffer::written,
    images::Extent,
    parts::{PARTS, add_in_order, rows_of_part},
    scalar::Scalar,
    shared::Shared,
    transpose::transposed,
};
use super::geometry::{Axis, Geometry};

/// Channels that are summed together: as many as a vector of the widest holds.
const LANES: usize = 16;

/// Whether every channel is a group of its own.
pub(super) fn suits(geometry: &Geometry) -> bool {
    let conv = &geometry.conv;
    conv.groups == conv.inputs && conv.groups == conv.outputs && conv.groups > 1
}

/// A grid of pixels, what each reads, and where its sums go.
struct Sums<'a, E> {
    from: &'a [E],
    extent: Extent,
    axes: [Axis; 2],
    /// A row of channels for each tap of the kernel, whose side is `kernel`.
    weights: &'a [E],
    kernel: usize,
    to: Shared<E>,
    /// The images that the grid is a part of: from the pixel `first` on, every `step`.
    target: Extent,
    first: [usize; 2],
    step: usize,
    /// Whether there is something to add to.
    sum: bool,
    /// Added, where there is nothing to add to.
    bias: Option<&'a [E]>,
}

impl<E: Scalar> Sums<'_, E> {
    /// Writes all pixels of the grid.
    ///
    /// # Safety
    /// `to` must be valid for the target's elements, which nobody else looks at, and initialised
    /// where it is added to.
    unsafe fn write(&self) {
        let rows = self.target.images * self.axes[0].positions;
        (0..rows).into_par_iter().for_each(|row| sum_row(self, row));
    }

    /// The elements of a pixel of the grid.
    #[inline(always)]
    fn place(&self, image: usize, row: usize, column: usize) -> usize {
        let (y, x) = (self.first[0] + row * self.step, self.first[1] + column * self.step);
        ((image * self.target.height + y) * self.target.width + x) * self.target.channels
    }
}

vectorised! {
    /// Writes a row of the grid.
    fn sum_row<E>(sums: &Sums<'_, E>, row: usize) {
        let [down, along] = &sums.axes;
        let (image, row) = (row / down.positions, row % down.positions);
        let Extent { height, width, channels, .. } = sums.extent;
        // Of each tap that reads a pixel, where that and the weights begin.
        let mut taps = Vec::with_capacity(down.taps.len() * along.taps.len());
        for column in 0..along.positions {
            taps.clear();
            for (ky, dy) in &down.taps {
                let Some(y) = down.read(row, *dy, height) else { continue };
                for (kx, dx) in &along.taps {
                    let Some(x) = along.read(column, *dx, width) else { continue };
                    taps.push((((image * height + y) * width + x) * channels, (ky * sums.kernel + kx) * channels));
                }
            }
            let place = sums.place(image, row, column);
            let whole = channels / LANES * LANES;
            for channel in (0..whole).step_by(LANES) {
                sum_taps::<E, FMA>(sums, &taps, place, channel, LANES);
            }
            if whole < channels {
                sum_taps::<E, FMA>(sums, &taps, place, whole, channels - whole);
            }
        }
    }

    /// Adds what the output's rows `rows` give each tap's weights to `sum`.
    fn sum_weights<E>(geometry: &Geometry, axes: &[Axis; 2], x: &[E], dy: &[E], rows: Range<usize>, sum: &mut [E]) {
        let [down, along] = axes;
        let Extent { height, width, channels, .. } = geometry.input;
        let (columns, whole) = (along.positions, channels / LANES * LANES);
        for row in rows {
            let (image, oy) = (row / down.positions, row % down.positions);
            let dy = &dy[row * columns * channels..][..columns * channels];
            for (ky, offset) in &down.taps {
                let Some(y) = down.read(oy, *offset, height) else { continue };
                let x = &x[(image * height + y) * width * channels..][..width * channels];
                for (kx, offset) in &along.taps {
                    let sum = &mut sum[(ky * geometry.conv.kernel + kx) * channels..][..channels];
                    // The columns that read a pixel through this tap.
                    let inside = |column: &usize| along.read(*column, *offset, width).is_some();
                    let first = (0..columns).find(inside).unwrap_or(columns);
                    let end = (first..columns).rev().find(inside).map_or(first, |last| last + 1);
                    if first == end {
                        continue;
                    }
                    let start = ((first * along.step) as isize + offset) as usize * channels;
                    let (x, dy) = (&x[start..], &dy[first * channels..end * channels]);
                    for channel in (0..whole).step_by(LANES) {
                        sum_columns::<E, FMA>(x, dy, [channels, along.step], channel, &mut sum[channel..][..LANES]);
                    }
                    if whole < channels {
                        sum_columns::<E, FMA>(x, dy, [channels, along.step], whole, &mut sum[whole..]);
                    }
                }
            }
        }
    }
}

/// Writes `count` channels of a pixel: the sum over the taps that read one.
#[inline(always)]
fn sum_taps<E: Scalar, const FMA: bool>(
    sums: &Sums<'_, E>,
    taps: &[(usize, usize)],
    place: usize,
    channel: usize,
    count: usize,
) {
    let mut sum = [E::zero(); LANES];
    if let Some(bias) = sums.bias {
        sum[..count].copy_from_slice(&bias[channel..][..count]);
    }
    for (from, weights) in taps {
        let from = &sums.from[from + channel..][..count];
        let weights = &sums.weights[weights + channel..][..count];
        for i in 0..count {
            sum[i] = from[i].fma::<FMA>(weights[i], sum[i]);
        }
    }
    // SAFETY: `write`'s caller has promised the pixel, which is this row's alone; it is read only
    // where it has been written.
    unsafe {
        let to = sums.to.at(place + channel);
        for (i, v) in sum[..count].iter().enumerate() {
            to.add(i).write(if sums.sum { *to.add(i) + *v } else { *v });
        }
    }
}

/// Adds to `sum` the products of as many channels of two rows of pixels, of which one is read every
/// `step`.
#[inline(always)]
fn sum_columns<E: Scalar, const FMA: bool>(
    x: &[E],
    dy: &[E],
    [channels, step]: [usize; 2],
    channel: usize,
    sum: &mut [E],
) {
    let count = sum.len();
    let mut lanes = [E::zero(); LANES];
    for (column, dy) in dy.chunks_exact(channels).enumerate() {
        let x = &x[column * step * channels + channel..][..count];
        let dy = &dy[channel..][..count];
        for i in 0..count {
            lanes[i] = x[i].fma::<FMA>(dy[i], lanes[i]);
        }
    }
    for (sum, v) in sum.iter_mut().zip(&lanes) {
        *sum += *v;
    }
}

/// The output, added to `sum` where there is one, or to `bias` in every pixel.
pub(super) fn forward<E: Scalar>(
    geometry: &Geometry,
    x: &[E],
    weight: &[E],
    bias: Option<&[E]>,
    sum: Option<&mut [E]>,
) -> Option<Vec<E>> {
    assert_eq!(x.len(), geometry.input.elements(), "the input of a convolution");
    let weights = by_tap(geometry, weight);
    let all = |to: Shared<E>, sum: bool| {
        let (from, extent, axes) = (x, geometry.input, geometry.forward());
        let (kernel, target) = (geometry.conv.kernel, geometry.output);
        let sums =
            Sums { from, extent, axes, weights: &weights, kernel, to, target, first: [0, 0], step: 1, sum, bias };
        // SAFETY: the grid is all of the output, and `new_or_sum` has its buffer.
        unsafe { sums.write() };
    };
    new_or_sum(geometry.output, sum, all)
}

/// The input's gradient, added to `sum` where there is one, or to `bias` in every pixel.
pub(super) fn input_gradient<E: Scalar>(
    geometry: &Geometry,
    dy: &[E],
    weight: &[E],
    bias: Option<&[E]>,
    sum: Option<&mut [E]>,
) -> Option<Vec<E>> {
    assert_eq!(dy.len(), geometry.output.elements(), "the output's gradient of a convolution");
    let weights = by_tap(geometry, weight);
    let Extent { height, width, .. } = geometry.input;
    let (kernel, step) = (geometry.conv.kernel, geometry.conv.stride);
    let all = |to: Shared<E>, sum: bool| {
        for first in (0..step).flat_map(|y| (0..step).map(move |x| [y, x])) {
            let axes = [geometry.backward(first[0], height), geometry.backward(first[1], width)];
            let (from, extent, target) = (dy, geometry.output, geometry.input);
            let sums = Sums { from, extent, axes, weights: &weights, kernel, to, target, first, step, sum, bias };
            // SAFETY: the grids are all of the input between them, and `new_or_sum` has its buffer.
            unsafe { sums.write() };
        }
    };
    new_or_sum(geometry.input, sum, all)
}

/// Adds the weight's gradient to `dw`.
pub(super) fn weight_gradient<E: Scalar>(geometry: &Geometry, x: &[E], dy: &[E], dw: &mut [E]) {
    assert_eq!((x.len(), dy.len()), (geometry.input.elements(), geometry.output.elements()), "images of a convolution");
    let (taps, channels) = (geometry.taps(), geometry.conv.inputs);
    assert_eq!(dw.len(), taps * channels, "the weight's gradient of a convolution");
    let axes = geometry.forward();
    let rows = geometry.output.images * geometry.output.height;
    let part = rows_of_part(rows);
    let mut sums = vec![E::zero(); PARTS * dw.len()];
    sums.par_chunks_exact_mut(dw.len()).enumerate().for_each(|(i, sum)| {
        sum_weights(geometry, &axes, x, dy, (i * part).min(rows)..((i + 1) * part).min(rows), sum);
    });
    let mut sum = vec![E::zero(); dw.len()];
    add_in_order(&mut sum, &sums);
    for (channel, dw) in dw.chunks_exact_mut(taps).enumerate() {
        dw.iter_mut().enumerate().for_each(|(tap, dw)| *dw += sum[tap * channels + channel]);
    }
}

/// A row of channels for each tap.
fn by_tap<E: Scalar>(geometry: &Geometry, weight: &[E]) -> Vec<E> {
    assert_eq!(weight.len(), geometry.taps() * geometry.conv.inputs, "the weight of a convolution");
    transposed(weight, geometry.taps())
}

/// Lets `write` add to `sum`, or write to all of a new buffer.
fn new_or_sum<E: Scalar>(extent: Extent, sum: Option<&mut [E]>, write: impl Fn(Shared<E>, bool)) -> Option<Vec<E>> {
    if let Some(sum) = sum {
        assert_eq!(sum.len(), extent.elements(), "the images that a convolution is added to");
        write(Shared::new(sum), true);
        return None;
    }
    // SAFETY: `write` writes every pixel.
    Some(unsafe { written(extent.elements(), |to: &mut [MaybeUninit<E>]| write(Shared::fresh(to), false)) })
}
