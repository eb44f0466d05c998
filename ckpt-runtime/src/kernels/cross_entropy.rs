//! Cross-entropy from logits and the classes that are right.

use dfdx::{
    shapes::{HasShape, Rank0},
    tensor::{Cpu, HasErr, Storage, Tensor, TensorFromVec},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    buffer::read,
    device::{Heap, HeapDevice, Rows, kernels},
    lanes::{max, replace_and_sum},
    parts::{PARTS, piece, rows_of_part},
    scalar::{Scalar, exp},
};
use crate::Real;

/// What a device has for cross-entropy.
pub(crate) trait CrossEntropyKernel<E: Real, D: Device<E>> {
    /// The mean over rows of the negative log-likelihood of their targets, and its gradient by the
    /// logits.
    fn forward(
        &self,
        logits: &Rows<E, D>,
        targets: &Tensor<(usize,), usize, D>,
    ) -> Result<(Tensor<Rank0, E, D>, <D as Storage<E>>::Vec), D::Err>;

    /// Adds to `to` the gradient that the forward pass kept, times that of the loss.
    fn backward(&self, kept: &<D as Storage<E>>::Vec, dy: &<D as Storage<E>>::Vec, to: &mut <D as Storage<E>>::Vec);
}
kernels!(CrossEntropyKernel);

impl<E: Scalar> CrossEntropyKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    // The logits' copy becomes their gradient: the logits themselves need not be kept, and each
    // exponential is computed once.
    fn forward(
        &self,
        logits: &Rows<E, Cpu>,
        targets: &Tensor<(usize,), usize, Cpu>,
    ) -> Result<(Tensor<Rank0, E, Cpu>, <Cpu as Storage<E>>::Vec), <Cpu as HasErr>::Err> {
        let (rows, classes) = *logits.shape();
        let targets = targets.as_vec();
        if let Some(bad) = targets.iter().find(|t| **t >= classes) {
            panic!("cross_entropy: target {bad} with {classes} classes");
        }
        let mut values = read(logits);
        let part = rows_of_part(rows);
        // Summed in f64: thousands of rows would lose digits of an f32.
        let mut losses = [0.0; PARTS];
        values.par_chunks_mut(part * classes).zip(targets.par_chunks(part)).zip(losses.par_iter_mut()).for_each(
            |((values, targets), loss)| *loss = losses_to_gradients(values, targets, E::one() / E::of(rows as f64)),
        );
        let loss = E::of(losses.iter().sum::<f64>() / rows as f64);
        let device = logits.device();
        Ok((device.try_tensor_from_vec(vec![loss], ())?, device.keep(values)?))
    }

    fn backward(
        &self,
        kept: &<Cpu as Storage<E>>::Vec,
        dy: &<Cpu as Storage<E>>::Vec,
        to: &mut <Cpu as Storage<E>>::Vec,
    ) {
        let (dy, piece) = (dy[0], piece(kept.len()));
        to.par_chunks_mut(piece).zip(kept.par_chunks(piece)).for_each(|(to, kept)| add_times(to, kept, dy));
    }
}

vectorised! {
    /// The sum of the rows' losses; each row becomes its gradient, times `scale`.
    fn losses_to_gradients<E>(values: &mut [E], targets: &[usize], scale: E) -> f64 {
        let classes = values.len() / targets.len();
        let mut total = 0.0;
        for (row, target) in values.chunks_exact_mut(classes).zip(targets) {
            let largest = max(row);
            let right = row[*target];
            let norm = replace_and_sum(row, |v| exp::<E, FMA>(v - largest));
            total += (largest + norm.ln() - right).to_f64().unwrap_or(f64::NAN);
            let factor = scale / norm;
            for v in row.iter_mut() {
                *v *= factor;
            }
            row[*target] -= scale;
        }
        total
    }

    fn add_times<E>(to: &mut [E], from: &[E], factor: E) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.fma::<FMA>(factor, *to);
        }
    }
}
