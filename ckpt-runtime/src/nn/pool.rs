//! Pools of images.

use dfdx::{
    nn::{Module, NonMutableModule, ZeroSizedModule},
    shapes::{Dim, HasShape, Shape},
    tensor::{Gradients, PutTape, Storage, Tape, Tensor},
    tensor_ops::Device,
};

use super::{
    Images,
    fused::{self, Buffer, Link, Phase, Step, Steps, Wanted},
};
use crate::{
    GradientHandle, Real, ReplaySafe, Stateless,
    kernels::{Extent, PoolKernel, Window},
};

/// The largest number of each window of `K` × `K` pixels: `torch.nn.MaxPool2d`, whose defaults these
/// are: a window begins where the one before it ends, with nothing around the image.
///
/// Pixels around the image are smaller than any number; of equal numbers the first one gets the
/// gradient; NaN is larger than any number. PyTorch's `ceil_mode` there is not: what does not fill a
/// window at the right and lower edge is left out.
///
/// Keeps one byte an element of its output, and nothing else.
///
/// # Shapes
/// `[channels, height, width]` or `[batch, channels, height, width]`, to the same with
/// `(height + 2 PADDING - DILATION (K - 1) - 1) / STRIDE + 1` for the height, rounded down, the same
/// of the width, and both as `usize`s.
///
/// # Panics
/// Where a window is larger than the image with what is around it, or a dimension is 0. That `K` is
/// at most 15, `STRIDE` and `DILATION` are not 0, and `PADDING` is at most half of a window is checked
/// as the program is compiled.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let x: Tensor<Rank3<1, 2, 4>, f32, _> = dev.tensor([[[1.0, 2.0, 7.0, 5.0], [3.0, 4.0, 6.0, 8.0]]]);
/// let y = nn::MaxPool2d::<2>.forward(x);
/// assert_eq!(y.as_vec(), [4.0, 8.0]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaxPool2d<const K: usize, const STRIDE: usize = K, const PADDING: usize = 0, const DILATION: usize = 1>;

/// The mean of each window of `K` × `K` pixels: `torch.nn.AvgPool2d`, whose defaults these are.
///
/// Pixels around the image are zeros and count (`count_include_pad`). There is no `ceil_mode` and no
/// `divisor_override`.
///
/// Keeps nothing.
///
/// # Shapes
/// `[channels, height, width]` or `[batch, channels, height, width]`, to the same with
/// `(height + 2 PADDING - K) / STRIDE + 1` for the height, rounded down, the same of the width, and
/// both as `usize`s.
///
/// # Panics
/// Where a window is larger than the image with what is around it, or a dimension is 0. That `K` and
/// `STRIDE` are not 0 and `PADDING` is at most half of `K` is checked as the program is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AvgPool2d<const K: usize, const STRIDE: usize = K, const PADDING: usize = 0>;

/// The mean of each channel: `torch.nn.AdaptiveAvgPool2d(1)` and the `Flatten` behind it.
///
/// Keeps nothing.
///
/// # Shapes
/// `[channels, height, width]` to `[channels]`, `[batch, channels, height, width]` to
/// `[batch, channels]`.
///
/// # Panics
/// Where a dimension is 0.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let x: Tensor<Rank4<3, 5, 2, 2>, f32, _> = dev.sample_normal();
/// let y: Tensor<Rank2<3, 5>, f32, _> = nn::GlobalAvgPool2d.forward(x);
/// # let _ = y;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalAvgPool2d;

macro_rules! markers {
    ($([$($generics:tt)*] $Layer:ty;)*) => { $(
        impl<$($generics)*> ReplaySafe for $Layer {}
        impl<$($generics)*> Stateless for $Layer {}
        impl<$($generics)*> ZeroSizedModule for $Layer {}
        impl<$($generics)*> NonMutableModule for $Layer {}
    )* };
}
markers! {
    [const K: usize, const S: usize, const P: usize, const L: usize] MaxPool2d<K, S, P, L>;
    [const K: usize, const S: usize, const P: usize] AvgPool2d<K, S, P>;
    [] GlobalAvgPool2d;
}

macro_rules! windows {
    ([$($generics:tt)*] $name:ident $Layer:ty) => {
        impl<$($generics)*, S: Images, E: Real, D: PoolKernel<E>, T: Tape<E, D>> Module<Tensor<S, E, D, T>> for $Layer {
            type Output = Tensor<S::With<S::Channels>, E, D, T>;
            type Error = D::Err;

            fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
                fused::apply(stringify!($name), self, x)
            }
        }
    };
}
windows! { [const K: usize, const STRIDE: usize, const P: usize, const L: usize] MaxPool2d MaxPool2d<K, STRIDE, P, L> }
windows! { [const K: usize, const STRIDE: usize, const P: usize] AvgPool2d AvgPool2d<K, STRIDE, P> }

impl<const K: usize, const S: usize, const P: usize, const L: usize, C: Dim, E: Real, D: PoolKernel<E>> Link<C, E, D>
    for MaxPool2d<K, S, P, L>
{
    type Out = C;

    fn steps(&self, phase: Phase, steps: &mut Steps<E, D>) {
        const {
            assert!(K > 0 && K <= 15, "a MaxPool2d's window has from 1 to 15 pixels a side");
            assert!(S > 0 && L > 0, "a MaxPool2d's stride and dilation are not 0");
            assert!(2 * P <= (K - 1) * L + 1, "a MaxPool2d's padding is at most half of its window");
        }
        let window = Window { size: K, stride: S, padding: P, dilation: L };
        steps.push(MaxPool::<D::Places> { window, keep: phase == Phase::Training, places: None });
    }
}

impl<const K: usize, const S: usize, const P: usize, C: Dim, E: Real, D: PoolKernel<E>> Link<C, E, D>
    for AvgPool2d<K, S, P>
{
    type Out = C;

    fn steps(&self, _: Phase, steps: &mut Steps<E, D>) {
        const {
            assert!(K > 0 && S > 0, "an AvgPool2d's window and stride are not 0");
            assert!(2 * P <= K, "an AvgPool2d's padding is at most half of its window");
        }
        steps.push(AvgPool { window: Window { size: K, stride: S, padding: P, dilation: 1 } });
    }
}

/// The extent of a pool's output.
fn output(layer: &str, window: Window, input: Extent) -> Extent {
    window.output(input).unwrap_or_else(|| {
        let Window { size, padding, dilation, .. } = window;
        panic!(
            "{layer}'s window of {size} pixels with dilation {dilation} is larger than its input with {padding} around: {:?}",
            input.dims()
        )
    })
}

/// The largest numbers as an operation of a run.
struct MaxPool<P> {
    window: Window,
    keep: bool,
    /// Where they stood.
    places: Option<P>,
}

impl<E: Real, D: PoolKernel<E>> Step<E, D> for MaxPool<D::Places> {
    fn output(&self, input: Extent) -> Extent {
        output("MaxPool2d", self.window, input)
    }

    fn reads_input(&self) -> bool {
        false
    }

    fn forward(&mut self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        let (y, places) = device.largest(self.window, input, x, self.keep)?;
        self.places = places;
        Ok(y)
    }

    fn backward(
        &mut self,
        device: &D,
        input: Extent,
        _: Option<&Buffer<E, D>>,
        dy: Buffer<E, D>,
        wanted: Wanted<Buffer<E, D>>,
        _: &mut Gradients<E, D>,
    ) -> Result<Option<Buffer<E, D>>, D::Err> {
        let places = self.places.take().expect("what the forward pass kept");
        onto(device, input, wanted, |dx| device.add_to_largest(self.window, input, &places, &dy, dx))
    }
}

/// The means as an operation of a run.
struct AvgPool {
    window: Window,
}

impl<E: Real, D: PoolKernel<E>> Step<E, D> for AvgPool {
    fn output(&self, input: Extent) -> Extent {
        output("AvgPool2d", self.window, input)
    }

    fn reads_input(&self) -> bool {
        false
    }

    fn forward(&mut self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        device.means(self.window, input, x)
    }

    fn backward(
        &mut self,
        device: &D,
        input: Extent,
        _: Option<&Buffer<E, D>>,
        dy: Buffer<E, D>,
        wanted: Wanted<Buffer<E, D>>,
        _: &mut Gradients<E, D>,
    ) -> Result<Option<Buffer<E, D>>, D::Err> {
        onto(device, input, wanted, |dx| device.add_shares(self.window, input, &dy, dx))
    }
}

/// What is wanted, which `add` adds a gradient to.
pub(super) fn onto<E: Real, D: Device<E>>(
    device: &D,
    input: Extent,
    wanted: Wanted<Buffer<E, D>>,
    add: impl FnOnce(&mut Buffer<E, D>),
) -> Result<Option<Buffer<E, D>>, D::Err> {
    let mut dx = match wanted {
        Wanted::Nothing => return Ok(None),
        Wanted::New => <D as Storage<E>>::try_alloc_len(device, input.elements())?,
        Wanted::AddedTo(dx) => dx,
    };
    add(&mut dx);
    Ok(Some(dx))
}

macro_rules! global {
    ($(($($Batch:ident)?) $shape:expr;)*) => { $(
        impl<$($Batch: Dim,)? C: Dim, H: Dim, W: Dim, E: Real, D: PoolKernel<E>, T: Tape<E, D>>
            Module<Tensor<($($Batch,)? C, H, W), E, D, T>> for GlobalAvgPool2d
        {
            type Output = Tensor<($($Batch,)? C,), E, D, T>;
            type Error = D::Err;

            fn try_forward(&self, x: Tensor<($($Batch,)? C, H, W), E, D, T>) -> Result<Self::Output, D::Err> {
                let shape = *x.shape();
                channel_means(x, $shape(shape))
            }
        }
    )* };
}
global! {
    () |(c, _, _): (C, H, W)| (c,);
    (B) |(b, c, _, _): (B, C, H, W)| (b, c);
}

fn channel_means<S: Images, O: Shape, E: Real, D: PoolKernel<E>, T: Tape<E, D>>(
    x: Tensor<S, E, D, T>,
    to: O,
) -> Result<Tensor<O, E, D, T>, D::Err> {
    let extent = x.shape().extent();
    assert!(extent.elements() > 0, "GlobalAvgPool2d cannot run on nothing: its input is {:?}", extent.dims());
    let device = x.device().clone();
    let (x, mut tape, layout) = fused::laid_out(x, extent)?;
    let values = device.take_in(&x, extent, layout)?;
    let y = device.give_out(device.channel_means(extent, &values)?, to)?;
    if T::OWNS_TAPE {
        let (of_y, of_x) = (GradientHandle::of(&y), GradientHandle::of(&x));
        tape.add_backward_op(move |grads| {
            let dy = of_y.take(grads)?;
            let mut dx = of_x.take(grads)?;
            device.add_channel_shares(extent, layout, &dy, &mut dx);
            of_x.put(grads, dx)
        });
    }
    Ok(y.put_tape(tape))
}
