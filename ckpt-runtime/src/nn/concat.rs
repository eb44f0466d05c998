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
    let output = joined(layer, scale, [of_a, of_b], A::BATCHED == B::BATCHED);
    let device = a.device().clone();
    let (a, tape_a, layout_of_a) = fused::laid_out(a, of_a)?;
    let (b, tape_b, layout_of_b) = fused::laid_out(b, of_b)?;
    let mut tape = tape_a.merge(tape_b);
    let y = {
        let (a, b) = (device.take_in(&a, of_a, layout_of_a)?, device.take_in(&b, of_b, layout_of_b)?);
        device.concatenated(scale, of_b, &a, &b)?
    };
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

/// The extent of two images behind one another, the first one enlarged by `scale`.
///
/// # Panics
/// Where they do not fit one another, or one is empty.
pub(super) fn joined(layer: &str, scale: usize, [of_a, of_b]: [Extent; 2], both_batched: bool) -> Extent {
    assert!(both_batched, "{layer} takes both images with a batch, or both without");
    let larger = |side: usize| side.saturating_mul(scale);
    let (height, width) = (larger(of_a.height), larger(of_a.width));
    assert!(
        Extent { height, width, channels: of_b.channels, ..of_a } == of_b,
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
    Extent { channels: of_a.channels + of_b.channels, ..of_b }
}

/// Where the gradient of one of the two goes.
pub(super) struct Operand<E: Real, D: Device<E>> {
    pub(super) gradient: GradientHandle<E, D>,
    pub(super) extent: Extent,
    pub(super) layout: Layout,
}

impl<E: Real, D: ImageBuffers<E>> Operand<E, D> {
    /// Lets `add` add to it, channels last.
    pub(super) fn add(
        &self,
        device: &D,
        grads: &mut Gradients<E, D>,
        add: impl FnOnce(&mut Buffer<E, D>),
    ) -> Result<(), D::Err> {
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

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use super::concat_channels;
    use crate::nn::{self, checks::*};

    type First = Tensor<Rank4<2, 3, 2, 3>, f64, Cpu>;
    type Second = Tensor<Rank4<2, 2, 2, 3>, f64, Cpu>;

    /// Images in every pair of layouts.
    fn pairs(dev: &Cpu) -> Vec<(First, Second)> {
        let a: Tensor<Rank4<2, 2, 3, 3>, f64, _> = dev.sample_normal();
        let b: Tensor<Rank4<2, 2, 3, 2>, f64, _> = dev.sample_normal();
        let a = a.permute::<Rank4<2, 3, 2, 3>, Axes4<0, 3, 1, 2>>();
        let b = b.permute::<Rank4<2, 2, 2, 3>, Axes4<0, 3, 1, 2>>();
        let (c, d) = (a.clone().contiguous(), b.clone().contiguous());
        vec![(a.clone(), b.clone()), (a, d.clone()), (c.clone(), b), (c, d)]
    }

    #[test]
    fn channels_stand_behind_one_another() {
        let dev = Cpu::seed_from_u64(1);
        let target: Tensor<(Const<2>, usize, usize, usize), f64, _> = dev.sample_normal_like(&(Const, 5, 2, 3));
        for (a, b) in pairs(&dev) {
            let y = concat_channels(a.clone(), b.clone());
            assert_eq!(y.shape(), &(Const, 5, 2, 3));
            let (values, first, second) = (y.as_vec(), a.as_vec(), b.as_vec());
            assert_eq!([&values[..18], &values[30..48]], [&first[..18], &first[18..]]);
            assert_eq!([&values[18..30], &values[48..]], [&second[..12], &second[12..]]);
            let loss = |y: Tensor<_, f64, Cpu, OwnedTape<f64, Cpu>>| (y * target.clone()).square().sum();
            agrees_with_differences(&a, |a| loss(concat_channels(a, b.leaky_trace())));
            agrees_with_differences(&b, |b| loss(concat_channels(a.leaky_trace(), b)));
            agrees_with_differences(&a, |a| loss(concat_channels(a, b.clone())));
        }
    }

    #[test]
    fn both_may_be_one() {
        let dev = Cpu::seed_from_u64(2);
        for (x, _) in pairs(&dev) {
            agrees_with_differences(&x, |x| concat_channels(x.with_empty_tape(), x).powi(3).sum());
        }
    }

    #[test]
    fn enlarging_in_the_same_pass_is_the_two_in_turn() {
        let dev = Cpu::seed_from_u64(3);
        let b: Tensor<Rank4<2, 4, 4, 6>, f64, _> = dev.sample_normal();
        for (a, _) in pairs(&dev) {
            let ours = nn::UpsampleConcat2d::<2>.forward((a.leaky_trace(), b.leaky_trace()));
            let up = nn::UpsampleNearest2d::<2>.forward(a.leaky_trace());
            let theirs = concat_channels(up, b.leaky_trace());
            assert_eq!(ours.shape(), &(Const, 7, 4, 6));
            near(&ours.as_vec(), &theirs.as_vec(), 0.0);
            let (ours, theirs) = (ours.powi(3).sum().backward(), theirs.powi(3).sum().backward());
            near(&ours.get(&a).as_vec(), &theirs.get(&a).as_vec(), 1e-14);
            near(&ours.get(&b).as_vec(), &theirs.get(&b).as_vec(), 1e-14);
        }
    }

    #[test]
    fn images_need_no_batch() {
        let dev = Cpu::default();
        let (a, b): (Tensor<Rank3<1, 1, 2>, f32, _>, Tensor<Rank3<2, 1, 2>, f32, _>) = (dev.ones(), dev.zeros());
        let y: Tensor<(usize, usize, usize), f32, _> = concat_channels(a, b);
        assert_eq!(y.as_vec(), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(4);
        let a: Tensor<Rank4<3, 5, 31, 23>, f32, _> = dev.sample_normal();
        let b: Tensor<Rank4<3, 7, 62, 46>, f32, _> = dev.sample_normal();
        same_bits_for_any_threads(|| {
            let y = nn::UpsampleConcat2d::<2>.forward((a.leaky_trace(), b.leaky_trace()));
            let out = y.as_vec();
            let g = y.square().sum().backward();
            vec![out, g.get(&a).as_vec(), g.get(&b).as_vec()]
        });
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let dev = Cpu::default();
        let x = |n: usize, c: usize, h: usize| -> Tensor<(usize, usize, usize, usize), f32, _> {
            dev.ones_like(&(n, c, h, 4))
        };
        let message = panic_of(|| concat_channels(x(2, 3, 4), x(2, 3, 5)));
        assert_eq!(message, "concat_channels cannot put [2, 3, 4, 4] and [2, 3, 5, 4] behind one another");
        let message = panic_of(|| nn::UpsampleConcat2d::<2>.forward((x(2, 3, 4), x(2, 3, 8))));
        assert_eq!(
            message,
            "UpsampleConcat2d cannot put [2, 3, 4, 4] and [2, 3, 8, 4] behind one another, the first one enlarged by 2"
        );
        let message = panic_of(|| concat_channels(x(2, 0, 4), x(2, 3, 4)));
        assert_eq!(message, "concat_channels cannot run on nothing: its inputs are [2, 0, 4, 4] and [2, 3, 4, 4]");
    }
}
