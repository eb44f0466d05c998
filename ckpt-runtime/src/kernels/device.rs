//! From a layer's device and dtype to the kernels for them.

use std::{any::Any, ops::DerefMut};

use dfdx::{
    tensor::{Cpu, HasErr, Storage, Tensor, TensorFromVec},
    tensor_ops::Device,
};

use super::{buffer::read, scalar::Scalar};
use crate::Real;

/// A tensor seen as rows of features, whatever its leading dimensions: contiguous and off the tape.
pub(crate) type Rows<E, D> = Tensor<(usize, usize), E, D>;

/// A parameter with an element a feature.
pub(crate) type Vector<E, D> = Tensor<(usize,), E, D>;

/// The kernels over slices on the heap. Implements every operation's trait for `f32` and `f64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heap;

/// dfdx's `Cpu` with a dtype of the kernels, whose buffers are `Vec`s.
pub(super) trait HeapDevice<E: Scalar>: Device<E> + Storage<E, Vec: DerefMut<Target = Vec<E>>> {
    /// The values as a buffer of the device, which kernels keep between their passes: unlike a
    /// tensor's, it can be read in place.
    fn keep(&self, values: Vec<E>) -> Result<<Self as Storage<E>>::Vec, Self::Err> {
        let mut buffer = <Self as Storage<E>>::try_alloc_len(self, 0)?;
        *buffer = values;
        Ok(buffer)
    }
}
impl HeapDevice<f32> for Cpu {}
impl HeapDevice<f64> for Cpu {}

/// Gives an operation's trait object a `find`: the device's kernels for the operation, or `None`
/// where a layer must be composed of dfdx's own operations. The device and dtype are compared as
/// types, so that layers and models need no bound beyond `D: Device<E>`.
macro_rules! kernels {
    ($Kernel:ident) => {
        impl<E: $crate::Real, D: dfdx::tensor_ops::Device<E>> dyn $Kernel<E, D> {
            /// The kernels of a device of this type for this dtype.
            pub(crate) fn find() -> Option<&'static Self> {
                use $crate::kernels::device::{Heap, same};
                let of_f32: &'static dyn $Kernel<f32, dfdx::tensor::Cpu> = &Heap;
                let of_f64: &'static dyn $Kernel<f64, dfdx::tensor::Cpu> = &Heap;
                same(of_f32).or_else(|| same(of_f64))
            }
        }
    };
}
pub(super) use kernels;

/// An input that others still need, or that nobody does: then its buffer may be written over.
#[derive(Debug)]
pub enum Lent<'a, B> {
    /// Others need it.
    Shared(&'a B),
    /// Nobody needs it any more.
    Owned(B),
}

impl<B> Lent<'_, B> {
    pub(crate) fn get(&self) -> &B {
        match self {
            Self::Shared(buffer) => buffer,
            Self::Owned(buffer) => buffer,
        }
    }
}

/// What a device has to move rows between tensors and buffers.
///
/// An operation of several kernels runs on buffers: what one gives, the next one reads in place.
pub(crate) trait BufferKernel<E: Real, D: Device<E>> {
    /// A copy of a tensor's elements.
    fn take_in(&self, x: &Rows<E, D>) -> Result<<D as Storage<E>>::Vec, D::Err>;
    /// A tensor that takes the buffer over.
    fn give_out(&self, device: &D, values: <D as Storage<E>>::Vec, shape: (usize, usize))
    -> Result<Rows<E, D>, D::Err>;
}
kernels!(BufferKernel);

impl<E: Scalar> BufferKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    fn take_in(&self, x: &Rows<E, Cpu>) -> Result<<Cpu as Storage<E>>::Vec, <Cpu as HasErr>::Err> {
        x.device().keep(read(x))
    }

    fn give_out(
        &self,
        device: &Cpu,
        mut values: <Cpu as Storage<E>>::Vec,
        shape: (usize, usize),
    ) -> Result<Rows<E, Cpu>, <Cpu as HasErr>::Err> {
        device.try_tensor_from_vec(std::mem::take(&mut *values), shape)
    }
}

/// `value`, where `A` and `B` are the same type.
pub(super) fn same<A: 'static, B: Copy + 'static>(value: A) -> Option<B> {
    (&value as &dyn Any).downcast_ref::<B>().copied()
}
