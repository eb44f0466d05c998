//! Moving gradient buffers between the outer gradient map and a region's own.
//!
//! A region's backward runs on a `Gradients` of its own, so that its temporaries are freed when it
//! ends. The buffers it shares with the outside, those of its parameters and inputs, are *moved* in
//! and back out: sums go on in the same buffer and in the same order as without a region, which is
//! what makes gradients equal to the bit. An empty buffer stands for "moved away". The same tensor
//! can be met twice (tied weights, one tensor as query, key and value), so an empty one is never
//! moved on top of a full one.

use dfdx::{
    shapes::{Dtype, HasShape, Shape},
    tensor::{Gradients, Storage, Tensor},
    tensor_ops::Device,
};

/// A gradient buffer on the device.
pub(crate) type Buffer<E, D> = <D as Storage<E>>::Vec;

/// Where a tensor's gradient lies, without the tensor's data.
///
/// dfdx's ghost type cannot be named outside of dfdx, so it lives in a closure.
pub struct GradientHandle<E: Dtype, D: Device<E>> {
    device: D,
    elements: usize,
    #[allow(clippy::type_complexity)]
    replace: Box<dyn Fn(&mut Gradients<E, D>, Buffer<E, D>) -> Result<Buffer<E, D>, D::Err>>,
}

impl<E: Dtype, D: Device<E>> std::fmt::Debug for GradientHandle<E, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GradientHandle").finish_non_exhaustive()
    }
}

impl<E: Dtype, D: Device<E>> GradientHandle<E, D> {
    /// The handle of `tensor`'s gradient.
    pub fn of<S: Shape, T>(tensor: &Tensor<S, E, D, T>) -> Self {
        let ghost = tensor.ghost();
        let replace =
            move |grads: &mut Gradients<E, D>, new| Ok(std::mem::replace(grads.get_or_alloc_mut(&ghost)?, new));
        Self { device: tensor.device().clone(), elements: tensor.shape().num_elements(), replace: Box::new(replace) }
    }

    /// How many elements the tensor has.
    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    /// Takes the gradient out, leaving an empty buffer; zeros where there was none yet.
    pub(crate) fn take(&self, from: &mut Gradients<E, D>) -> Result<Buffer<E, D>, D::Err> {
        (self.replace)(from, empty(&self.device)?)
    }

    /// Puts a gradient that was [taken](Self::take), unless it had been taken before.
    pub(crate) fn put(&self, to: &mut Gradients<E, D>, buffer: Buffer<E, D>) -> Result<(), D::Err> {
        if len(&self.device, &buffer) > 0 {
            (self.replace)(to, buffer)?;
        }
        Ok(())
    }

    /// Takes from one map and puts into another.
    pub(crate) fn migrate(&self, from: &mut Gradients<E, D>, to: &mut Gradients<E, D>) -> Result<(), D::Err> {
        self.put(to, self.take(from)?)
    }
}

/// Moves the gradient of one tensor; where it was moved away before, nothing happens.
pub(crate) fn migrate<S: Shape, E: Dtype, D: Device<E>>(
    tensor: &Tensor<S, E, D>,
    from: &mut Gradients<E, D>,
    to: &mut Gradients<E, D>,
) -> Result<(), D::Err> {
    let device = tensor.device();
    let source = from.get_or_alloc_mut(tensor)?;
    if len(device, source) == 0 {
        return Ok(());
    }
    std::mem::swap(source, to.get_or_alloc_mut(tensor)?);
    // On the way back the empty buffer that was left behind is what came over.
    if len(device, source) > 0 {
        *source = empty(device)?;
    }
    Ok(())
}

fn empty<E: Dtype, D: Device<E>>(device: &D) -> Result<Buffer<E, D>, D::Err> {
    <D as Storage<E>>::try_alloc_len(device, 0)
}

fn len<E: Dtype, D: Device<E>>(device: &D, buffer: &Buffer<E, D>) -> usize {
    <D as Storage<E>>::len(device, buffer)
}
