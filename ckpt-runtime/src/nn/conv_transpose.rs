//! Transposed convolutions over images.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, TensorCollection, TensorOptions},
    shapes::{Const, Dtype, Rank1},
    tensor::{Cpu, Gradients, Storage, Tape, Tensor},
    tensor_ops::Device,
};

use super::{
    ConvWeight, Fits, Images,
    conv::{Convolved, checked, fill_uniform, image_layer},
    fused::{Buffer, Link, Phase, Step, Steps, apply},
};
use crate::{
    Real, ReplaySafe, Stateless,
    kernels::{ConvKernel, Convolution, Extent},
};

/// A transposed convolution over images: `torch.nn.ConvTranspose2d` with square kernels, with its
/// initial values. What the gradient of [`Conv2d`](super::Conv2d) does to an output's gradient, as a
/// layer of its own: it undoes a stride.
///
/// `K`, `STRIDE`, `PADDING`, `DILATION` and `GROUPS` are those of the convolution that it is the
/// transpose of; `OUTPUT_PADDING` are rows and columns more at the lower and right sides, of which
/// the convolution would not read all, and is less than the stride or the dilation.
///
/// As a part of a model's type, where dtype and device are not known yet, it is written without
/// them: `nn::ConvTranspose2d<64, 32, 2, 2>`. Numbers that do not fit one another do not compile.
///
/// Keeps its input alone for the backward pass.
///
/// # Shapes
/// `[I, height, width]` or `[batch, I, height, width]`, to the same with `O` channels and sides of
/// `(side - 1) STRIDE - 2 PADDING + DILATION (K - 1) + OUTPUT_PADDING + 1`; `weight` is
/// `[I, O / GROUPS, K, K]`, `bias` `[O]`.
///
/// # Panics
/// Where a dimension known as the program runs does not fit, the batch is empty, or the padding
/// would leave nothing of the output.
///
/// # Accuracy
/// As [`Conv2d`](super::Conv2d).
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let layer = dev.build_module::<nn::ConvTranspose2d<8, 3, 2, 2>, f32>();
/// let x: Tensor<Rank4<2, 8, 5, 4>, f32, _> = dev.sample_normal();
/// assert_eq!(layer.forward(x).shape(), &(Const::<2>, Const::<3>, 10, 8));
/// ```
#[derive(Clone, Debug)]
pub struct ConvTranspose2d<
    const I: usize,
    const O: usize,
    const K: usize,
    const STRIDE: usize = 1,
    const PADDING: usize = 0,
    const OUTPUT_PADDING: usize = 0,
    const DILATION: usize = 1,
    const GROUPS: usize = 1,
    E: Dtype = f32,
    D: Storage<E> = Cpu,
> {
    /// `[I, O / GROUPS, K, K]`.
    pub weight: ConvWeight<O, I, K, GROUPS, E, D>,
    /// `[O]`.
    pub bias: Tensor<Rank1<O>, E, D>,
}

/// [`ConvTranspose2d`] without a bias.
///
/// # Shapes
/// As [`ConvTranspose2d`].
///
/// # Panics
/// As [`ConvTranspose2d`].
#[derive(Clone, Debug)]
pub struct UnbiasedConvTranspose2d<
    const I: usize,
    const O: usize,
    const K: usize,
    const STRIDE: usize = 1,
    const PADDING: usize = 0,
    const OUTPUT_PADDING: usize = 0,
    const DILATION: usize = 1,
    const GROUPS: usize = 1,
    E: Dtype = f32,
    D: Storage<E> = Cpu,
> {
    /// `[I, O / GROUPS, K, K]`.
    pub weight: ConvWeight<O, I, K, GROUPS, E, D>,
}

macro_rules! layer {
    ($Layer:ident $({$bias:ident})?) => {
        impl<
            const I: usize,
            const O: usize,
            const K: usize,
            const STRIDE: usize,
            const PADDING: usize,
            const OUTPUT_PADDING: usize,
            const DILATION: usize,
            const GROUPS: usize,
            E: Dtype,
            D: Storage<E>,
        > $Layer<I, O, K, STRIDE, PADDING, OUTPUT_PADDING, DILATION, GROUPS, E, D>
        {
            const NAME: &'static str = stringify!($Layer);

            /// The convolution that the layer is the transpose of, once the numbers have been looked at.
            const CONVOLUTION: Convolution = {
                assert!(
                    OUTPUT_PADDING < STRIDE || OUTPUT_PADDING < DILATION,
                    concat!(stringify!($Layer), ": the output's padding is less than the stride or the dilation (OUTPUT_PADDING)")
                );
                checked! { $Layer O I }
            };

            /// The layer as an operation.
            fn step<E2: Real, D2: ConvKernel<E2>>(convolved: Convolved<E2, D2>) -> impl Step<E2, D2> {
                Back { convolved, more: OUTPUT_PADDING }
            }
        }

        image_layer! { $Layer $({$bias})? from O [K, STRIDE, PADDING, OUTPUT_PADDING, DILATION, GROUPS] }
    };
}
layer! { ConvTranspose2d {bias} }
layer! { UnbiasedConvTranspose2d }

/// [`ConvTranspose2d`]'s operation.
struct Back<E: Real, D: Device<E>> {
    /// The convolution that this is the transpose of: its outputs are this one's inputs.
    convolved: Convolved<E, D>,
    /// Rows and columns more of the output.
    more: usize,
}

impl<E: Real, D: ConvKernel<E>> Step<E, D> for Back<E, D> {
    fn output(&self, input: Extent) -> Extent {
        let Convolved { name, conv, .. } = &self.convolved;
        self.convolved.check(input, conv.outputs);
        let side = |side| {
            conv.transposed_side(side, self.more).unwrap_or_else(|| {
                panic!(
                    "{name} leaves nothing of images of {} by {} pixels with PADDING = {} (K = {}, STRIDE = {}, DILATION = {})",
                    input.height, input.width, conv.padding, conv.kernel, conv.stride, conv.dilation,
                )
            })
        };
        Extent { height: side(input.height), width: side(input.width), channels: conv.inputs, ..input }
    }

    fn make_exact(&mut self) {
        self.convolved.conv.exact = true;
    }

    fn forward(&mut self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        let extents = [self.output(input), input];
        let Convolved { conv, weight, bias, .. } = &self.convolved;
        device.convolve_back(conv, extents, x, weight, bias.as_ref(), None)
    }

    fn backward(
        &mut self,
        device: &D,
        input: Extent,
        x: Option<&Buffer<E, D>>,
        dy: Buffer<E, D>,
        sum: Option<Buffer<E, D>>,
        grads: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err> {
        let extents = [self.output(input), input];
        let Convolved { conv, weight, bias, .. } = &self.convolved;
        if let Some(bias) = bias {
            device.add_bias_gradient(&dy, bias, grads)?;
        }
        device.add_weight_gradient(conv, extents, &dy, x.expect("the input of a convolution"), weight, grads)?;
        device.convolve(conv, extents, &dy, weight, None, sum)
    }
}
