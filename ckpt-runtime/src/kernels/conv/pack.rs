//! Weights in the orders that products want, and back.
//!
//! PyTorch's order is output, input, tap.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::super::{buffer::written, scalar::Scalar, shared::Shared};
use super::geometry::{Axis, Geometry};

/// Output channels that are written behind one another, so that whole cache lines are.
const BLOCK: usize = 16;

/// For products that make outputs: of each group a matrix with a row for each tap and input, and a
/// column for each output.
pub(super) fn for_output<E: Scalar>(geometry: &Geometry, weight: &[E]) -> Vec<E> {
    let (inputs, outputs, taps) = (geometry.group_inputs(), geometry.group_outputs(), geometry.taps());
    assert_eq!(weight.len(), geometry.conv.outputs * inputs * taps, "the weight of a convolution");
    let blocks = inputs.div_ceil(BLOCK);
    // SAFETY: each group and input has rows of its own, which `block_for_output` writes in full; the
    // blocks cover all inputs.
    unsafe {
        written(weight.len(), |to| {
            let to = Shared::fresh(to);
            (0..geometry.conv.groups * blocks).into_par_iter().for_each(|i| {
                let (group, first) = (i / blocks, i % blocks * BLOCK);
                let part = group * outputs * inputs * taps;
                let to = to.at(part);
                block_for_output(&weight[part..], to, [inputs, outputs, taps], first);
            });
        })
    }
}

/// Writes the rows of up to [`BLOCK`] inputs of a group.
///
/// # Safety
/// `to` must be valid for the group's matrix, and nobody else may look at these rows.
unsafe fn block_for_output<E: Scalar>(weight: &[E], to: *mut E, [inputs, outputs, taps]: [usize; 3], first: usize) {
    let count = BLOCK.min(inputs - first);
    for output in (0..outputs).step_by(BLOCK) {
        let block = BLOCK.min(outputs - output);
        let from = &weight[(output * inputs + first) * taps..((output + block - 1) * inputs + first + count) * taps];
        for i in 0..count * taps {
            let row = i % taps * inputs + first + i / taps;
            for j in 0..block {
                // SAFETY: the row is below `taps * inputs`, the column below `outputs`.
                unsafe { to.add(row * outputs + output + j).write(from[j * inputs * taps + i]) };
            }
        }
    }
}

/// For products that make gradients of inputs: of each group a matrix with a row for each of the
/// axes' taps and each output, and a column for each input.
pub(super) fn for_input<E: Scalar>(geometry: &Geometry, weight: &[E], [down, along]: &[Axis; 2]) -> Vec<E> {
    let (inputs, outputs, taps) = (geometry.group_inputs(), geometry.group_outputs(), geometry.taps());
    assert_eq!(weight.len(), geometry.conv.outputs * inputs * taps, "the weight of a convolution");
    let used: Vec<usize> =
        down.taps.iter().flat_map(|(y, _)| along.taps.iter().map(move |(x, _)| y * geometry.conv.kernel + x)).collect();
    // SAFETY: a group's output and a tap have a row of their own, which is written in full.
    unsafe {
        written(geometry.conv.outputs * inputs * used.len(), |to: &mut [MaybeUninit<E>]| {
            let to = Shared::fresh(to);
            (0..geometry.conv.outputs).into_par_iter().for_each(|output| {
                let from = &weight[output * inputs * taps..][..inputs * taps];
                let (group, output) = (output / outputs, output % outputs);
                for (i, tap) in used.iter().enumerate() {
                    let to: *mut E = to.at(((group * used.len() + i) * outputs + output) * inputs);
                    for (input, weights) in from.chunks_exact(taps).enumerate() {
                        to.add(input).write(weights[*tap]);
                    }
                }
            });
        })
    }
}

/// Adds the gradient of an output's weights at `taps`, tap by tap in `from`, to where they lie in
/// `to`, input by input.
///
/// # Safety
/// `to` must be valid for the output's weights, and nobody else may look at those of `taps`.
pub(super) unsafe fn add_taps<E: Scalar>(to: *mut E, from: &[E], inputs: usize, stride: usize, first: usize) {
    for (tap, from) in from.chunks_exact(inputs).enumerate() {
        for (input, v) in from.iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { *to.add(input * stride + first + tap) += *v };
        }
    }
}
