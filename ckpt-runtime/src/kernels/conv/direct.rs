//! Convolutions of any kind as products: what a pixel reads becomes a row of a matrix.
//!
//! The rows are made for a tile of pixels at a time, which stays in the second-level cache from
//! there to the product. The input's gradient is made alike, from what each input pixel was read
//! by: with a stride of `s` there are `s²` kinds of input pixels, each of them read by other taps.
//! So every pixel is written once, by one thread, and nothing is multiplied by zero but what lies
//! outside of an image.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::super::{
    buffer::{write_copy, written},
    images::Extent,
    parts::{PARTS, add_in_order, rows_of_part},
    product::{Matrix, Target, Threads},
    scalar::Scalar,
    shared::Shared,
};
use super::{
    geometry::{Axis, Geometry},
    pack::{add_taps, for_input, for_output},
    workers::share,
};

/// Bytes of a tile's matrix: half of a usual second-level cache.
const TILE: usize = 1 << 19;

/// Pixels of a tile, of so many that have rows of `width` elements.
fn tile_of<E>(pixels: usize, width: usize) -> usize {
    let cached = TILE / size_of::<E>() / width.max(1) / 16 * 16;
    // Fewer where that leaves threads without a tile, but never so few that the product suffers.
    cached.clamp(32, 256).min(pixels.div_ceil(PARTS).next_multiple_of(16).max(64))
}

/// The distance between rows of a tile: they would meet in the same sets of the cache otherwise.
fn row_stride(width: usize) -> usize {
    width.next_multiple_of(16) + 16
}

/// A grid of pixels, and what each of them reads of a batch of images.
struct Reading<'a, E> {
    from: &'a [E],
    extent: Extent,
    axes: [Axis; 2],
    /// Channels that a group reads.
    channels: usize,
}

impl<E: Scalar> Reading<'_, E> {
    /// Elements that a pixel reads.
    fn width(&self) -> usize {
        self.axes[0].taps.len() * self.axes[1].taps.len() * self.channels
    }

    /// Pixels of the grid.
    fn pixels(&self) -> usize {
        self.extent.images * self.axes[0].positions * self.axes[1].positions
    }

    /// What a group reads for `count` pixels from `first` on, in `scratch`, where the rows are
    /// [`row_stride`] apart.
    fn rows<'s>(&self, scratch: &'s mut [MaybeUninit<E>], group: usize, first: usize, count: usize) -> Matrix<'s, E> {
        let (width, stride) = (self.width(), row_stride(self.width()));
        gather(self, group * self.channels, first, &mut scratch[..count * stride]);
        // SAFETY: `gather` has written all of it.
        let rows = unsafe { scratch[..count * stride].assume_init_ref() };
        Matrix::strided(rows, count, width, stride)
    }
}

vectorised! {
    /// Writes what the pixels from `first` on read, of the channels from `channel` on, to rows of
    /// `to`, and zeros for what lies outside and behind a row.
    fn gather<E>(reading: &Reading<'_, E>, channel: usize, first: usize, to: &mut [MaybeUninit<E>]) {
        let stride = row_stride(reading.width());
        let [down, along] = &reading.axes;
        let (count, Extent { height, width, channels, .. }) = (reading.channels, reading.extent);
        let whole = count == channels && along.adjoins();
        let start = along.taps.first().map_or(0, |tap| tap.1);
        for (i, to) in to.chunks_exact_mut(stride).enumerate() {
            let (row, column) = ((first + i) / along.positions, (first + i) % along.positions);
            let (image, row) = (row / down.positions, row % down.positions);
            let mut rest = to;
            for (_, offset) in &down.taps {
                let (to, behind) = rest.split_at_mut(along.taps.len() * count);
                rest = behind;
                let Some(y) = down.read(row, *offset, height) else {
                    zero(to);
                    continue;
                };
                let line = &reading.from[(image * height + y) * width * channels..][..width * channels];
                if whole {
                    // The taps read neighbours: one run, cut where the image ends.
                    let at = (column * along.step) as isize + start;
                    let taps = along.taps.len() as isize;
                    let left = (-at).clamp(0, taps);
                    let right = (width as isize - at).clamp(left, taps);
                    let (before, to) = to.split_at_mut(left as usize * count);
                    let (to, behind) = to.split_at_mut((right - left) as usize * count);
                    zero(before);
                    if !to.is_empty() {
                        write_copy(to, &line[(at + left) as usize * count..][..to.len()]);
                    }
                    zero(behind);
                    continue;
                }
                for (to, (_, offset)) in to.chunks_exact_mut(count).zip(&along.taps) {
                    match along.read(column, *offset, width) {
                        Some(x) => write_copy(to, &line[x * channels + channel..][..count]),
                        None => zero(to),
                    }
                }
            }
            zero(rest);
        }
    }
}

#[inline(always)]
fn zero<E: Scalar>(to: &mut [MaybeUninit<E>]) {
    for to in to {
        to.write(E::zero());
    }
}

/// The pixels of a batch of images that a grid stands for, and what is written there.
struct Writing<'a, E> {
    to: Shared<E>,
    extent: Extent,
    /// Whether there is something to add to.
    sum: bool,
    /// Written first, where there is nothing to add to.
    bias: Option<&'a [E]>,
    /// The row and column of the grid's first pixel.
    first: [usize; 2],
    /// From one pixel of the grid to the next.
    step: usize,
    /// Channels of a group.
    channels: usize,
}

/// Multiplies what each group's pixels read by its matrix in `weights`.
///
/// # Safety
/// `writing` must be the same grid as `reading` in images that are valid for writes, and for reads
/// where it is a sum, and that nobody else looks at.
unsafe fn multiply<E: Scalar>(reading: &Reading<'_, E>, weights: &[E], writing: &Writing<'_, E>) {
    let (width, pixels, channels) = (reading.width(), reading.pixels(), writing.channels);
    let tile = tile_of::<E>(pixels, width);
    let (tiles, apart) = (pixels.div_ceil(tile), if writing.step == 1 { 0 } else { tile * channels });
    let groups = writing.extent.channels / channels;
    let len = tile * row_stride(width) + apart;
    share((0..groups * tiles).into_par_iter(), len, |scratch, i| {
        let (group, first) = (i / tiles, i % tiles * tile);
        let count = tile.min(pixels - first);
        let (scratch, apart) = scratch.split_at_mut(tile * row_stride(width));
        let rows = reading.rows(scratch, group, first, count);
        let weights = Matrix::new(&weights[group * width * channels..], width, channels);
        let bias = writing.bias.map(|bias| &bias[group * channels..][..channels]);
        // SAFETY: the caller's; a tile of a group is written by this item alone.
        unsafe {
            if writing.step == 1 {
                writing.in_place(group, first, count, bias, rows, weights);
            } else {
                let apart = &mut apart[..count * channels];
                Target::fresh(apart, count, channels).set(rows, weights, Threads::One);
                // The product has written all of it.
                writing.spread(&reading.axes, group, first, bias, apart.assume_init_ref());
            }
        }
    });
}

impl<E: Scalar> Writing<'_, E> {
    /// Writes a product to pixels that follow one another.
    ///
    /// # Safety
    /// As [`multiply`].
    unsafe fn in_place(
        &self,
        group: usize,
        first: usize,
        count: usize,
        bias: Option<&[E]>,
        rows: Matrix<'_, E>,
        weights: Matrix<'_, E>,
    ) {
        let start = first * self.extent.channels + group * self.channels;
        // SAFETY: the caller's. With a bias all of it is written before it is added to.
        unsafe {
            let target = |initialised| {
                Target::shared(self.to.at(start), initialised, count, self.channels, self.extent.channels)
            };
            match bias {
                _ if self.sum => target(true).add(rows, weights, Threads::One),
                None => target(false).set(rows, weights, Threads::One),
                Some(bias) => {
                    for i in 0..count {
                        let to = self.to.at(start + i * self.extent.channels);
                        to.copy_from_nonoverlapping(bias.as_ptr(), bias.len());
                    }
                    target(true).add(rows, weights, Threads::One);
                }
            }
        }
    }

    /// Writes the rows of `values` to pixels that are apart.
    ///
    /// # Safety
    /// As [`multiply`].
    unsafe fn spread(&self, [down, along]: &[Axis; 2], group: usize, first: usize, bias: Option<&[E]>, values: &[E]) {
        let Extent { height, width, channels, .. } = self.extent;
        for (i, values) in values.chunks_exact(self.channels).enumerate() {
            let (row, column) = ((first + i) / along.positions, (first + i) % along.positions);
            let (image, row) = (row / down.positions, row % down.positions);
            let (y, x) = (self.first[0] + row * self.step, self.first[1] + column * self.step);
            let start = ((image * height + y) * width + x) * channels + group * self.channels;
            // SAFETY: the caller's: the pixel is one of the image's, and written by this item alone.
            unsafe {
                let to = self.to.at(start);
                if self.sum {
                    let to = std::slice::from_raw_parts_mut(to, values.len());
                    to.iter_mut().zip(values).for_each(|(to, v)| *to += *v);
                    continue;
                }
                let to = std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<E>>(), values.len());
                match bias {
                    None => write_copy(to, values),
                    Some(bias) => {
                        for ((to, v), bias) in to.iter_mut().zip(values).zip(bias) {
                            to.write(*bias + *v);
                        }
                    }
                }
            }
        }
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
    let reading = output_reading(geometry, x);
    let weights = for_output(geometry, weight);
    let (extent, channels) = (geometry.output, geometry.group_outputs());
    // SAFETY: the grid is all of the output's pixels, and the caller has their buffer.
    let all = |to: Shared<E>, sum: bool| unsafe {
        multiply(&reading, &weights, &Writing { to, extent, sum, bias, first: [0, 0], step: 1, channels });
    };
    if let Some(sum) = sum {
        assert_eq!(sum.len(), extent.elements(), "the output of a convolution");
        all(Shared::new(sum), true);
        return None;
    }
    // SAFETY: all pixels are written.
    Some(unsafe { written(extent.elements(), |y| all(Shared::fresh(y), false)) })
}

/// What the output's pixels read.
fn output_reading<'a, E>(geometry: &Geometry, x: &'a [E]) -> Reading<'a, E> {
    assert_eq!(x.len(), geometry.input.elements(), "the input of a convolution");
    Reading { from: x, extent: geometry.input, axes: geometry.forward(), channels: geometry.group_inputs() }
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
    let Extent { height, width, .. } = geometry.input;
    let (extent, step, channels) = (geometry.input, geometry.conv.stride, geometry.group_inputs());
    let all = |to: Shared<E>, sum: bool| {
        for first in (0..step).flat_map(|y| (0..step).map(move |x| [y, x])) {
            let axes = [geometry.backward(first[0], height), geometry.backward(first[1], width)];
            let weights = for_input(geometry, weight, &axes);
            let reading = Reading { from: dy, extent: geometry.output, axes, channels: geometry.group_outputs() };
            if reading.pixels() > 0 && !(sum && weights.is_empty()) {
                // SAFETY: the grid is of the input's pixels, and the caller has their buffer.
                unsafe { multiply(&reading, &weights, &Writing { to, extent, sum, bias, first, step, channels }) };
            }
        }
    };
    if let Some(sum) = sum {
        assert_eq!(sum.len(), extent.elements(), "the input's gradient of a convolution");
        all(Shared::new(sum), true);
        return None;
    }
    // SAFETY: the grids are all of the input's pixels between them.
    Some(unsafe { written(extent.elements(), |to| all(Shared::fresh(to), false)) })
}

/// Weights of a group up to which each part of the pixels gets a sum of its own.
const FEW_WEIGHTS: usize = 1 << 14;

/// Adds the weight's gradient to `dw`.
pub(super) fn weight_gradient<E: Scalar>(geometry: &Geometry, x: &[E], dy: &[E], dw: &mut [E]) {
    assert_eq!(dy.len(), geometry.output.elements(), "the output's gradient of a convolution");
    let reading = output_reading(geometry, x);
    if reading.width() * geometry.group_outputs() <= FEW_WEIGHTS {
        by_parts(geometry, &reading, dy, dw);
    } else {
        by_blocks(geometry, &reading, dy, dw);
    }
}

/// A block of the output's gradient: a row for each of `count` pixels from `first` on.
fn block_of<'a, E: Scalar>(
    geometry: &Geometry,
    dy: &'a [E],
    [first, count]: [usize; 2],
    [channel, channels]: [usize; 2],
) -> Matrix<'a, E> {
    let all = geometry.conv.outputs;
    Matrix::strided(&dy[first * all + channel..], count, channels, all)
}

/// A sum for each part of the pixels, then the sum of them.
fn by_parts<E: Scalar>(geometry: &Geometry, reading: &Reading<'_, E>, dy: &[E], dw: &mut [E]) {
    let (width, outputs, groups) = (reading.width(), geometry.group_outputs(), geometry.conv.groups);
    let (pixels, tile) = (reading.pixels(), tile_of::<E>(reading.pixels(), width));
    let part = rows_of_part(pixels);
    let mut sums = vec![E::zero(); PARTS * dw.len()];
    share(sums.par_chunks_exact_mut(width * outputs).enumerate(), tile * row_stride(width), |scratch, (i, sum)| {
        let (group, end) = (i % groups, pixels.min((i / groups + 1) * part));
        for first in (i / groups * part..end).step_by(tile) {
            let count = tile.min(end - first);
            let dy = block_of(geometry, dy, [first, count], [group * outputs, outputs]);
            let rows = reading.rows(scratch, group, first, count);
            Target::new(sum, outputs, width).add(dy.transposed(), rows, Threads::One);
        }
    });
    let mut sum = vec![E::zero(); dw.len()];
    add_in_order(&mut sum, &sums);
    for (dw, sum) in dw.chunks_exact_mut(width).zip(sum.chunks_exact(width)) {
        // SAFETY: an output's weights, borrowed here.
        unsafe { add_taps(dw.as_mut_ptr(), sum, geometry.group_inputs(), geometry.taps(), 0) };
    }
}

/// A row of taps and some outputs at a time, over all pixels.
fn by_blocks<E: Scalar>(geometry: &Geometry, reading: &Reading<'_, E>, dy: &[E], dw: &mut [E]) {
    let (inputs, outputs, taps) = (geometry.group_inputs(), geometry.group_outputs(), geometry.taps());
    let (kernel, pixels) = (geometry.conv.kernel, reading.pixels());
    assert_eq!(dw.len(), geometry.conv.outputs * inputs * taps, "the weight's gradient of a convolution");
    let block = outputs.div_ceil(2).next_multiple_of(16).min(128);
    let blocks = outputs.div_ceil(block);
    let width = kernel * inputs;
    let tile = tile_of::<E>(pixels, width);
    let dw = Shared::new(dw);
    let len = tile * row_stride(width) + block * width;
    share((0..geometry.conv.groups * kernel * blocks).into_par_iter(), len, |scratch, i| {
        let (group, y, first_output) = (i / blocks / kernel, i / blocks % kernel, i % blocks * block);
        let count = block.min(outputs - first_output);
        let axes = [reading.axes[0].only(y), reading.axes[1].clone()];
        let reading = Reading { axes, ..*reading };
        let (scratch, sum) = scratch.split_at_mut(tile * row_stride(width));
        let sum = &mut sum[..count * width];
        sum.fill(MaybeUninit::new(E::zero()));
        // SAFETY: it has just been written.
        let sum = unsafe { sum.assume_init_mut() };
        for first in (0..pixels).step_by(tile) {
            let some = [first, tile.min(pixels - first)];
            let dy = block_of(geometry, dy, some, [group * outputs + first_output, count]);
            let rows = reading.rows(scratch, group, first, some[1]);
            Target::new(sum, count, width).add(dy.transposed(), rows, Threads::One);
        }
        for (output, sum) in sum.chunks_exact(width).enumerate() {
            let output = group * outputs + first_output + output;
            // SAFETY: the output's weights lie in `dw`, and those of these taps are this item's.
            unsafe { add_taps(dw.at(output * inputs * taps), sum, inputs, taps, y * kernel) };
        }
    });
}
