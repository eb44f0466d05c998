//! Images made larger.

use dfdx::{
    nn::{Module, NonMutableModule, ZeroSizedModule},
    shapes::Dim,
    tensor::{Gradients, Tape, Tensor},
};

use super::{
    Images,
    fused::{self, Buffer, Cheap, Link, Phase, Step, Steps, Wanted},
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
        Extent { height: input.height * self.scale, width: input.width * self.scale, ..input }
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
        wanted: Wanted<Buffer<E, D>>,
        _: &mut Gradients<E, D>,
    ) -> Result<Option<Buffer<E, D>>, D::Err> {
        onto(device, input, wanted, |dx| device.add_reduced(self.between, self.scale, input, &dy, dx))
    }
}

impl<E: Real, D: ResampleKernel<E>> Cheap<E, D> for Upsample {
    fn again(&self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        device.enlarged(self.between, self.scale, input, x)
    }
}
