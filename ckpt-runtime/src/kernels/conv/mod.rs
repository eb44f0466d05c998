//! Convolutions of images, in the scheme that suits each.
//!
//! | scheme | of |
//! |---|---|
//! | [`pointwise`] | 1×1 kernels that read every pixel |
//! | [`winograd`] | 3×3 kernels of many channels, in `f32` |
//! | [`depthwise`] | as many groups as channels |
//! | [`few`] | big weights, few pixels |
//! | [`direct`] | everything else |

mod depthwise;
mod direct;
mod few;
mod geometry;
mod pack;
mod pointwise;
mod transforms;
mod winograd;
mod workers;

use dfdx::tensor::{Cpu, Gradients, HasErr, Storage};

use super::{
    buffer::read,
    columns::add_column_sums,
    device::{HeapDevice, Rows, Vector},
    images::{Extent, ImageBuffers},
    scalar::Scalar,
};
use crate::Real;
use geometry::Geometry;

/// A convolution with square kernels, as `torch.nn.functional.conv2d` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Channels of its input.
    pub inputs: usize,
    /// Channels of its output.
    pub outputs: usize,
    /// Rows and columns of the kernel.
    pub kernel: usize,
    /// Pixels from one that is read to the next.
    pub stride: usize,
    /// Zeros beyond each side of an image, in pixels.
    pub padding: usize,
    /// Pixels from one tap of the kernel to the next.
    pub dilation: usize,
    /// Groups of channels that do not see one another.
    pub groups: usize,
    /// Whether sums are of the products themselves, and not of transforms of them.
    pub exact: bool,
}

impl Convolution {
    /// Pixels of the output along a side of the input; `None` where the kernel does not fit.
    pub fn side(&self, input: usize) -> Option<usize> {
        let padded = self.padding.checked_mul(2)?.checked_add(input)?;
        Some(padded.checked_sub(self.reach()?)? / self.stride + 1)
    }

    /// Pixels along a side of the input of which an output's side comes, with `more` that none of
    /// the output's may read; `None` where there would be none.
    pub fn transposed_side(&self, output: usize, more: usize) -> Option<usize> {
        let padded = (output - 1).checked_mul(self.stride)?.checked_add(self.reach()?)?.checked_add(more)?;
        padded.checked_sub(self.padding.checked_mul(2)?).filter(|side| *side > 0)
    }

    /// Pixels from the first that a kernel reads to behind its last.
    fn reach(&self) -> Option<usize> {
        self.dilation.checked_mul(self.kernel - 1)?.checked_add(1)
    }
}

/// A device's convolutions, over buffers of images. Weights are `[out, in / groups · taps]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no convolution runs on this device with this dtype",
    note = "dfdx has no convolution on stable Rust; the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait ConvKernel<E: Real>: ImageBuffers<E> {
    /// The output for `x`, added to `sum` where there is one, and to `bias` in every pixel where there
    /// is not. The extents are the input's and the output's.
    ///
    /// # Errors
    /// The device's.
    fn convolve(
        &self,
        conv: &Convolution,
        extents: [Extent; 2],
        x: &<Self as Storage<E>>::Vec,
        weight: &Rows<E, Self>,
        bias: Option<&Vector<E, Self>>,
        sum: Option<<Self as Storage<E>>::Vec>,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// The gradient of the input, added to `sum` where there is one, and to `bias` in every pixel
    /// where there is not.
    ///
    /// # Errors
    /// The device's.
    fn convolve_back(
        &self,
        conv: &Convolution,
        extents: [Extent; 2],
        dy: &<Self as Storage<E>>::Vec,
        weight: &Rows<E, Self>,
        bias: Option<&Vector<E, Self>>,
        sum: Option<<Self as Storage<E>>::Vec>,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// Adds the gradient of the weight.
    ///
    /// # Errors
    /// The device's.
    fn add_weight_gradient(
        &self,
        conv: &Convolution,
        extents: [Extent; 2],
        x: &<Self as Storage<E>>::Vec,
        dy: &<Self as Storage<E>>::Vec,
        weight: &Rows<E, Self>,
        grads: &mut Gradients<E, Self>,
    ) -> Result<(), Self::Err>;

    /// Adds the gradient of the weight, and gives that of the input, added to `sum` where there is one.
    ///
    /// # Errors
    /// The device's.
    #[allow(clippy::too_many_arguments)]
    fn differentiate(
        &self,
        conv: &Convolution,
        extents: [Extent; 2],
        x: &<Self as Storage<E>>::Vec,
        dy: &<Self as Storage<E>>::Vec,
        weight: &Rows<E, Self>,
        sum: Option<<Self as Storage<E>>::Vec>,
        grads: &mut Gradients<E, Self>,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// Adds the sums over all pixels to the gradient of a bias.
    ///
    /// # Errors
    /// The device's.
    fn add_bias_gradient(
        &self,
        dy: &<Self as Storage<E>>::Vec,
        bias: &Vector<E, Self>,
        grads: &mut Gradients<E, Self>,
    ) -> Result<(), Self::Err>;
}

/// How a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Pointwise,
    Winograd,
    Depthwise,
    Few,
    Direct,
}

impl Scheme {
    fn of<E: Scalar>(geometry: &Geometry) -> Self {
        let Convolution { kernel, stride, padding, groups, .. } = geometry.conv;
        // A transposed convolution's output may have rows that nothing is read for.
        let same_size = geometry.input.pixels() == geometry.output.pixels();
        if (kernel, stride, padding, groups) == (1, 1, 0, 1) && same_size {
            Self::Pointwise
        } else if winograd::suits::<E>(geometry) {
            Self::Winograd
        } else if depthwise::suits(geometry) {
            Self::Depthwise
        } else if few::suits(geometry) {
            Self::Few
        } else {
            Self::Direct
        }
    }

    /// That of the weight's gradient. Winograd's has 36 small products for each chunk of tiles, which gain
    /// nothing where a pixel has few channels.
    fn of_weight_gradient<E: Scalar>(geometry: &Geometry) -> Self {
        let few = geometry.conv.inputs.min(geometry.conv.outputs) <= NARROW;
        match Self::of::<E>(geometry) {
            Self::Winograd if few => Self::Direct,
            scheme => scheme,
        }
    }
}

/// Channels up to which the gradient of a weight is not computed by transforms.
const NARROW: usize = 16;

impl Geometry {
    /// The output: added to `sum` where there is one, else new, with `bias` in every pixel.
    fn convolved<E: Scalar>(&self, x: &[E], weight: &[E], bias: Option<&[E]>, sum: Option<&mut [E]>) -> Option<Vec<E>> {
        match Scheme::of::<E>(self) {
            Scheme::Pointwise => pointwise::forward(self, x, weight, bias, sum),
            Scheme::Winograd => winograd::forward(self, x, weight, bias, sum),
            Scheme::Depthwise => depthwise::forward(self, x, weight, bias, sum),
            Scheme::Few => few::forward(self, x, weight, bias, sum),
            Scheme::Direct => direct::forward(self, x, weight, bias, sum),
        }
    }

    /// The input's gradient: added to `sum` where there is one, else new, with `bias` in every
    /// pixel.
    fn input_gradient<E: Scalar>(
        &self,
        dy: &[E],
        weight: &[E],
        bias: Option<&[E]>,
        sum: Option<&mut [E]>,
    ) -> Option<Vec<E>> {
        match Scheme::of::<E>(self) {
            Scheme::Pointwise => pointwise::input_gradient(self, dy, weight, bias, sum),
            Scheme::Winograd => winograd::input_gradient(self, dy, weight, bias, sum),
            Scheme::Depthwise => depthwise::input_gradient(self, dy, weight, bias, sum),
            Scheme::Few => few::input_gradient(self, dy, weight, bias, sum),
            Scheme::Direct => direct::input_gradient(self, dy, weight, bias, sum),
        }
    }

    /// Adds the weight's gradient to `dw`.
    fn add_weight_gradient<E: Scalar>(&self, x: &[E], dy: &[E], dw: &mut [E]) {
        match Scheme::of_weight_gradient::<E>(self) {
            Scheme::Pointwise => pointwise::weight_gradient(self, x, dy, dw),
            Scheme::Winograd => winograd::weight_gradient(self, x, dy, dw),
            Scheme::Depthwise => depthwise::weight_gradient(self, x, dy, dw),
            Scheme::Few => few::weight_gradient(self, x, dy, dw),
            Scheme::Direct => direct::weight_gradient(self, x, dy, dw),
        }
    }
}

impl<E: Scalar> ConvKernel<E> for Cpu
where
    Cpu: HeapDevice<E>,
{
    fn convolve(
        &self,
        conv: &Convolution,
        [input, output]: [Extent; 2],
        x: &<Self as Storage<E>>::Vec,
        weight: &Rows<E, Self>,
        bias: Option<&Vector<E, Self>>,
        sum: Option<<Self as Storage<E>>::Vec>,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        let geometry = Geometry::new(*conv, input, output);
        let (weight, bias) = (read(weight), bias.map(read));
        match sum {
            Some(mut sum) => {
                geometry.convolved(x, &weight, None, Some(&mut sum));
                Ok(sum)
            }
            None => {
                let y = geometry.convolved(x, &weight, bias.as_deref(), None);
                self.keep(y.expect("a new output where there is none to add to"))
            }
        }
    }

    fn convolve_back(
        &self,
        conv: &Convolution,
        [input, output]: [Extent; 2],
        dy: &<Self as Storage<E>>::Vec,
        weight: &Rows<E, Self>,
        bias: Option<&Vector<E, Self>>,
        sum: Option<<Self as Storage<E>>::Vec>,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        let (weight, bias) = (read(weight), bias.map(read));
        given_back(self, &Geometry::new(*conv, input, output), dy, &weight, bias.as_deref(), sum)
    }

    fn add_weight_gradient(
        &self,
        conv: &Convolution,
        [input, output]: [Extent; 2],
        x: &<Self as Storage<E>>::Vec,
        dy: &<Self as Storage<E>>::Vec,
        weight: &Rows<E, Self>,
        grads: &mut Gradients<E, Self>,
    ) -> Result<(), <Self as HasErr>::Err> {
        let geometry = Geometry::new(*conv, input, output);
        geometry.add_weight_gradient(x, dy, grads.get_or_alloc_mut(weight)?);
        Ok(())
    }

    fn differentiate(
        &self,
        conv: &Convolution,
        [input, output]: [Extent; 2],
        x: &<Self as Storage<E>>::Vec,
        dy: &<Self as Storage<E>>::Vec,
        weight: &Rows<E, Self>,
        sum: Option<<Self as Storage<E>>::Vec>,
        grads: &mut Gradients<E, Self>,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        let geometry = Geometry::new(*conv, input, output);
        let dw = grads.get_or_alloc_mut(weight)?;
        let (x, from): (&[E], &[E]) = (x, dy);
        // The copy of a weight takes one thread: the others begin with what needs none.
        let ((), weight) = rayon::join(|| geometry.add_weight_gradient(x, from, dw), || read(weight));
        given_back(self, &geometry, dy, &weight, None, sum)
    }

    fn add_bias_gradient(
        &self,
        dy: &<Self as Storage<E>>::Vec,
        bias: &Vector<E, Self>,
        grads: &mut Gradients<E, Self>,
    ) -> Result<(), <Self as HasErr>::Err> {
        add_column_sums(grads.get_or_alloc_mut(bias)?, dy);
        Ok(())
    }
}

/// The input's gradient as a buffer: added to `sum` where there is one, else new, with `bias` in every
/// pixel.
fn given_back<E: Scalar>(
    device: &Cpu,
    geometry: &Geometry,
    dy: &[E],
    weight: &[E],
    bias: Option<&[E]>,
    sum: Option<<Cpu as Storage<E>>::Vec>,
) -> Result<<Cpu as Storage<E>>::Vec, <Cpu as HasErr>::Err>
where
    Cpu: HeapDevice<E>,
{
    match sum {
        Some(mut sum) => {
            geometry.input_gradient(dy, weight, None, Some(&mut sum));
            Ok(sum)
        }
        None => {
            let dx = geometry.input_gradient(dy, weight, bias, None);
            device.keep(dx.expect("a new gradient where there is none to add to"))
        }
    }
}

#[cfg(test)]
mod tests;
