//! Rows of a table by their indices.

use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, HasErr, Storage, Tensor, TensorFromVec},
    tensor_ops::{Device, GatherTo},
};
use rayon::prelude::*;

use super::{
    add::add_here,
    buffer::{read, write_copy, written},
    device::{Heap, HeapDevice, Rows, kernels},
    parts::rows_of_part,
    scalar::Scalar,
};
use crate::Real;

/// What a device has for embeddings.
pub(crate) trait EmbeddingKernel<E: Real, D: Device<E>> {
    /// The rows of `table` at `indices`.
    fn forward(&self, table: &Rows<E, D>, indices: &Tensor<(usize,), usize, D>) -> Result<Rows<E, D>, D::Err>;

    /// Adds the gradients `dy` of those rows to the table's.
    fn backward(
        &self,
        indices: &Tensor<(usize,), usize, D>,
        dy: &<D as Storage<E>>::Vec,
        table: &mut <D as Storage<E>>::Vec,
    ) -> Result<(), D::Err>;
}
kernels!(EmbeddingKernel);

impl<E: Scalar> EmbeddingKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    fn forward(
        &self,
        table: &Rows<E, Cpu>,
        indices: &Tensor<(usize,), usize, Cpu>,
    ) -> Result<Rows<E, Cpu>, <Cpu as HasErr>::Err> {
        let (entries, width) = *table.shape();
        let wanted = indices.as_vec();
        if let Some(bad) = wanted.iter().find(|i| **i >= entries) {
            panic!("Embedding: index {bad} with {entries} entries");
        }
        // Reading a table means copying it. dfdx, which need not, copies element by element.
        if entries > 4 * wanted.len() {
            return table.clone().try_gather::<(usize, usize), _>(indices.clone());
        }
        let values = read(table);
        let part = rows_of_part(wanted.len());
        // SAFETY: the parts tile the output, a row for each index, and each row is copied whole.
        let y = unsafe {
            written(wanted.len() * width, |y| {
                y.par_chunks_mut(part * width).zip(wanted.par_chunks(part)).for_each(|(y, wanted)| {
                    for (y, i) in y.chunks_exact_mut(width).zip(wanted) {
                        write_copy(y, &values[i * width..][..width]);
                    }
                });
            })
        };
        table.device().try_tensor_from_vec(y, (wanted.len(), width))
    }

    // Each part of the table looks for its own among the indices, so that rows are added in the
    // order of the indices whoever does it.
    fn backward(
        &self,
        indices: &Tensor<(usize,), usize, Cpu>,
        dy: &<Cpu as Storage<E>>::Vec,
        table: &mut <Cpu as Storage<E>>::Vec,
    ) -> Result<(), <Cpu as HasErr>::Err> {
        let wanted = indices.as_vec();
        let width = dy.len() / wanted.len();
        let part = rows_of_part(table.len() / width);
        table.par_chunks_mut(part * width).enumerate().for_each(|(p, table)| {
            let own = p * part..p * part + table.len() / width;
            for (i, dy) in wanted.iter().zip(dy.chunks_exact(width)) {
                if own.contains(i) {
                    add_here(&mut table[(i - own.start) * width..][..width], dy);
                }
            }
        });
        Ok(())
    }
}
