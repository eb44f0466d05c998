//! A function of each element, as an operation of a run.

use dfdx::{tensor::Gradients, tensor_ops::Device};

use super::{
    run::passed_on,
    step::{Buffer, Cheap, Step},
};
use crate::{
    Real,
    kernels::{ActivateKernel, Activation, Extent},
};

/// The function; keeps its input.
pub(super) struct Activate {
    pub(super) function: Activation,
}

impl<E: Real, D: Device<E> + ActivateKernel<E>> Step<E, D> for Activate {
    fn output(&self, input: Extent) -> Extent {
        input
    }

    fn cheap(&self) -> Option<&dyn Cheap<E, D>> {
        Some(self)
    }

    fn forward(&mut self, device: &D, _: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        device.activated(self.function, x)
    }

    fn backward(
        &mut self,
        device: &D,
        _: Extent,
        x: Option<&Buffer<E, D>>,
        mut dy: Buffer<E, D>,
        sum: Option<Buffer<E, D>>,
        _: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err> {
        let x = x.expect("the input of a function");
        device.times_slopes(self.function, x, &mut dy);
        Ok(passed_on(device, dy, sum))
    }
}

impl<E: Real, D: Device<E> + ActivateKernel<E>> Cheap<E, D> for Activate {
    fn again(&self, device: &D, _: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        device.activated(self.function, x)
    }
}
