//! Shapes of images.

use dfdx::{
    shapes::{Axes3, Axes4, Dim, Shape},
    tensor::{Storage, Tensor},
    tensor_ops::PermuteTo,
};

use crate::{
    Real,
    kernels::{
        BatchNormKernel, ConcatKernel, ConvKernel, Extent, GroupNormKernel, ImageBuffers, JoinKernel, PoolKernel,
        ResampleKernel,
    },
};

/// A shape of images: `[channels, height, width]`, or `[batch, channels, height, width]`, each
/// dimension a constant or known as the program runs.
#[diagnostic::on_unimplemented(
    message = "an image layer does not take a tensor of shape `{Self}`",
    label = "images are `[channels, height, width]` or `[batch, channels, height, width]`"
)]
pub trait Images: Shape {
    /// The channels.
    type Channels: Dim;
    /// The shape with other channels, and a height and width known as the program runs.
    type With<C: Dim>: Images<Channels = C>;

    #[doc(hidden)]
    fn extent(&self) -> Extent;

    /// Whether the shape counts the images.
    #[doc(hidden)]
    const BATCHED: bool;

    /// A tensor of images from a buffer that lies channels last; `None` where a constant of the
    /// shape is not what the extent says.
    #[doc(hidden)]
    fn tensor<E: Real, D: ImageBuffers<E>>(
        device: &D,
        values: <D as Storage<E>>::Vec,
        extent: Extent,
    ) -> Option<Result<Tensor<Self, E, D>, D::Err>>;
}

impl<C: Dim, H: Dim, W: Dim> Images for (C, H, W) {
    type Channels = C;
    type With<O: Dim> = (O, usize, usize);
    const BATCHED: bool = false;

    fn extent(&self) -> Extent {
        Extent { images: 1, height: self.1.size(), width: self.2.size(), channels: self.0.size() }
    }

    fn tensor<E: Real, D: ImageBuffers<E>>(
        device: &D,
        values: <D as Storage<E>>::Vec,
        extent: Extent,
    ) -> Option<Result<Tensor<Self, E, D>, D::Err>> {
        let last = (H::from_size(extent.height)?, W::from_size(extent.width)?, C::from_size(extent.channels)?);
        Some(device.give_out(values, last).and_then(PermuteTo::try_permute::<_, Axes3<2, 0, 1>>))
    }
}

impl<B: Dim, C: Dim, H: Dim, W: Dim> Images for (B, C, H, W) {
    type Channels = C;
    type With<O: Dim> = (B, O, usize, usize);
    const BATCHED: bool = true;

    fn extent(&self) -> Extent {
        Extent { images: self.0.size(), height: self.2.size(), width: self.3.size(), channels: self.1.size() }
    }

    fn tensor<E: Real, D: ImageBuffers<E>>(
        device: &D,
        values: <D as Storage<E>>::Vec,
        extent: Extent,
    ) -> Option<Result<Tensor<Self, E, D>, D::Err>> {
        let last = (
            B::from_size(extent.images)?,
            H::from_size(extent.height)?,
            W::from_size(extent.width)?,
            C::from_size(extent.channels)?,
        );
        Some(device.give_out(values, last).and_then(PermuteTo::try_permute::<_, Axes4<0, 3, 1, 2>>))
    }
}

/// A device with all kernels of the image layers: what a function or an impl that is generic over
/// its device asks for. dfdx's `Cpu` is one in `f32` and `f64`.
///
/// ```
/// use ckpt_runtime::{Real, nn, prelude::*};
/// type Images<E, D> = Tensor<Rank4<2, 3, 8, 8>, E, D>;
///
/// fn mean<E: Real, D: nn::ImageDevice<E>>(x: Images<E, D>) -> Tensor<Rank2<2, 3>, E, D> {
///     nn::GlobalAvgPool2d.forward(x)
/// }
/// # let dev: Cpu = Default::default();
/// # let x: Images<f32, _> = dev.ones();
/// # assert_eq!(mean(x).array(), [[1.0; 3]; 2]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no image layer runs on this device with this dtype",
    note = "dfdx has no convolution on stable Rust; the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait ImageDevice<E: Real>:
    ConvKernel<E>
    + BatchNormKernel<E>
    + GroupNormKernel<E>
    + PoolKernel<E>
    + ResampleKernel<E>
    + ConcatKernel<E>
    + JoinKernel<E>
{
}

impl<E: Real, D> ImageDevice<E> for D where
    D: ConvKernel<E>
        + BatchNormKernel<E>
        + GroupNormKernel<E>
        + PoolKernel<E>
        + ResampleKernel<E>
        + ConcatKernel<E>
        + JoinKernel<E>
{
}
