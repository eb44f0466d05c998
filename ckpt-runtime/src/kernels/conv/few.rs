//! Convolutions to few pixels with big weights: to rearrange the weight would cost more than the
//! products do, so that what a pixel reads is put in the order of the weight instead.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::super::{
    buffer::{write_copy, written},
    images::Extent,
    linear::{FEW, few_rows},
    product::{Matrix, Target, Threads},
    scalar::Scalar,
};
use super::geometry::{Axis, Geometry};

/// Weights from which it pays.
const MANY_WEIGHTS: usize = 1 << 14;

/// Whether a convolution is better computed so.
pub(super) fn suits(geometry: &Geometry) -> bool {
    let weights = geometry.conv.outputs * width(geometry);
    geometry.conv.groups == 1 && geometry.output.pixels() <= FEW && weights > MANY_WEIGHTS
}

/// Elements that an output pixel reads.
fn width(geometry: &Geometry) -> usize {
    geometry.conv.inputs * geometry.taps()
}

/// What each output pixel reads as a row, input by input.
fn rows<E: Scalar>(geometry: &Geometry, x: &[E]) -> Vec<E> {
    assert_eq!(x.len(), geometry.input.elements(), "the input of a convolution");
    let width = width(geometry);
    let axes = geometry.forward();
    // SAFETY: `row` writes all of its row.
    unsafe {
        written(geometry.output.pixels() * width, |to| {
            to.par_chunks_exact_mut(width).enumerate().for_each(|(pixel, to)| row(geometry, &axes, x, pixel, to));
        })
    }
}

vectorised! {
    /// Writes what a pixel reads, and zeros for what lies outside.
    fn row<E>(geometry: &Geometry, axes: &[Axis; 2], x: &[E], pixel: usize, to: &mut [MaybeUninit<E>]) {
        let [down, along] = axes;
        let Extent { height, width, channels, .. } = geometry.input;
        let (row, column) = (pixel / along.positions, pixel % along.positions);
        let (image, row) = (row / down.positions, row % down.positions);
        let taps = geometry.taps();
        for (ky, dy) in &down.taps {
            for (kx, dx) in &along.taps {
                let to = to[ky * geometry.conv.kernel + kx..].iter_mut().step_by(taps);
                match (down.read(row, *dy, height), along.read(column, *dx, width)) {
                    (Some(y), Some(x_at)) => {
                        let from = &x[((image * height + y) * width + x_at) * channels..][..channels];
                        to.zip(from).for_each(|(to, v)| {
                            to.write(*v);
                        });
                    }
                    _ => to.for_each(|to| {
                        to.write(E::zero());
                    }),
                }
            }
        }
    }

    /// Adds to an input pixel what the output pixels that read it give.
    fn add_back<E>(geometry: &Geometry, rows: &[E], pixel: usize, to: &mut [E]) {
        let Extent { height, width, channels, .. } = geometry.input;
        let (row, x) = (pixel / width, pixel % width);
        let (image, y) = (row / height, row % height);
        let (taps, output) = (geometry.taps(), geometry.output);
        for ky in 0..geometry.conv.kernel {
            let Some(oy) = geometry.reader(y, ky, output.height) else { continue };
            for kx in 0..geometry.conv.kernel {
                let Some(ox) = geometry.reader(x, kx, output.width) else { continue };
                let row = (image * output.height + oy) * output.width + ox;
                let from = &rows[row * channels * taps..][..channels * taps];
                let from = from[ky * geometry.conv.kernel + kx..].iter().step_by(taps);
                to.iter_mut().zip(from).for_each(|(to, v)| *to += *v);
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
    let (pixels, width, outputs) = (geometry.output.pixels(), width(geometry), geometry.conv.outputs);
    let rows = rows(geometry, x);
    let (rows, weight) = (Matrix::new(&rows, pixels, width), Matrix::new(weight, outputs, width));
    match sum {
        None => Some(few_rows(rows, weight, bias)),
        Some(sum) => {
            Target::new(sum, pixels, outputs).add(rows, weight.transposed(), Threads::All);
            None
        }
    }
}

/// The input's gradient, added to `sum` where there is one, or to `bias` in every pixel.
pub(super) fn input_gradient<E: Scalar>(
    geometry: &Geometry,
    dy: &[E],
    weight: &[E],
    bias: Option<&[E]>,
    sum: Option<&mut [E]>,
) -> Option<Vec<E>> {
    let (pixels, width, outputs) = (geometry.output.pixels(), width(geometry), geometry.conv.outputs);
    let (dy, weight) = (Matrix::new(dy, pixels, outputs), Matrix::new(weight, outputs, width));
    // SAFETY: a product writes every element.
    let rows =
        unsafe { written(pixels * width, |rows| Target::fresh(rows, pixels, width).set(dy, weight, Threads::All)) };
    let channels = geometry.conv.inputs;
    let add_all = |to: &mut [E]| {
        to.par_chunks_exact_mut(channels).enumerate().for_each(|(pixel, to)| add_back(geometry, &rows, pixel, to));
    };
    if let Some(sum) = sum {
        assert_eq!(sum.len(), geometry.input.elements(), "the input's gradient of a convolution");
        add_all(sum);
        return None;
    }
    // SAFETY: every pixel is written.
    let mut dx = unsafe {
        written(geometry.input.elements(), |dx| {
            dx.chunks_exact_mut(channels).for_each(|dx| match bias {
                Some(bias) => write_copy(dx, bias),
                None => dx.fill(MaybeUninit::new(E::zero())),
            });
        })
    };
    add_all(&mut dx);
    Some(dx)
}

/// Adds the weight's gradient to `dw`.
pub(super) fn weight_gradient<E: Scalar>(geometry: &Geometry, x: &[E], dy: &[E], dw: &mut [E]) {
    let (pixels, width, outputs) = (geometry.output.pixels(), width(geometry), geometry.conv.outputs);
    let rows = rows(geometry, x);
    let (rows, dy) = (Matrix::new(&rows, pixels, width), Matrix::new(dy, pixels, outputs));
    Target::new(dw, outputs, width).add(dy.transposed(), rows, Threads::All);
}
