//! The elements behind tensors of dfdx's `Cpu`, for layers that are generic over the device and
//! have a faster way on the heap.

use std::any::Any;

use dfdx::{
    tensor::{Cpu, Storage},
    tensor_ops::Device,
};

use crate::Real;

/// Whether a device's buffers are `Vec`s on the heap.
pub fn is_heap<D: 'static>(device: &D) -> bool {
    (device as &dyn Any).is::<Cpu>()
}

/// The elements of a buffer of dfdx's `Cpu`.
pub fn heap<E: Real, D: Device<E>>(buffer: &<D as Storage<E>>::Vec) -> &[E] {
    <dyn Any>::downcast_ref::<<Cpu as Storage<E>>::Vec>(buffer).expect("a buffer of the Cpu")
}

/// The elements of a buffer of dfdx's `Cpu`, to change.
pub fn heap_mut<E: Real, D: Device<E>>(buffer: &mut <D as Storage<E>>::Vec) -> &mut [E] {
    (buffer as &mut dyn Any).downcast_mut::<<Cpu as Storage<E>>::Vec>().expect("a buffer of the Cpu")
}
