//! Dropout whose mask is replayed in a recompute and never stored.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, ScalarOptions, TensorCollection, ZeroSizedModule},
    shapes::{Dtype, HasShape, Shape},
    tensor::{NoneTape, OwnedTape, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::{Device, ReshapeTo, TryMul},
};

use crate::{
    Boundary, GradientHandle, Real, ReplaySafe, SharedTape, Stateless,
    context::Site,
    kernels::{BufferKernel, DropoutKernel, Mask},
    region, replay,
};

/// Zeroes each element with probability `p` in training and scales the others by `1 / (1 - p)`;
/// hands its input through in inference. `torch.nn.Dropout`; Srivastava et al. (2014).
///
/// Where dfdx's `Dropout` cannot be replayed, this one asks the [replay frame](crate) of the region
/// around it for its seed: one draw of the device's generator a call (none where `p` is 0), noted
/// at 8 bytes. The mask comes from a counter-based generator (Philox4x32-10): it is computed in
/// parallel, again in the backward pass, is the same for any number of threads, and takes no memory.
///
/// # Shapes
/// Any shape, to the same shape. But on `Cpu` in `f32` and `f64`, the mask is made on the host and
/// uploaded, in both passes.
///
/// # Panics
/// `forward_mut` panics where `p` is not in `[0, 1]`.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// type Model = Checkpoint<(Linear<4, 4>, nn::DropoutOneIn<2>)>;
/// let dev: Cpu = Default::default();
/// let mut model = dev.build_module::<Model, f32>();
/// let x: Tensor<Rank2<3, 4>, f32, _> = dev.ones();
/// let gradients = model.forward_mut(x.leaky_trace()).sum().backward();
/// # let _ = gradients.get(&x);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// The probability with which an element is zeroed.
    pub p: f64,
}

impl Default for Dropout {
    /// `p` is 0.5, as in dfdx.
    fn default() -> Self {
        Self { p: 0.5 }
    }
}

/// [`Dropout`] with the probability `1 / N`, as a type without a value to set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropoutOneIn<const N: usize>;

impl ReplaySafe for Dropout {}
impl Stateless for Dropout {}
impl<const N: usize> ReplaySafe for DropoutOneIn<N> {}
impl<const N: usize> Stateless for DropoutOneIn<N> {}
impl NonMutableModule for Dropout {}
impl<const N: usize> NonMutableModule for DropoutOneIn<N> {}
impl<const N: usize> ZeroSizedModule for DropoutOneIn<N> {}

impl<D: Device<E>, E: Dtype> BuildOnDevice<D, E> for Dropout {
    type Built = Self;
}

impl<E: Dtype, D: Device<E>> TensorCollection<E, D> for Dropout {
    type To<E2: Dtype, D2: Device<E2>> = Self;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self>, V::Err> {
        visitor.visit_fields(
            <Self as TensorCollection<E, D>>::scalar("p", |s| &s.p, |s| &mut s.p, ScalarOptions::from_default(0.5)),
            |p| Self { p },
        )
    }
}

impl<S: Shape, E: Real, D: Device<E>, T: DropoutTape<E, D>> Module<Tensor<S, E, D, T>> for Dropout {
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;
    fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
        T::dropout(x, self.p)
    }
}

impl<const N: usize, S: Shape, E: Real, D: Device<E>, T: DropoutTape<E, D>> Module<Tensor<S, E, D, T>>
    for DropoutOneIn<N>
{
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;
    fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
        T::dropout(x, 1.0 / N as f64)
    }
}

/// A tape that says whether dropout drops: it does where gradients are tracked.
pub trait DropoutTape<E: Real, D: Device<E>>: Sized {
    /// Applies it.
    ///
    /// # Errors
    /// The device's.
    fn dropout<S: Shape>(x: Tensor<S, E, D, Self>, p: f64) -> Result<Tensor<S, E, D, Self>, D::Err>;
}

impl<E: Real, D: Device<E>> DropoutTape<E, D> for NoneTape {
    fn dropout<S: Shape>(x: Tensor<S, E, D>, _: f64) -> Result<Tensor<S, E, D>, D::Err> {
        Ok(x)
    }
}

impl<E: Real, D: Device<E>> DropoutTape<E, D> for OwnedTape<E, D> {
    fn dropout<S: Shape>(x: Tensor<S, E, D, Self>, p: f64) -> Result<Tensor<S, E, D, Self>, D::Err> {
        drop_elements(x, p, &SharedTape::open())
    }
}

impl<E: Real, D: Device<E>> DropoutTape<E, D> for SharedTape<E, D> {
    fn dropout<S: Shape>(x: Tensor<S, E, D, Self>, p: f64) -> Result<Tensor<S, E, D, Self>, D::Err> {
        let (x, tape) = x.split_tape();
        drop_elements(x.put_tape(tape.clone()), p, &tape)
    }
}

/// Whether a probability of `p` drops anything.
///
/// # Panics
/// Where it is none.
pub(super) fn drops(p: f64) -> bool {
    assert!((0.0..=1.0).contains(&p), "dropout's probability must be in [0, 1], not {p}");
    p > 0.0
}

fn drop_elements<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    x: Tensor<S, E, D, T>,
    p: f64,
    tape: &SharedTape<E, D>,
) -> Result<Tensor<S, E, D, T>, D::Err>
where
    Tensor<S, E, D, T>: Boundary<E, D>,
{
    if !drops(p) {
        return Ok(x);
    }
    if let (Some(kernel), Some(buffers)) = (<dyn DropoutKernel<E, D>>::find(), <dyn BufferKernel<E, D>>::find()) {
        let mask = Mask { seed: replay::draw(x.device()), p };
        return masked(kernel, buffers, x, mask);
    }
    const SITE: Site = Site::new("Dropout");
    region(&SITE, tape, (), (x, p), |_, (), (x, p)| {
        let device = x.device().clone();
        let mask = Mask { seed: replay::draw(&device), p };
        let shape = *x.shape();
        let mut host = vec![E::ONE; shape.num_elements()];
        mask.apply(&mut host);
        x.try_mul(<D as TensorFromVec<E>>::try_tensor_from_vec(&device, host, shape)?)
    })
}

/// The operation by a kernel: one pass over the data each way, and only the seed on the tape.
fn masked<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    kernel: &'static dyn DropoutKernel<E, D>,
    buffers: &'static dyn BufferKernel<E, D>,
    x: Tensor<S, E, D, T>,
    mask: Mask,
) -> Result<Tensor<S, E, D, T>, D::Err> {
    // A permuted or broadcast input is laid out first, so that buffers run in step.
    let (x, mut tape) = x.try_contiguous()?.split_tape();
    let shape = *x.shape();
    let x = x.try_reshape_like(&(1, shape.num_elements()))?;
    let mut y = buffers.take_in(&x)?;
    kernel.apply(mask, &mut y);
    let y = buffers.give_out(x.device(), y, *x.shape())?;
    if T::OWNS_TAPE {
        let (gradient, input) = (GradientHandle::of(&y), x.ghost());
        tape.add_backward_op(move |grads| {
            let dy = gradient.take(grads)?;
            kernel.accumulate(mask, &dy, grads.get_or_alloc_mut(&input)?);
            Ok(())
        });
    }
    Ok(y.try_reshape_like(&shape)?.put_tape(tape))
}
