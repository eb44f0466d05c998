//! Buffers that are written once, without being zeroed first.
//!
//! Zeroing what is overwritten at once would cost a tenth of a training step.

use std::mem::MaybeUninit;

use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{CopySlice, Cpu, Tensor},
};

use super::scalar::Scalar;

/// A new buffer of `len` elements that `write` has filled.
///
/// # Safety
/// `write` must write every element.
pub(super) unsafe fn written<E: Scalar>(len: usize, write: impl FnOnce(&mut [MaybeUninit<E>])) -> Vec<E> {
    let mut buffer = Vec::with_capacity(len);
    write(&mut buffer.spare_capacity_mut()[..len]);
    // SAFETY: the capacity is at least `len`, and the caller says that all is written.
    unsafe { buffer.set_len(len) };
    buffer
}

/// Makes a buffer one of `len` elements that `write` has filled, in the memory that it has.
///
/// # Safety
/// `write` must write every element.
pub(super) unsafe fn rewritten<E: Scalar>(buffer: &mut Vec<E>, len: usize, write: impl FnOnce(&mut [MaybeUninit<E>])) {
    buffer.clear();
    buffer.reserve_exact(len);
    write(&mut buffer.spare_capacity_mut()[..len]);
    // SAFETY: the capacity is at least `len`, and the caller says that all is written.
    unsafe { buffer.set_len(len) };
}

/// A copy of a contiguous tensor's elements, in their order.
///
/// dfdx gives no access to a tensor's own buffer, so a kernel reads each input once through here.
///
/// # Panics
/// Where the tensor's buffer has not as many elements as its shape (it was broadcast).
pub(super) fn read<S: Shape, E: Scalar>(tensor: &Tensor<S, E, Cpu>) -> Vec<E>
where
    Cpu: CopySlice<E>,
{
    let len = tensor.shape().num_elements();
    // SAFETY: dfdx's `copy_into` for the `Cpu` is one `copy_from_slice` of `len` elements, which
    // panics where the lengths differ and writes all of them otherwise; it never reads from its
    // destination. (The workspace pins dfdx to the version that this was read in.) The slice is
    // non-null, aligned and inside of one allocation, as that of the same `MaybeUninit`s is.
    unsafe {
        written(len, |buffer| {
            tensor.copy_into(&mut *(std::ptr::from_mut(buffer) as *mut [E]));
        })
    }
}

/// Writes a copy of `from` to `to`.
#[inline(always)]
pub(super) fn write_copy<E: Scalar>(to: &mut [MaybeUninit<E>], from: &[E]) {
    assert_eq!(to.len(), from.len());
    for (to, from) in to.iter_mut().zip(from) {
        to.write(*from);
    }
}
