//! Images in memory: channels last, whatever the tensor's shape says.
//!
//! A tensor of images has PyTorch's shape `[batch, channels, height, width]`. In memory ours are
//! `[batch, height, width, channels]`, which dfdx's strides can say (PyTorch's `channels_last`):
//! products over channels then run along memory. A tensor in the usual order is rearranged where
//! it enters the first of our layers.

use std::mem::MaybeUninit;

use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{Cpu, HasErr, Storage, Tensor, TensorFromVec},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    activation::{Activation, apply_to, scale_by_slopes},
    add::add_to,
    buffer::{read, written},
    device::HeapDevice,
    parts::piece,
    scalar::Scalar,
};
use crate::Real;

/// The extent of a batch of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Images in the batch.
    pub images: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Pixels a row.
    pub width: usize,
    /// Numbers a pixel.
    pub channels: usize,
}

impl Extent {
    /// Pixels of all images; the largest number where there are more.
    pub fn pixels(self) -> usize {
        self.images.saturating_mul(self.height).saturating_mul(self.width)
    }

    /// Numbers of all images; the largest number where there are more, which no buffer holds.
    pub fn elements(self) -> usize {
        self.pixels().saturating_mul(self.channels)
    }

    /// In the order of a tensor's shape.
    pub fn dims(self) -> [usize; 4] {
        [self.images, self.channels, self.height, self.width]
    }
}

/// How a tensor of images lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A pixel's channels behind one another.
    ChannelsLast,
    /// A channel's pixels behind one another: what dfdx calls contiguous.
    ChannelsFirst,
}

/// A device that keeps images in buffers of ours.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no image layer runs on this device with this dtype",
    note = "dfdx has no convolution on stable Rust; the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait ImageBuffers<E: Real>: ActivateKernel<E> {
    /// How the tensor lies; `None` where it is neither (a broadcast one, say), so that the caller
    /// must make it contiguous first.
    fn layout<S: Shape>(&self, x: &Tensor<S, E, Self>, extent: Extent) -> Option<Layout>;

    /// The tensor's values, channels last.
    ///
    /// # Errors
    /// The device's.
    fn take_in<S: Shape>(
        &self,
        x: &Tensor<S, E, Self>,
        extent: Extent,
        layout: Layout,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// A tensor of a channels-last shape that takes the buffer over.
    ///
    /// # Errors
    /// The device's.
    fn give_out<S: Shape>(
        &self,
        values: <Self as Storage<E>>::Vec,
        channels_last: S,
    ) -> Result<Tensor<S, E, Self>, Self::Err>;

    /// Adds a channels-last gradient to that of a tensor that lies channels first.
    fn add_channels_first(&self, to: &mut <Self as Storage<E>>::Vec, from: &<Self as Storage<E>>::Vec, extent: Extent);
}

/// Functions of each element, over buffers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no image layer runs on this device with this dtype",
    note = "the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait ActivateKernel<E: Real>: Device<E> {
    /// The function of each element.
    ///
    /// # Errors
    /// The device's.
    fn activated(&self, f: Activation, x: &<Self as Storage<E>>::Vec) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// Multiplies each element by the function's slope at `x`.
    fn times_slopes(&self, f: Activation, x: &<Self as Storage<E>>::Vec, dy: &mut <Self as Storage<E>>::Vec);

    /// `to += from`.
    fn add_to(&self, to: &mut <Self as Storage<E>>::Vec, from: &<Self as Storage<E>>::Vec);

    /// A copy.
    ///
    /// # Errors
    /// The device's.
    fn copied(&self, x: &<Self as Storage<E>>::Vec) -> Result<<Self as Storage<E>>::Vec, Self::Err>;
}

impl<E: Scalar> ImageBuffers<E> for Cpu
where
    Cpu: HeapDevice<E>,
{
    fn layout<S: Shape>(&self, x: &Tensor<S, E, Self>, extent: Extent) -> Option<Layout> {
        let Extent { height, width, channels, .. } = extent;
        let pixels = height * width;
        let is = |[image, channel, row, pixel]: [usize; 4]| {
            let expected = [image, channel, row, pixel];
            let behind = S::NUM_DIMS - 3;
            (0..S::NUM_DIMS).all(|axis| stride(x, axis).is_none_or(|stride| stride == expected[axis + 1 - behind]))
        };
        if is([pixels * channels, 1, width * channels, channels]) {
            Some(Layout::ChannelsLast)
        } else if is([pixels * channels, pixels, width, 1]) {
            Some(Layout::ChannelsFirst)
        } else {
            None
        }
    }

    fn take_in<S: Shape>(
        &self,
        x: &Tensor<S, E, Self>,
        extent: Extent,
        layout: Layout,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        let values = read(x);
        self.keep(match layout {
            Layout::ChannelsLast => values,
            Layout::ChannelsFirst => channels_last(&values, extent),
        })
    }

    fn give_out<S: Shape>(
        &self,
        mut values: <Self as Storage<E>>::Vec,
        channels_last: S,
    ) -> Result<Tensor<S, E, Self>, <Self as HasErr>::Err> {
        self.try_tensor_from_vec(std::mem::take(&mut *values), channels_last)
    }

    fn add_channels_first(&self, to: &mut <Self as Storage<E>>::Vec, from: &<Self as Storage<E>>::Vec, extent: Extent) {
        let (pixels, channels) = (extent.height * extent.width, extent.channels);
        to.par_chunks_mut(pixels).enumerate().for_each(|(plane, to)| {
            let (image, channel) = (plane / channels, plane % channels);
            let from = &from[image * pixels * channels..][..pixels * channels];
            for (to, pixel) in to.iter_mut().zip(from.chunks_exact(channels)) {
                *to += pixel[channel];
            }
        });
    }
}

impl<E: Scalar> ActivateKernel<E> for Cpu
where
    Cpu: HeapDevice<E>,
{
    fn activated(
        &self,
        f: Activation,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        // SAFETY: `apply_to` writes every element.
        self.keep(unsafe { written(x.len(), |to| apply_to(f, to, x)) })
    }

    fn times_slopes(&self, f: Activation, x: &<Self as Storage<E>>::Vec, dy: &mut <Self as Storage<E>>::Vec) {
        scale_by_slopes(f, dy, x);
    }

    fn add_to(&self, to: &mut <Self as Storage<E>>::Vec, from: &<Self as Storage<E>>::Vec) {
        add_to(to, from);
    }

    fn copied(&self, x: &<Self as Storage<E>>::Vec) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        // SAFETY: the identity is written for every element.
        self.keep(unsafe { written(x.len(), |to| apply_to(Activation::Identity, to, x)) })
    }
}

/// Elements between two neighbours along an axis; `None` where there is but one.
///
/// dfdx tells nobody a tensor's strides, but where its elements lie.
fn stride<S: Shape, E: Scalar>(x: &Tensor<S, E, Cpu>, axis: usize) -> Option<usize> {
    let mut index = S::Concrete::default();
    if x.shape().concrete()[axis] < 2 {
        return None;
    }
    let first = std::ptr::from_ref(&x[index]).addr();
    index[axis] = 1;
    Some((std::ptr::from_ref(&x[index]).addr() - first) / size_of::<E>())
}

/// A copy with each pixel's channels behind one another.
fn channels_last<E: Scalar>(from: &[E], extent: Extent) -> Vec<E> {
    let (pixels, channels) = (extent.height * extent.width, extent.channels);
    let piece = piece(from.len()).div_ceil(channels);
    // SAFETY: the pieces of each image's pixels tile the result, and each pixel is written in full.
    unsafe {
        written(from.len(), |to| {
            let images = to.par_chunks_mut(pixels * channels).zip(from.par_chunks(pixels * channels));
            images.for_each(|(to, from)| {
                to.par_chunks_mut(piece * channels).enumerate().for_each(|(i, to)| {
                    rearrange(to, from, i * piece, pixels, channels);
                });
            });
        })
    }
}

/// Writes pixels from `first` on to `to`, from planes of `pixels`.
fn rearrange<E: Scalar>(to: &mut [MaybeUninit<E>], from: &[E], first: usize, pixels: usize, channels: usize) {
    for channel in 0..channels {
        let plane = &from[channel * pixels + first..(channel + 1) * pixels];
        for (to, from) in to.chunks_exact_mut(channels).zip(plane) {
            to[channel].write(*from);
        }
    }
}
