//! `after(before(x) Wᵀ + b)`, forward and backward.
//!
//! The forward pass runs in blocks of rows: the bias is laid down first, the product added to it,
//! and the activation applied while the block is in cache. The weight is transposed once, which
//! costs less than a strided product does.

use std::{mem::MaybeUninit, ops::Range};

use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, Gradients, HasErr, Storage},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    activation::{Activation, apply, apply_to, replace_by_slopes_and_apply_to, scale_by_slopes},
    add::add_to,
    buffer::{read, rewritten, write_copy, written},
    columns::add_column_sums,
    device::{Heap, HeapDevice, Lent, Rows, Vector, kernels},
    parts::rows_of_part,
    product::{Matrix, Target, Threads},
    scalar::Scalar,
    transpose::transposed,
};
use crate::Real;

/// The parameters of a linear layer, and the functions before and behind it.
#[derive(Clone)]
pub(crate) struct Affine<E: Real, D: Device<E>> {
    /// `[out, in]`, or more rows than are used.
    pub(crate) weight: Rows<E, D>,
    /// As long as the weight has rows.
    pub(crate) bias: Option<Vector<E, D>>,
    /// The rows of the weight that are used.
    pub(crate) outputs: Range<usize>,
    /// Applied to the input.
    pub(crate) before: Activation,
    /// Applied to the output.
    pub(crate) after: Activation,
}

/// Gives a gradient to add to.
pub(crate) type Sum<'a, E, D> =
    dyn FnMut(&mut Gradients<E, D>) -> Result<Option<<D as Storage<E>>::Vec>, <D as HasErr>::Err> + 'a;

/// What a device has for linear layers, on buffers of rows.
pub(crate) trait LinearKernel<E: Real, D: Device<E>> {
    /// The layer's output for `x`, and where `keep` says so the values before the function
    /// behind it, if the backward pass needs those.
    fn forward(
        &self,
        layer: &Affine<E, D>,
        x: &<D as Storage<E>>::Vec,
        keep: bool,
    ) -> Result<(<D as Storage<E>>::Vec, Option<<D as Storage<E>>::Vec>), D::Err>;

    /// Adds the gradients of the parameters, and gives that of `x`: added to what `sum` gives, where it
    /// gives something. It is asked once the parameters have theirs, so that `x` may be one of them.
    /// `behind` is what the slope of the function behind the layer is told from: the values before it
    /// where it [needs](Activation::needs_its_input) them, its own otherwise.
    #[allow(clippy::too_many_arguments)]
    fn backward(
        &self,
        layer: &Affine<E, D>,
        x: Lent<'_, <D as Storage<E>>::Vec>,
        behind: Option<&<D as Storage<E>>::Vec>,
        dy: <D as Storage<E>>::Vec,
        sum: &mut Sum<'_, E, D>,
        grads: &mut Gradients<E, D>,
    ) -> Result<<D as Storage<E>>::Vec, D::Err>;
}
kernels!(LinearKernel);

/// Rows that are in cache from the product to the activation behind it.
pub(super) const BLOCK: usize = 512;

/// Rows up to which a weight is not rearranged.
pub(super) const FEW: usize = 128;

impl<E: Scalar> LinearKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    fn forward(
        &self,
        layer: &Affine<E, Cpu>,
        x: &<Cpu as Storage<E>>::Vec,
        keep: bool,
    ) -> Result<(<Cpu as Storage<E>>::Vec, Option<<Cpu as Storage<E>>::Vec>), <Cpu as HasErr>::Err> {
        let (inputs, outputs) = (layer.weight.shape().1, layer.outputs.len());
        let rows = x.len() / inputs;
        let bias = layer.bias.as_ref().map(read);
        let bias = bias.as_ref().map(|b| &b[layer.outputs.clone()]);
        let weight = read(&layer.weight);
        let weight = &weight[layer.used()];
        let mut y = if rows <= FEW {
            let mut h = Vec::new();
            let h = before(layer.before, x, &mut h);
            few_rows(Matrix::new(h, rows, inputs), Matrix::new(weight, outputs, inputs), bias)
        } else {
            let weight = transposed(weight, inputs);
            let weight = Matrix::new(&weight, inputs, outputs);
            let mut h = Vec::new();
            // The function behind the layer runs while a block is in cache, unless its input is kept.
            let after = if keep && layer.after.needs_its_input() { Activation::Identity } else { layer.after };
            // SAFETY: the blocks tile the buffer, and `block` writes all of its block.
            unsafe {
                written(rows * outputs, |y| {
                    for (y, x) in y.chunks_mut(BLOCK * outputs).zip(x.chunks(BLOCK * inputs)) {
                        let count = y.len() / outputs;
                        let h = before(layer.before, x, &mut h);
                        let y = block(y, Matrix::new(h, count, inputs), weight, bias);
                        apply(after, y);
                    }
                })
            }
        };
        let device = layer.weight.device();
        if keep && layer.after.needs_its_input() {
            // SAFETY: `apply_to` writes every element.
            let values = unsafe { written(y.len(), |to| apply_to(layer.after, to, &y)) };
            return Ok((device.keep(values)?, Some(device.keep(y)?)));
        }
        if rows <= FEW {
            apply(layer.after, &mut y);
        }
        Ok((device.keep(y)?, None))
    }

    fn backward(
        &self,
        layer: &Affine<E, Cpu>,
        x: Lent<'_, <Cpu as Storage<E>>::Vec>,
        behind: Option<&<Cpu as Storage<E>>::Vec>,
        mut dy: <Cpu as Storage<E>>::Vec,
        sum: &mut Sum<'_, E, Cpu>,
        grads: &mut Gradients<E, Cpu>,
    ) -> Result<<Cpu as Storage<E>>::Vec, <Cpu as HasErr>::Err> {
        let (inputs, outputs) = (layer.weight.shape().1, layer.outputs.len());
        let rows = x.get().len() / inputs;
        if let Some(behind) = behind {
            scale_by_slopes(layer.after, &mut dy, behind);
        }
        if let Some(bias) = &layer.bias {
            add_column_sums(&mut grads.get_or_alloc_mut(bias)?[layer.outputs.clone()], &dy);
        }
        let dw = &mut grads.get_or_alloc_mut(&layer.weight)?[layer.used()];
        let device = layer.weight.device();
        let weight = read(&layer.weight);
        let weight = Matrix::new(&weight[layer.used()], outputs, inputs);
        let dy = Matrix::new(&dy, rows, outputs);
        if layer.before == Activation::Identity {
            let values = Matrix::new(x.get(), rows, inputs);
            Target::new(dw, outputs, inputs).add(dy.transposed(), values, Threads::All);
            drop(x);
            if let Some(mut dx) = sum(grads)? {
                Target::new(&mut dx, rows, inputs).add(dy, weight, Threads::All);
                return Ok(dx);
            }
            // SAFETY: a product writes every element.
            let dx =
                unsafe { written(rows * inputs, |dx| Target::fresh(dx, rows, inputs).set(dy, weight, Threads::All)) };
            return device.keep(dx);
        }
        let mut dx = match x {
            Lent::Shared(x) => device.keep(x.to_vec())?,
            Lent::Owned(x) => x,
        };
        through(layer.before, dy, weight, dw, &mut dx);
        if let Some(mut sum) = sum(grads)? {
            add_to(&mut sum, &dx);
            return Ok(sum);
        }
        Ok(dx)
    }
}

/// The gradients where `f` stands before the layer, block by block: its values come again from its
/// input `x` while its slopes are computed, and are never held for all rows. `x` becomes its gradient.
fn through<E: Scalar>(f: Activation, dy: Matrix<'_, E>, weight: Matrix<'_, E>, dw: &mut [E], x: &mut [E]) {
    let (rows, outputs, inputs) = (dy.transposed().columns(), dy.columns(), weight.columns());
    let (mut h, mut dh) = (Vec::new(), Vec::new());
    for (i, x) in x.chunks_mut(BLOCK * inputs).enumerate() {
        let count = BLOCK.min(rows - i * BLOCK);
        let dy = dy.rows(i * BLOCK, count);
        // SAFETY: a product writes every element, and so does `replace_by_slopes_and_apply_to`.
        unsafe {
            rewritten(&mut dh, count * inputs, |dh| Target::fresh(dh, count, inputs).set(dy, weight, Threads::All));
            rewritten(&mut h, count * inputs, |h| replace_by_slopes_and_apply_to(f, x, &dh, h));
        }
        Target::new(dw, outputs, inputs).add(dy.transposed(), Matrix::new(&h, count, inputs), Threads::All);
    }
}

/// The function of a block of `x`, in `h` where it is not `x` itself.
fn before<'a, E: Scalar>(f: Activation, x: &'a [E], h: &'a mut Vec<E>) -> &'a [E] {
    if f == Activation::Identity {
        return x;
    }
    // SAFETY: `apply_to` writes every element.
    unsafe { rewritten(h, x.len(), |h| apply_to(f, h, x)) };
    h
}

impl<E: Real, D: Device<E>> Affine<E, D> {
    /// The elements of the weight's used rows.
    fn used(&self) -> Range<usize> {
        let inputs = self.weight.shape().1;
        self.outputs.start * inputs..self.outputs.end * inputs
    }
}

/// `h weightᵀ + bias` as the transpose of `weight hᵀ`, which reads the weight where it lies: for few
/// rows, to rearrange it would cost more than the product.
pub(super) fn few_rows<E: Scalar>(h: Matrix<'_, E>, weight: Matrix<'_, E>, bias: Option<&[E]>) -> Vec<E> {
    let (rows, outputs) = (h.transposed().columns(), weight.transposed().columns());
    // SAFETY: a product writes every element.
    let y = unsafe {
        written(rows * outputs, |y| Target::fresh(y, outputs, rows).set(weight, h.transposed(), Threads::All))
    };
    let mut y = transposed(&y, rows);
    if let Some(bias) = bias {
        for row in y.chunks_exact_mut(outputs) {
            row.iter_mut().zip(bias).for_each(|(y, bias)| *y += *bias);
        }
    }
    y
}

/// Writes `h weight + bias` to `y`, and hands it back as what it then is.
pub(super) fn block<'a, E: Scalar>(
    y: &'a mut [MaybeUninit<E>],
    h: Matrix<'_, E>,
    weight: Matrix<'_, E>,
    bias: Option<&[E]>,
) -> &'a mut [E] {
    let outputs = weight.columns();
    let rows = y.len() / outputs;
    if let Some(bias) = bias {
        let strip = rows_of_part(rows) * outputs;
        y.par_chunks_mut(strip).for_each(|y| y.chunks_exact_mut(outputs).for_each(|y| write_copy(y, bias)));
    } else {
        Target::fresh(&mut *y, rows, outputs).set(h, weight, Threads::All);
    }
    // SAFETY: either arm has written all of it.
    let y = unsafe { &mut *(std::ptr::from_mut(y) as *mut [E]) };
    if bias.is_some() {
        Target::new(y, rows, outputs).add(h, weight, Threads::All);
    }
    y
}
