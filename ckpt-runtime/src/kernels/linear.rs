//! `after(before(x) Wᵀ + b)`, forward and backward.
//!
//! The forward pass runs in blocks of rows: the bias is laid down first, the product added to it,
//! and the activation applied while the block is in cache. The weight is transposed once, which
//! costs less than a strided product does.

use std::{mem::MaybeUninit, ops::Range};

use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, Gradients, HasErr, Storage, TensorFromVec},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    activation::{Activation, add_slopes_and_apply, apply, apply_to, scale_by_slopes},
    buffer::{read, write_copy, written},
    columns::add_column_sums,
    device::{Heap, HeapDevice, Rows, Vector, kernels},
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

/// What the backward pass needs beside the input.
pub(crate) enum Kept<E: Real, D: Device<E>> {
    /// Nothing.
    Nothing,
    /// The output, which others keep too.
    Output(Rows<E, D>),
    /// The output before its activation.
    Before(<D as Storage<E>>::Vec),
}

/// What a device has for linear layers.
pub(crate) trait LinearKernel<E: Real, D: Device<E>> {
    /// The layer's output for rows `x`, and where `keep` says so what the backward pass needs.
    fn forward(&self, layer: &Affine<E, D>, x: &Rows<E, D>, keep: bool) -> Result<(Rows<E, D>, Kept<E, D>), D::Err>;

    /// Adds the gradients of `x` and of the parameters, from that of the output and what the
    /// forward pass kept. `x` is freed as soon as it has been read.
    fn backward(
        &self,
        layer: &Affine<E, D>,
        x: Rows<E, D>,
        kept: Kept<E, D>,
        dy: <D as Storage<E>>::Vec,
        grads: &mut Gradients<E, D>,
    ) -> Result<(), D::Err>;
}
kernels!(LinearKernel);

/// Rows that are in cache from the product to the activation behind it.
pub(super) const BLOCK: usize = 512;

/// Rows whose gradient behind an activation in front is held at a time.
const HELD: usize = 256;

/// Rows up to which a weight is not rearranged.
pub(super) const FEW: usize = 128;

impl<E: Scalar> LinearKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    fn forward(
        &self,
        layer: &Affine<E, Cpu>,
        x: &Rows<E, Cpu>,
        keep: bool,
    ) -> Result<(Rows<E, Cpu>, Kept<E, Cpu>), <Cpu as HasErr>::Err> {
        let (rows, inputs) = *x.shape();
        let outputs = layer.outputs.len();
        let mut h = read(x);
        apply(layer.before, &mut h);
        let bias = layer.bias.as_ref().map(read);
        let bias = bias.as_ref().map(|b| &b[layer.outputs.clone()]);
        if rows <= FEW {
            let weight = read(&layer.weight);
            let weight = Matrix::new(&weight[layer.used()], outputs, inputs);
            let y = few_rows(Matrix::new(&h, rows, inputs), weight, bias);
            return finish(layer.after, keep, x, outputs, y);
        }
        let weight = transposed(&read(&layer.weight)[layer.used()], inputs);
        let (h, weight) = (Matrix::new(&h, rows, inputs), Matrix::new(&weight, inputs, outputs));
        let apart = keep && layer.after.needs_its_input();
        // SAFETY: the blocks tile both buffers, and `block` writes all of its block; `activated`
        // is as long as `y` where it is wanted, and empty where not.
        let mut activated = Vec::new();
        let y = unsafe {
            written(rows * outputs, |y| {
                let write = |activated: &mut [MaybeUninit<E>]| {
                    let mut activated = activated.chunks_mut(BLOCK * outputs);
                    for (i, y) in y.chunks_mut(BLOCK * outputs).enumerate() {
                        let y = block(y, h.rows(i * BLOCK, y.len() / outputs), weight, bias);
                        match activated.next() {
                            Some(activated) => apply_to(layer.after, activated, y),
                            None => apply(layer.after, y),
                        }
                    }
                };
                activated = written(if apart { rows * outputs } else { 0 }, write);
            })
        };
        let device = x.device();
        if apart {
            let y = device.keep(y)?;
            return Ok((device.try_tensor_from_vec(activated, (rows, outputs))?, Kept::Before(y)));
        }
        let y = device.try_tensor_from_vec(y, (rows, outputs))?;
        let kept = if layer.after == Activation::Identity { Kept::Nothing } else { Kept::Output(y.clone()) };
        Ok((y, kept))
    }

    fn backward(
        &self,
        layer: &Affine<E, Cpu>,
        x: Rows<E, Cpu>,
        kept: Kept<E, Cpu>,
        mut dy: <Cpu as Storage<E>>::Vec,
        grads: &mut Gradients<E, Cpu>,
    ) -> Result<(), <Cpu as HasErr>::Err> {
        let (rows, inputs) = *x.shape();
        let outputs = layer.outputs.len();
        match kept {
            Kept::Nothing => {}
            Kept::Output(y) => scale_by_slopes(layer.after, &mut dy, &read(&y)),
            Kept::Before(z) => scale_by_slopes(layer.after, &mut dy, &z),
        }
        if let Some(bias) = &layer.bias {
            add_column_sums(&mut grads.get_or_alloc_mut(bias)?[layer.outputs.clone()], &dy);
        }
        let dy = Matrix::new(&dy, rows, outputs);
        let mut h = read(&x);
        let of_x = x.ghost();
        drop(x);
        {
            let weight = read(&layer.weight);
            let weight = Matrix::new(&weight[layer.used()], outputs, inputs);
            let dx = grads.get_or_alloc_mut(&of_x)?;
            if layer.before == Activation::Identity {
                Target::new(dx, rows, inputs).add(dy, weight, Threads::All);
            } else {
                let mut dh = vec![E::zero(); HELD.min(rows) * inputs];
                for (i, (dx, x)) in dx.chunks_mut(HELD * inputs).zip(h.chunks_mut(HELD * inputs)).enumerate() {
                    let dh = &mut dh[..dx.len()];
                    let count = dx.len() / inputs;
                    Target::new(dh, count, inputs).set(dy.rows(i * HELD, count), weight, Threads::All);
                    add_slopes_and_apply(layer.before, dx, dh, x);
                }
            }
        }
        let dw = grads.get_or_alloc_mut(&layer.weight)?;
        let dw = &mut dw[layer.used()];
        Target::new(dw, outputs, inputs).add(dy.transposed(), Matrix::new(&h, rows, inputs), Threads::All);
        Ok(())
    }
}

impl<E: Real, D: Device<E>> Affine<E, D> {
    /// The elements of the weight's used rows.
    fn used(&self) -> Range<usize> {
        let inputs = self.weight.shape().1;
        self.outputs.start * inputs..self.outputs.end * inputs
    }
}

/// The layer's output where the functions behind it are still to come.
fn finish<E: Scalar>(
    after: Activation,
    keep: bool,
    x: &Rows<E, Cpu>,
    outputs: usize,
    mut y: Vec<E>,
) -> Result<(Rows<E, Cpu>, Kept<E, Cpu>), <Cpu as HasErr>::Err>
where
    Cpu: HeapDevice<E>,
{
    let (device, shape) = (x.device(), (x.shape().0, outputs));
    if keep && after.needs_its_input() {
        let before = device.keep(y.clone())?;
        apply(after, &mut y);
        return Ok((device.try_tensor_from_vec(y, shape)?, Kept::Before(before)));
    }
    apply(after, &mut y);
    let y = device.try_tensor_from_vec(y, shape)?;
    let kept = if after == Activation::Identity { Kept::Nothing } else { Kept::Output(y.clone()) };
    Ok((y, kept))
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
