//! Operations on rows of features: buffers in, buffers out, and one entry on the tape.

use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{Gradients, PutTape, SplitTape, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};

use crate::{
    GradientHandle, Real,
    gradients::Buffer,
    kernels::{BufferKernel, Lent, Rows},
};

/// What a tape has between two tensors of rows. Its kernels hand one another their buffers, which,
/// unlike a tensor's, are read in place.
pub trait RowOperation<E: Real, D: Device<E>>: 'static {
    /// The output for `x`; where `keep` says so, ready for a backward pass.
    ///
    /// # Errors
    /// The device's.
    fn forward(&mut self, x: Lent<'_, Buffer<E, D>>, keep: bool) -> Result<Buffer<E, D>, D::Err>;

    /// Shows the output to an operation whose backward pass reads it: as the tensor that others keep.
    fn see_output(&mut self, _: &Rows<E, D>) {}

    /// Adds the gradients of the parameters and of the input. `dy` is that of the output.
    ///
    /// # Errors
    /// The device's.
    fn backward(
        self: Box<Self>,
        input: &mut dyn Input<E, D>,
        dy: Buffer<E, D>,
        grads: &mut Gradients<E, D>,
    ) -> Result<(), D::Err>;
}

/// The input of an operation in its backward pass. An operation reads it as late as it can: until then
/// it does not lie in memory beside what the pass needs first.
pub trait Input<E: Real, D: Device<E>> {
    /// The values. To be called once.
    ///
    /// # Errors
    /// The device's.
    fn values(&mut self) -> Result<Buffer<E, D>, D::Err>;

    /// Takes the gradient out that the input has so far, to be added to and [put](Self::put) back.
    /// `None` where the operation's is the first and only one.
    ///
    /// Until it is back, no gradient of a parameter may be added that could be the input itself.
    ///
    /// # Errors
    /// The device's.
    fn sum(&mut self, grads: &mut Gradients<E, D>) -> Result<Option<Buffer<E, D>>, D::Err>;

    /// Puts the gradient back.
    ///
    /// # Errors
    /// The device's.
    fn put(&mut self, grads: &mut Gradients<E, D>, gradient: Buffer<E, D>) -> Result<(), D::Err>;
}

/// A tensor as an input, which it lets go of once it is read.
struct Kept<E: Real, D: Device<E>> {
    tensor: Option<Rows<E, D>>,
    gradient: GradientHandle<E, D>,
    buffers: &'static dyn BufferKernel<E, D>,
}

impl<E: Real, D: Device<E>> Input<E, D> for Kept<E, D> {
    fn values(&mut self) -> Result<Buffer<E, D>, D::Err> {
        self.buffers.take_in(&self.tensor.take().expect("values are read once"))
    }

    fn sum(&mut self, grads: &mut Gradients<E, D>) -> Result<Option<Buffer<E, D>>, D::Err> {
        self.gradient.take(grads).map(Some)
    }

    fn put(&mut self, grads: &mut Gradients<E, D>, gradient: Buffer<E, D>) -> Result<(), D::Err> {
        self.gradient.put(grads, gradient)
    }
}

/// Puts an operation from rows of `inputs` features to rows of `outputs` on the tape. The shape is one
/// that has been checked.
///
/// # Errors
/// The device's.
pub(super) fn operate<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    mut operation: Box<dyn RowOperation<E, D>>,
    buffers: &'static dyn BufferKernel<E, D>,
    x: Tensor<S, E, D, T>,
    [inputs, outputs]: [usize; 2],
) -> Result<Tensor<(usize, usize), E, D, T>, D::Err> {
    let rows = x.shape().num_elements() / inputs;
    let (x, mut tape) = x.try_reshape_like(&(rows, inputs))?.try_contiguous()?.split_tape();
    let y = operation.forward(Lent::Owned(buffers.take_in(&x)?), T::OWNS_TAPE)?;
    let y = buffers.give_out(x.device(), y, (rows, outputs))?;
    if T::OWNS_TAPE {
        operation.see_output(&y);
        let (of_y, of_x) = (GradientHandle::of(&y), GradientHandle::of(&x));
        tape.add_backward_op(move |grads| {
            let dy = of_y.take(grads)?;
            operation.backward(&mut Kept { tensor: Some(x), gradient: of_x, buffers }, dy, grads)
        });
    }
    Ok(y.put_tape(tape))
}
