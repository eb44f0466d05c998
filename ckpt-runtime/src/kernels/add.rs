//! Sums of two tensors.

use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, HasErr, Storage, TensorFromVec},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    buffer::read,
    device::{Heap, HeapDevice, Vector, kernels},
    parts::piece,
    scalar::Scalar,
};
use crate::Real;

/// What a device has for sums.
pub(crate) trait AddKernel<E: Real, D: Device<E>> {
    /// `a + b`.
    fn forward(&self, a: &Vector<E, D>, b: &Vector<E, D>) -> Result<Vector<E, D>, D::Err>;
    /// `to += from`.
    fn accumulate(&self, to: &mut <D as Storage<E>>::Vec, from: &<D as Storage<E>>::Vec);
}
kernels!(AddKernel);

impl<E: Scalar> AddKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    fn forward(&self, a: &Vector<E, Cpu>, b: &Vector<E, Cpu>) -> Result<Vector<E, Cpu>, <Cpu as HasErr>::Err> {
        let mut sum = read(a);
        add_to(&mut sum, &read(b));
        a.device().try_tensor_from_vec(sum, *a.shape())
    }

    fn accumulate(&self, to: &mut <Cpu as Storage<E>>::Vec, from: &<Cpu as Storage<E>>::Vec) {
        add_to(to, from);
    }
}

/// `to += from`, in parallel.
pub(super) fn add_to<E: Scalar>(to: &mut [E], from: &[E]) {
    let piece = piece(to.len());
    to.par_chunks_mut(piece).zip(from.par_chunks(piece)).for_each(|(to, from)| add_here(to, from));
}

vectorised! {
    /// `to += from`, on this thread.
    pub(super) fn add_here<E>(to: &mut [E], from: &[E]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to += *from;
        }
    }
}
