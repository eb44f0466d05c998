//! 1×1 convolutions that read every pixel: products of matrices, a pixel a row.

use super::super::{
    buffer::written,
    linear::{BLOCK, FEW, block, few_rows},
    product::{Matrix, Target, Threads},
    scalar::Scalar,
    transpose::transposed,
};
use super::geometry::Geometry;

/// `x weightᵀ`, added to `sum` where there is one, or to `bias` in every pixel.
pub(super) fn forward<E: Scalar>(
    geometry: &Geometry,
    x: &[E],
    weight: &[E],
    bias: Option<&[E]>,
    sum: Option<&mut [E]>,
) -> Option<Vec<E>> {
    let [pixels, inputs, outputs] = sizes(geometry);
    let x = Matrix::new(x, pixels, inputs);
    if let Some(sum) = sum {
        let weight = Matrix::new(weight, outputs, inputs).transposed();
        Target::new(sum, pixels, outputs).add(x, weight, Threads::All);
        return None;
    }
    if pixels <= FEW {
        return Some(few_rows(x, Matrix::new(weight, outputs, inputs), bias));
    }
    let weight = transposed(weight, inputs);
    let weight = Matrix::new(&weight, inputs, outputs);
    // SAFETY: the blocks tile the buffer, and `block` writes all of its block.
    Some(unsafe {
        written(pixels * outputs, |y| {
            for (i, y) in y.chunks_mut(BLOCK * outputs).enumerate() {
                let count = y.len() / outputs;
                block(y, x.rows(i * BLOCK, count), weight, bias);
            }
        })
    })
}

/// `dy weight`, added to `sum` where there is one, or to `bias` in every pixel.
pub(super) fn input_gradient<E: Scalar>(
    geometry: &Geometry,
    dy: &[E],
    weight: &[E],
    bias: Option<&[E]>,
    sum: Option<&mut [E]>,
) -> Option<Vec<E>> {
    let [pixels, inputs, outputs] = sizes(geometry);
    let (dy, weight) = (Matrix::new(dy, pixels, outputs), Matrix::new(weight, outputs, inputs));
    if let Some(sum) = sum {
        Target::new(sum, pixels, inputs).add(dy, weight, Threads::All);
        return None;
    }
    // SAFETY: `block` writes all of what it is given.
    Some(unsafe {
        written(pixels * inputs, |dx| {
            block(dx, dy, weight, bias);
        })
    })
}

/// `dw += dyᵀ x`.
pub(super) fn weight_gradient<E: Scalar>(geometry: &Geometry, x: &[E], dy: &[E], dw: &mut [E]) {
    let [pixels, inputs, outputs] = sizes(geometry);
    let (x, dy) = (Matrix::new(x, pixels, inputs), Matrix::new(dy, pixels, outputs));
    Target::new(dw, outputs, inputs).add(dy.transposed(), x, Threads::All);
}

fn sizes(geometry: &Geometry) -> [usize; 3] {
    assert_eq!(geometry.input.pixels(), geometry.output.pixels(), "pixels of a pointwise convolution");
    [geometry.input.pixels(), geometry.conv.inputs, geometry.conv.outputs]
}
