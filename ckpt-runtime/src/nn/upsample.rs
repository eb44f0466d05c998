//! Images made larger.

use dfdx::{
    nn::{Module, NonMutableModule, ZeroSizedModule},
    shapes::Dim,
    tensor::{Gradients, Tape, Tensor},
};

use super::{
    Images,
    fused::{self, Buffer, Cheap, Link, Phase, Step, Steps},
    pool::onto,
};
use crate::{
    Real, ReplaySafe, Stateless,
    kernels::{Between, Extent, ResampleKernel},
};

/// Each pixel `SCALE` times in both directions: `torch.nn.Upsample(scale_factor=SCALE)`, whose
/// default mode is the nearest pixel.
///
/// Keeps nothing.
///
/// # Shapes
/// `[channels, height, width]` or `[batch, channels, height, width]`, to the same with `SCALE` times
/// the height and width, as `usize`s.
///
/// # Panics
/// Where a dimension is 0. That `SCALE` is not is checked as the program is compiled.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let x: Tensor<Rank3<1, 1, 2>, f32, _> = dev.tensor([[[1.0, 2.0]]]);
/// assert_eq!(nn::UpsampleNearest2d::<2>.forward(x).as_vec(), [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpsampleNearest2d<const SCALE: usize>;

/// `SCALE` times as many pixels in both directions, each mixed of the four around it:
/// `torch.nn.Upsample(scale_factor=SCALE, mode="bilinear")`.
///
/// Pixels are areas, so that the image's outer edges stay where they are: `align_corners=False`, the
/// default of `Upsample` and `interpolate`. (`torch.nn.UpsamplingBilinear2d` aligns the middles of the
/// corner pixels, which is another function.)
///
/// Keeps nothing.
///
/// # Shapes
/// `[channels, height, width]` or `[batch, channels, height, width]`, to the same with `SCALE` times
/// the height and width, as `usize`s.
///
/// # Panics
/// Where a dimension is 0. That `SCALE` is not is checked as the program is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpsampleBilinear2d<const SCALE: usize>;

macro_rules! layer {
    ($($Layer:ident $between:ident;)*) => { $(
        impl<const SCALE: usize> ReplaySafe for $Layer<SCALE> {}
        impl<const SCALE: usize> Stateless for $Layer<SCALE> {}
        impl<const SCALE: usize> ZeroSizedModule for $Layer<SCALE> {}
        impl<const SCALE: usize> NonMutableModule for $Layer<SCALE> {}

        impl<const SCALE: usize, C: Dim, E: Real, D: ResampleKernel<E>> Link<C, E, D> for $Layer<SCALE> {
            type Out = C;

            fn steps(&self, _: Phase, steps: &mut Steps<E, D>) {
                const { assert!(SCALE > 0, "an image is enlarged by 1 at least") };
                steps.push(Upsample { between: Between::$between, scale: SCALE });
            }
        }

        impl<const SCALE: usize, S: Images, E: Real, D: ResampleKernel<E>, T: Tape<E, D>> Module<Tensor<S, E, D, T>>
            for $Layer<SCALE>
        {
            type Output = Tensor<S::With<S::Channels>, E, D, T>;
            type Error = D::Err;

            fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
                fused::apply(stringify!($Layer), self, x)
            }
        }
    )* };
}
layer! { UpsampleNearest2d Nearest; UpsampleBilinear2d Linear; }

/// Enlarging as an operation of a run.
struct Upsample {
    between: Between,
    scale: usize,
}

impl<E: Real, D: ResampleKernel<E>> Step<E, D> for Upsample {
    fn output(&self, input: Extent) -> Extent {
        let larger = |side: usize| side.saturating_mul(self.scale);
        Extent { height: larger(input.height), width: larger(input.width), ..input }
    }

    fn reads_input(&self) -> bool {
        false
    }

    fn cheap(&self) -> Option<&dyn Cheap<E, D>> {
        Some(self)
    }

    fn forward(&mut self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        device.enlarged(self.between, self.scale, input, x)
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
        onto(device, input, sum, |dx| device.add_reduced(self.between, self.scale, input, &dy, dx))
    }
}

impl<E: Real, D: ResampleKernel<E>> Cheap<E, D> for Upsample {
    fn again(&self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        device.enlarged(self.between, self.scale, input, x)
    }
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use crate::nn::{self, checks::*, *};

    type Input = Tensor<Rank4<2, 3, 3, 4>, f64, Cpu>;
    type Output<T = NoneTape> = Tensor<(Const<2>, Const<3>, usize, usize), f64, Cpu, T>;

    fn check<L>(layer: L, scale: usize, between: impl Fn(&Input, [usize; 4]) -> f64)
    where
        L: Module<Input, Output = Output>
            + Module<Tensor<Rank4<2, 3, 3, 4>, f64, Cpu, OwnedTape<f64, Cpu>>, Output = Output<OwnedTape<f64, Cpu>>>,
    {
        let dev = Cpu::seed_from_u64(1);
        let x: Tensor<Rank4<2, 3, 4, 3>, f64, _> = dev.sample_normal();
        let last = x.permute::<Rank4<2, 3, 3, 4>, Axes4<0, 3, 1, 2>>();
        for x in [last.clone(), last.contiguous()] {
            let y = layer.forward(x.clone());
            assert_eq!(y.shape(), &(Const, Const, 3 * scale, 4 * scale));
            let values = y.as_vec();
            let columns = 4 * scale;
            for (i, v) in values.iter().enumerate() {
                let index = [
                    i / columns / (3 * scale) / 3,
                    i / columns / (3 * scale) % 3,
                    i / columns % (3 * scale),
                    i % columns,
                ];
                near(&[*v], &[between(&x, index)], 1e-14);
            }
            let target: Output = dev.sample_normal_like(y.shape());
            agrees_with_differences(&x, |x| {
                let y = Module::<Tensor<Rank4<2, 3, 3, 4>, f64, Cpu, OwnedTape<f64, Cpu>>>::forward(&layer, x);
                (y * target.clone()).square().sum()
            });
        }
    }

    fn nearest(scale: usize) -> impl Fn(&Input, [usize; 4]) -> f64 {
        move |x, [image, channel, row, column]| x[[image, channel, row / scale, column / scale]]
    }

    /// The sum over all pixels of the product of two triangles.
    fn mixed(scale: usize) -> impl Fn(&Input, [usize; 4]) -> f64 {
        move |x, [image, channel, row, column]| {
            let place = |i: usize, n: usize| (((i as f64 + 0.5) / scale as f64) - 0.5).clamp(0.0, (n - 1) as f64);
            let (row, column) = (place(row, 3), place(column, 4));
            let weight = |place: f64, pixel: usize| (1.0 - (place - pixel as f64).abs()).max(0.0);
            let pixels = (0..3).flat_map(|i| (0..4).map(move |j| (i, j)));
            pixels.map(|(i, j)| weight(row, i) * weight(column, j) * x[[image, channel, i, j]]).sum()
        }
    }

    #[test]
    fn enlarged_images_are_those_of_their_definition() {
        check(nn::UpsampleNearest2d::<1>, 1, nearest(1));
        check(nn::UpsampleNearest2d::<2>, 2, nearest(2));
        check(nn::UpsampleNearest2d::<3>, 3, nearest(3));
        check(nn::UpsampleBilinear2d::<1>, 1, mixed(1));
        check(nn::UpsampleBilinear2d::<2>, 2, mixed(2));
        check(nn::UpsampleBilinear2d::<3>, 3, mixed(3));
    }

    #[test]
    fn they_stand_in_runs_and_are_computed_again_there() {
        let dev = Cpu::seed_from_u64(2);
        let x: Input = dev.sample_normal();
        let layers = (nn::UpsampleBilinear2d::<2>, nn::Silu, nn::UpsampleNearest2d::<2>, nn::Gelu);
        let (ours, theirs) = (Fused(layers).forward(x.leaky_trace()), layers.forward(x.leaky_trace()));
        near(&ours.as_vec(), &theirs.as_vec(), 0.0);
        let (ours, theirs) = (ours.square().sum().backward(), theirs.square().sum().backward());
        near(&ours.get(&x).as_vec(), &theirs.get(&x).as_vec(), 1e-13);
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(3);
        let x: Tensor<Rank4<3, 5, 31, 23>, f32, _> = dev.sample_normal();
        same_bits_for_any_threads(|| {
            let y = nn::UpsampleBilinear2d::<3>.forward(nn::UpsampleNearest2d::<2>.forward(x.leaky_trace()));
            vec![y.as_vec(), y.square().sum().backward().get(&x).as_vec()]
        });
    }

    #[test]
    fn nothing_is_not_enlarged() {
        let dev = Cpu::default();
        let message =
            panic_of(|| nn::UpsampleNearest2d::<2>.forward(dev.ones_like(&(2, 0, 3, 3)) as Tensor<_, f32, _>));
        assert_eq!(message, "UpsampleNearest2d cannot run on nothing: its input is [2, 0, 3, 3]");
    }
}
