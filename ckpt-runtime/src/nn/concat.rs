//! Two images behind one another along their channels.

use dfdx::{
    nn::{Module, NonMutableModule, ZeroSizedModule},
    shapes::HasShape,
    tensor::{Gradients, Merge, PutTape, Storage, Tape, Tensor},
    tensor_ops::Device,
};

use super::{
    Images,
    fused::{self, Buffer},
};
use crate::{
    GradientHandle, Real, ReplaySafe, Stateless,
    kernels::{ConcatKernel, Extent, ImageBuffers, Layout},
};

/// The channels of `a`, then those of `b`: `torch.cat((a, b), dim=1)`, as at a U-Net's skips.
///
/// Keeps neither.
///
/// # Shapes
/// `[A, height, width]` and `[B, height, width]` to `[A + B, height, width]`, or the same with a batch;
/// the output's channels, height and width are `usize`s, which every layer takes that has as many.
///
/// # Panics
/// Where the two differ in more than their channels, a dimension is 0, and on a device error.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let (a, b): (Tensor<Rank4<2, 3, 4, 4>, f32, _>, Tensor<Rank4<2, 5, 4, 4>, f32, _>) =
///     (dev.sample_normal(), dev.sample_normal());
/// let norm = dev.build_module::<nn::GroupNorm<2, 8>, f32>();
/// let y = norm.forward(nn::concat_channels(a, b));
/// assert_eq!(y.shape(), &(Const::<2>, 8, 4, 4));
/// ```
pub fn concat_channels<A: Images, B: Images, E: Real, D, T, R>(
    a: Tensor<A, E, D, T>,
    b: Tensor<B, E, D, R>,
) -> Tensor<A::With<usize>, E, D, T>
where
    D: ConcatKernel<E>,
    T: Tape<E, D> + Merge<R>,
    R: Tape<E, D>,
{
    try_concat_channels(a, b).expect("concat_channels")
}

/// [`concat_channels`], which see.
///
/// # Errors
/// The device's.
pub fn try_concat_channels<A: Images, B: Images, E: Real, D, T, R>(
    a: Tensor<A, E, D, T>,
    b: Tensor<B, E, D, R>,
) -> Result<Tensor<A::With<usize>, E, D, T>, D::Err>
where
    D: ConcatKernel<E>,
    T: Tape<E, D> + Merge<R>,
    R: Tape<E, D>,
{
    concat("concat_channels", 1, a, b)
}

/// `a`, each pixel `SCALE` times in both directions, and then the channels of `b`: what
/// [`UpsampleNearest2d`](super::UpsampleNearest2d) and [`concat_channels`] give in turn, without the
/// image between them. Takes the two as a tuple.
///
/// Keeps neither.
///
/// # Shapes
/// `([A, height, width], [B, SCALE height, SCALE width])` to `[A + B, SCALE height, SCALE width]`, or
/// the same with a batch; the output's channels, height and width are `usize`s.
///
/// # Panics
/// Where `b` is not `SCALE` times as high and wide as `a` or has another batch, or a dimension is 0.
/// That `SCALE` is not is checked as the program is compiled.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let (a, b): (Tensor<Rank4<2, 3, 4, 4>, f32, _>, Tensor<Rank4<2, 5, 8, 8>, f32, _>) =
///     (dev.sample_normal(), dev.sample_normal());
/// let y = nn::UpsampleConcat2d::<2>.forward((a, b));
/// assert_eq!(y.shape(), &(Const::<2>, 8, 8, 8));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpsampleConcat2d<const SCALE: usize>;

impl<const SCALE: usize> ReplaySafe for UpsampleConcat2d<SCALE> {}
impl<const SCALE: usize> Stateless for UpsampleConcat2d<SCALE> {}
impl<const SCALE: usize> ZeroSizedModule for UpsampleConcat2d<SCALE> {}
impl<const SCALE: usize> NonMutableModule for UpsampleConcat2d<SCALE> {}

impl<const SCALE: usize, A: Images, B: Images, E: Real, D, T, R> Module<(Tensor<A, E, D, T>, Tensor<B, E, D, R>)>
    for UpsampleConcat2d<SCALE>
where
    D: ConcatKernel<E>,
    T: Tape<E, D> + Merge<R>,
    R: Tape<E, D>,
{
    type Output = Tensor<A::With<usize>, E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, (a, b): (Tensor<A, E, D, T>, Tensor<B, E, D, R>)) -> Result<Self::Output, D::Err> {
        const { assert!(SCALE > 0, "an image is enlarged by 1 at least") };
        concat("UpsampleConcat2d", SCALE, a, b)
    }
}

fn concat<A: Images, B: Images, E: Real, D, T, R>(
    layer: &str,
    scale: usize,
    a: Tensor<A, E, D, T>,
    b: Tensor<B, E, D, R>,
) -> Result<Tensor<A::With<usize>, E, D, T>, D::Err>
where
    D: ConcatKernel<E>,
    T: Tape<E, D> + Merge<R>,
    R: Tape<E, D>,
{
    let (of_a, of_b) = (a.shape().extent(), b.shape().extent());
    let fitting = Extent { height: scale * of_a.height, width: scale * of_a.width, channels: of_b.channels, ..of_a };
    assert!(
        fitting == of_b && A::BATCHED == B::BATCHED,
        "{layer} cannot put {:?} and {:?} behind one another{}",
        of_a.dims(),
        of_b.dims(),
        if scale == 1 { String::new() } else { format!(", the first one enlarged by {scale}") }
    );
    assert!(
        of_a.elements() > 0 && of_b.elements() > 0,
        "{layer} cannot run on nothing: its inputs are {:?} and {:?}",
        of_a.dims(),
        of_b.dims()
    );
    let device = a.device().clone();
    let (a, tape_a, layout_of_a) = fused::laid_out(a, of_a)?;
    let (b, tape_b, layout_of_b) = fused::laid_out(b, of_b)?;
    let mut tape = tape_a.merge(tape_b);
    let y = {
        let (a, b) = (device.take_in(&a, of_a, layout_of_a)?, device.take_in(&b, of_b, layout_of_b)?);
        device.concatenated(scale, of_b, &a, &b)?
    };
    let output = Extent { channels: of_a.channels + of_b.channels, ..of_b };
    let y = <A::With<usize> as Images>::tensor(&device, y, output).expect("dimensions that both have")?;
    if T::OWNS_TAPE {
        let of_y = GradientHandle::of(&y);
        let a = Operand { gradient: GradientHandle::of(&a), extent: of_a, layout: layout_of_a };
        let b = Operand { gradient: GradientHandle::of(&b), extent: of_b, layout: layout_of_b };
        tape.add_backward_op(move |grads| {
            let dy = of_y.take(grads)?;
            // One after the other: both may be one tensor.
            a.add(&device, grads, |da| device.add_first(scale, of_b, &dy, da))?;
            b.add(&device, grads, |db| device.add_second(scale, of_b, &dy, db))
        });
    }
    Ok(y.put_tape(tape))
}

/// Where the gradient of one of the two goes.
struct Operand<E: Real, D: Device<E>> {
    gradient: GradientHandle<E, D>,
    extent: Extent,
    layout: Layout,
}

impl<E: Real, D: ImageBuffers<E>> Operand<E, D> {
    /// Lets `add` add to it, channels last.
    fn add(&self, device: &D, grads: &mut Gradients<E, D>, add: impl FnOnce(&mut Buffer<E, D>)) -> Result<(), D::Err> {
        let mut sum = self.gradient.take(grads)?;
        match self.layout {
            Layout::ChannelsLast => add(&mut sum),
            Layout::ChannelsFirst => {
                let mut dx = <D as Storage<E>>::try_alloc_len(device, self.extent.elements())?;
                add(&mut dx);
                device.add_channels_first(&mut sum, &dx, self.extent);
            }
        }
        self.gradient.put(grads, sum)
    }
}
