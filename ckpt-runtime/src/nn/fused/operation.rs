//! From layers to an operation on the tape.

use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{Gradients, PutTape, SplitTape, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};

use super::{
    link::Through,
    run::Run,
    step::{Buffer, Moments, Phase, Steps},
};
use crate::{
    GradientHandle, Real,
    kernels::{Extent, ImageBuffers, Layout},
    nn::Images,
};

/// What a tape has between two tensors of images: buffers in, buffers out.
pub(super) trait Operation<E: Real, D: Device<E>>: 'static {
    /// The extent of its output.
    fn output(&self) -> Extent;

    /// Whether the backward pass needs its input.
    fn needs_input(&self) -> bool;

    /// The output for `x`; where `keep` says so, ready for a backward pass.
    fn forward(&mut self, device: &D, x: &Buffer<E, D>, keep: bool) -> Result<Buffer<E, D>, D::Err>;

    /// Adds the parameters' gradients, and gives the input's: added to `sum` where there is one.
    fn backward(
        &mut self,
        device: &D,
        x: Option<&Buffer<E, D>>,
        dy: Buffer<E, D>,
        sum: Option<Buffer<E, D>>,
        grads: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err>;

    /// What it has seen in a training pass, in the order of its layers.
    fn moments(&mut self) -> Vec<Moments>;
}

/// The extent of a layer's input.
///
/// # Panics
/// Where it is empty.
pub(super) fn extent_of<S: Images>(layer: &str, shape: &S) -> Extent {
    let extent = shape.extent();
    assert!(extent.elements() > 0, "{layer} cannot run on nothing: its input is {:?}", dims(shape));
    extent
}

fn dims<S: Shape>(shape: &S) -> Vec<usize> {
    shape.concrete().into_iter().collect()
}

/// The tensor, its tape, and how it lies: a broadcast one is laid out first.
pub(crate) fn laid_out<S: Images, E: Real, D: ImageBuffers<E>, T: Tape<E, D>>(
    x: Tensor<S, E, D, T>,
    extent: Extent,
) -> Result<(Tensor<S, E, D>, T, Layout), D::Err> {
    let (x, tape) = x.split_tape();
    if let Some(layout) = x.device().layout(&x, extent) {
        return Ok((x, tape, layout));
    }
    let (x, tape) = x.put_tape(tape).try_contiguous()?.split_tape();
    Ok((x, tape, Layout::ChannelsFirst))
}

/// Puts an operation on the tape: its output, and what it has seen where the tape is one.
///
/// # Panics
/// Where the output is not of shape `O`.
pub(super) fn operate<S: Images, O: Images, E: Real, D: ImageBuffers<E>, T: Tape<E, D>>(
    layer: &str,
    mut operation: impl Operation<E, D>,
    x: Tensor<S, E, D, T>,
) -> Result<(Tensor<O, E, D, T>, Vec<Moments>), D::Err> {
    let extent = x.shape().extent();
    let device = x.device().clone();
    let (x, mut tape, layout) = laid_out(x, extent)?;
    let y = {
        let values = device.take_in(&x, extent, layout)?;
        operation.forward(&device, &values, T::OWNS_TAPE)?
    };
    let output = operation.output();
    let y = O::tensor(&device, y, output);
    let y = y.unwrap_or_else(|| panic!("{layer} gives {output:?}, which is not the shape of its output"))?;
    let moments = operation.moments();
    if T::OWNS_TAPE {
        let (of_y, of_x) = (GradientHandle::of(&y), GradientHandle::of(&x));
        let x = operation.needs_input().then_some(x);
        tape.add_backward_op(move |grads| {
            let dy = of_y.take(grads)?;
            let values = x.as_ref().map(|x| device.take_in(x, extent, layout)).transpose()?;
            drop(x);
            match layout {
                Layout::ChannelsLast => {
                    let sum = Some(of_x.take(grads)?);
                    let dx = operation.backward(&device, values.as_ref(), dy, sum, grads)?;
                    of_x.put(grads, dx)?;
                }
                Layout::ChannelsFirst => {
                    let dx = operation.backward(&device, values.as_ref(), dy, None, grads)?;
                    drop(values);
                    let mut sum = of_x.take(grads)?;
                    device.add_channels_first(&mut sum, &dx, extent);
                    of_x.put(grads, sum)?;
                }
            }
            Ok(())
        });
    }
    Ok((y.put_tape(tape), moments))
}

/// Runs a layer that changes nothing in itself.
///
/// # Errors
/// The device's.
///
/// # Panics
/// Where the input does not fit.
pub(crate) fn apply<S: Through<L, E, D>, L, O: Images, E: Real, D: ImageBuffers<E>, T: Tape<E, D>>(
    name: &str,
    layer: &L,
    x: Tensor<S, E, D, T>,
) -> Result<Tensor<O, E, D, T>, D::Err> {
    let phase = if T::OWNS_TAPE { Phase::Training } else { Phase::Inference };
    let run = listed(name, layer, phase, x.shape());
    Ok(operate(name, run, x)?.0)
}

/// Runs a layer in training, and lets it learn from what it sees.
///
/// # Errors
/// The device's.
///
/// # Panics
/// Where the input does not fit.
pub(crate) fn train<S: Through<L, E, D>, L, O: Images, E: Real, D: ImageBuffers<E>, T: Tape<E, D>>(
    name: &str,
    layer: &mut L,
    x: Tensor<S, E, D, T>,
) -> Result<Tensor<O, E, D, T>, D::Err> {
    let run = listed(name, layer, Phase::Training, x.shape());
    let (y, moments) = operate(name, run, x)?;
    S::learn(layer, &mut moments.into_iter())?;
    Ok(y)
}

fn listed<S: Through<L, E, D>, L, E: Real, D: Device<E>>(name: &str, layer: &L, phase: Phase, shape: &S) -> Run<E, D> {
    let mut steps = Steps::new();
    S::steps(layer, phase, &mut steps);
    Run::new(steps, extent_of(name, shape))
}
