//! Pools of images.

use dfdx::{
    nn::{Module, NonMutableModule, ZeroSizedModule},
    shapes::{Dim, HasShape, Shape},
    tensor::{Gradients, PutTape, Storage, Tape, Tensor},
    tensor_ops::Device,
};

use super::{
    Images,
    fused::{self, Buffer, Link, Phase, Step, Steps},
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
/// at most 15, `STRIDE` and `DILATION` are not 0, and `PADDING` is at most half of `K` is checked as the
/// program is compiled.
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
            assert!(2 * P <= K, "a MaxPool2d's padding is at most half of K");
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
            assert!(2 * P <= K, "an AvgPool2d's padding is at most half of K");
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
        sum: Option<Buffer<E, D>>,
        _: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err> {
        let places = self.places.take().expect("what the forward pass kept");
        onto(device, input, sum, |dx| device.add_to_largest(self.window, input, &places, &dy, dx))
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
        sum: Option<Buffer<E, D>>,
        _: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err> {
        onto(device, input, sum, |dx| device.add_shares(self.window, input, &dy, dx))
    }
}

/// `sum` or, where there is none, zeros, which `add` has added a gradient to.
pub(super) fn onto<E: Real, D: Device<E>>(
    device: &D,
    input: Extent,
    sum: Option<Buffer<E, D>>,
    add: impl FnOnce(&mut Buffer<E, D>),
) -> Result<Buffer<E, D>, D::Err> {
    let mut dx = match sum {
        Some(sum) => sum,
        None => <D as Storage<E>>::try_alloc_len(device, input.elements())?,
    };
    add(&mut dx);
    Ok(dx)
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

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use crate::nn::{self, checks::*, *};

    type Input = Tensor<Rank4<2, 3, 7, 6>, f64, Cpu>;

    /// The same images, channels last and channels first.
    fn both(dev: &Cpu) -> [Input; 2] {
        let x: Tensor<Rank4<2, 7, 6, 3>, f64, _> = dev.sample_normal();
        let last = x.permute::<Rank4<2, 3, 7, 6>, Axes4<0, 3, 1, 2>>();
        [last.clone(), last.contiguous()]
    }

    /// Each window's numbers in `[2, 3, 7, 6]`, `None` where they lie around the image.
    fn windows(x: &Input, [k, stride, padding, dilation]: [usize; 4]) -> (Vec<Vec<Option<f64>>>, usize, usize) {
        let count = |pixels: usize| (pixels + 2 * padding - dilation * (k - 1) - 1) / stride + 1;
        let mut all = Vec::new();
        for (image, channel) in (0..2).flat_map(|image| (0..3).map(move |channel| (image, channel))) {
            for (row, column) in (0..count(7)).flat_map(|row| (0..count(6)).map(move |column| (row, column))) {
                let at = |i: usize, j: usize| {
                    let row = (row * stride + i * dilation).checked_sub(padding).filter(|row| *row < 7)?;
                    let column = (column * stride + j * dilation).checked_sub(padding).filter(|column| *column < 6)?;
                    Some(x[[image, channel, row, column]])
                };
                all.push((0..k).flat_map(|i| (0..k).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect());
            }
        }
        (all, count(7), count(6))
    }

    fn check<L>(layer: L, dev: &Cpu, sizes: [usize; 4], of_window: impl Fn(&[Option<f64>]) -> f64)
    where
        L: Module<Input, Output = Tensor<(Const<2>, Const<3>, usize, usize), f64, Cpu>>
            + Module<
                Tensor<Rank4<2, 3, 7, 6>, f64, Cpu, OwnedTape<f64, Cpu>>,
                Output = Tensor<(Const<2>, Const<3>, usize, usize), f64, Cpu, OwnedTape<f64, Cpu>>,
            >,
    {
        let inputs = both(dev);
        for x in &inputs {
            let y = layer.forward(x.clone());
            let (windows, height, width) = windows(x, sizes);
            assert_eq!(y.shape(), &(Const, Const, height, width));
            near(&y.as_vec(), &windows.iter().map(|w| of_window(w)).collect::<Vec<_>>(), 1e-14);
            let target: Tensor<(Const<2>, Const<3>, usize, usize), f64, _> = dev.sample_normal_like(y.shape());
            agrees_with_differences(x, |x| {
                let y = Module::<Tensor<Rank4<2, 3, 7, 6>, f64, Cpu, OwnedTape<f64, Cpu>>>::forward(&layer, x);
                (y * target.clone()).square().sum()
            });
        }
    }

    fn largest(window: &[Option<f64>]) -> f64 {
        window.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    fn mean(window: &[Option<f64>]) -> f64 {
        window.iter().flatten().sum::<f64>() / window.len() as f64
    }

    #[test]
    fn pools_are_those_of_their_definition() {
        let dev = Cpu::seed_from_u64(1);
        check(nn::MaxPool2d::<2>, &dev, [2, 2, 0, 1], largest);
        check(nn::MaxPool2d::<3, 2, 1>, &dev, [3, 2, 1, 1], largest);
        check(nn::MaxPool2d::<3, 1, 1>, &dev, [3, 1, 1, 1], largest);
        check(nn::MaxPool2d::<2, 3>, &dev, [2, 3, 0, 1], largest);
        check(nn::MaxPool2d::<3, 1, 1, 2>, &dev, [3, 1, 1, 2], largest);
        check(nn::MaxPool2d::<1>, &dev, [1, 1, 0, 1], largest);
        check(nn::AvgPool2d::<2>, &dev, [2, 2, 0, 1], mean);
        check(nn::AvgPool2d::<3, 2, 1>, &dev, [3, 2, 1, 1], mean);
        check(nn::AvgPool2d::<4, 1, 2>, &dev, [4, 1, 2, 1], mean);
    }

    #[test]
    fn the_first_of_equal_numbers_gets_the_gradient_and_nan_is_the_largest() {
        let dev = Cpu::default();
        let low = f32::NEG_INFINITY;
        let x = dev.tensor([[
            [1.0, 1.0, low, low],
            [1.0, 0.0, low, low],
            [2.0, f32::NAN, 5.0, -1.0],
            [3.0, 1.0, 5.0, 6.0],
        ]]);
        let y = nn::MaxPool2d::<2>.forward(x.leaky_trace());
        let values = y.as_vec();
        assert_eq!((values[0], values[1], values[3]), (1.0, low, 6.0));
        assert!(values[2].is_nan());
        let gradient = y.sum().backward().get(&x).as_vec();
        assert_eq!(gradient, [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_window_may_miss_the_image() {
        let dev = Cpu::default();
        let x = dev.tensor([[[1.0]]]);
        let y = nn::MaxPool2d::<2, 1, 1, 2>.forward(x.leaky_trace());
        assert_eq!(y.as_vec(), [f64::NEG_INFINITY]);
        assert_eq!(y.sum().backward().get(&x).as_vec(), [0.0]);
    }

    #[test]
    fn the_global_mean_is_that_of_each_channel() {
        let dev = Cpu::seed_from_u64(2);
        for x in both(&dev) {
            let y: Tensor<Rank2<2, 3>, f64, _> = nn::GlobalAvgPool2d.forward(x.clone());
            near(&y.as_vec(), &x.clone().mean::<Rank2<2, 3>, Axes2<2, 3>>().as_vec(), 1e-14);
            let target: Tensor<Rank2<2, 3>, f64, _> = dev.sample_normal();
            agrees_with_differences(&x, |x| (nn::GlobalAvgPool2d.forward(x) * target.clone()).square().sum());
        }
        let y: Tensor<(usize,), f64, _> = nn::GlobalAvgPool2d.forward(dev.ones_like(&(5, Const::<2>, 3)));
        assert_eq!(y.as_vec(), [1.0; 5]);
        // More than a block of pixels, and a broadcast tensor.
        let x: Tensor<Rank4<1, 2, 20, 9>, f64, _> = dev.sample_normal();
        near(&nn::GlobalAvgPool2d.forward(x.clone()).as_vec(), &x.mean::<Rank2<1, 2>, Axes2<2, 3>>().as_vec(), 1e-14);
        let row: Tensor<Rank1<6>, f64, _> = dev.sample_normal();
        agrees_with_differences(&row, |row| {
            nn::GlobalAvgPool2d.forward(row.broadcast::<Rank4<2, 3, 7, 6>, _>()).square().sum()
        });
    }

    #[test]
    fn pools_stand_in_runs() {
        let dev = Cpu::seed_from_u64(3);
        let x = both(&dev)[0].clone();
        let run = Fused((nn::Relu, nn::MaxPool2d::<3, 2, 1>, nn::Silu, nn::AvgPool2d::<2>));
        let layers = (nn::Relu, nn::MaxPool2d::<3, 2, 1>, nn::Silu, nn::AvgPool2d::<2>);
        let (ours, theirs) = (run.forward(x.leaky_trace()), layers.forward(x.leaky_trace()));
        near(&ours.as_vec(), &theirs.as_vec(), 0.0);
        let (ours, theirs) = (ours.square().sum().backward(), theirs.square().sum().backward());
        near(&ours.get(&x).as_vec(), &theirs.get(&x).as_vec(), 1e-14);
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(4);
        let x: Tensor<Rank4<3, 5, 61, 53>, f32, _> = dev.sample_normal();
        same_bits_for_any_threads(|| {
            let y = nn::MaxPool2d::<3, 2, 1>.forward(x.leaky_trace());
            let y = nn::AvgPool2d::<3, 1, 1>.forward(y);
            let mut out = vec![y.as_vec()];
            let y = nn::GlobalAvgPool2d.forward(y);
            out.push(y.as_vec());
            out.push(y.square().sum().backward().get(&x).as_vec());
            out
        });
    }

    #[test]
    fn errors_name_the_layer_and_the_numbers() {
        let dev = Cpu::default();
        let x = |h: usize, w: usize| -> Tensor<(usize, usize, usize, usize), f32, _> { dev.ones_like(&(2, 3, h, w)) };
        let message = panic_of(|| nn::MaxPool2d::<5, 2, 1>.forward(x(8, 2)));
        assert_eq!(
            message,
            "MaxPool2d's window of 5 pixels with dilation 1 is larger than its input with 1 around: [2, 3, 8, 2]"
        );
        let message = panic_of(|| nn::AvgPool2d::<3>.forward(x(2, 8)));
        assert_eq!(
            message,
            "AvgPool2d's window of 3 pixels with dilation 1 is larger than its input with 0 around: [2, 3, 2, 8]"
        );
        let message = panic_of(|| nn::GlobalAvgPool2d.forward(x(0, 8)));
        assert_eq!(message, "GlobalAvgPool2d cannot run on nothing: its input is [2, 3, 0, 8]");
    }
}
