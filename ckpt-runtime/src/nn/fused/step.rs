//! One operation of a fused run.

use dfdx::{
    tensor::{Gradients, Storage},
    tensor_ops::Device,
};

use super::activate::Activate;
use crate::{
    Real,
    kernels::{ActivateKernel, Activation, Extent},
};

/// A buffer on the device: images one after another, each of them rows of pixels, each pixel its
/// channels.
pub(crate) type Buffer<E, D> = <D as Storage<E>>::Vec;

/// One operation on images, and what it must remember between its passes.
pub trait Step<E: Real, D: Device<E>>: 'static {
    /// The extent of its output.
    ///
    /// # Panics
    /// Where the input does not fit, with the layer's name and the numbers.
    fn output(&self, input: Extent) -> Extent;

    /// Whether the backward pass reads the input.
    fn reads_input(&self) -> bool {
        true
    }

    /// An operation that costs about as much as reading its output from memory: its output is
    /// computed again in the backward pass where somebody needs it, and never kept.
    fn cheap(&self) -> Option<&dyn Cheap<E, D>> {
        None
    }

    /// Takes a function of each element on as a part of this operation, where it can.
    fn absorb(&mut self, _: Activation) -> bool {
        false
    }

    /// Asks for sums of the products themselves, where the operation has a faster way.
    fn make_exact(&mut self) {}

    /// The output for `x`.
    ///
    /// # Errors
    /// The device's.
    fn forward(&mut self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err>;

    /// Adds the parameters' gradients, and gives the input's: added to `sum`, which is what others have
    /// given, where there is one. `x` is the input where the step [reads](Self::reads_input) it, `dy`
    /// the gradient of the output.
    ///
    /// # Errors
    /// The device's.
    fn backward(
        &mut self,
        device: &D,
        input: Extent,
        x: Option<&Buffer<E, D>>,
        dy: Buffer<E, D>,
        sum: Option<Buffer<E, D>>,
        grads: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err>;

    /// What a training pass has seen of its input's distribution, once: each channel's mean and
    /// variance, and of how many values.
    fn take_moments(&mut self) -> Option<Moments> {
        None
    }
}

/// See [`Step::cheap`].
pub trait Cheap<E: Real, D: Device<E>> {
    /// The output of the forward pass, to the bit.
    ///
    /// # Errors
    /// The device's.
    fn again(&self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err>;
}

/// The moments of a batch.
#[derive(Clone, Debug)]
pub struct Moments {
    /// Of each channel.
    pub mean: Vec<f64>,
    /// Of each channel: the mean of the squares around the mean.
    pub variance: Vec<f64>,
    /// Values a channel.
    pub count: usize,
}

/// Whether a pass will have a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It will: batch norm looks at the batch.
    Training,
    /// It will not: batch norm looks at its running statistics.
    Inference,
}

/// The operations of a run, as its layers list them.
pub struct Steps<E: Real, D: Device<E>> {
    pub(in crate::nn) list: Vec<Box<dyn Step<E, D>>>,
}

impl<E: Real, D: Device<E>> std::fmt::Debug for Steps<E, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steps").field("count", &self.list.len()).finish_non_exhaustive()
    }
}

impl<E: Real, D: Device<E>> Steps<E, D> {
    pub(super) fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// Adds an operation behind the others.
    pub fn push(&mut self, step: impl Step<E, D>) {
        self.list.push(Box::new(step));
    }

    /// Adds a function of each element: as a part of the operation before it, or as one of its own.
    pub fn activate(&mut self, function: Activation)
    where
        D: ActivateKernel<E>,
    {
        let absorbed = self.list.last_mut().is_some_and(|last| last.absorb(function));
        if !absorbed && function != Activation::Identity {
            self.push(Activate { function });
        }
    }
}
