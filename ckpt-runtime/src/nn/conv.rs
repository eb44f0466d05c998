//! Convolutions over images.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, TensorCollection, TensorOptions},
    shapes::{Const, Dtype, Rank1, Shape},
    tensor::{Cpu, Gradients, Storage, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};
use rand_distr::Uniform;

use super::{
    Fits, Images,
    fused::{Buffer, Link, Phase, Step, Steps, apply},
    shapes::Share,
};
use crate::{
    Real, ReplaySafe, Stateless,
    kernels::{ConvKernel, Convolution, Extent, Rows, Vector},
};

/// The weight of a convolution: `[O, I / GROUPS, K, K]`.
pub type ConvWeight<const I: usize, const O: usize, const K: usize, const GROUPS: usize, E = f32, D = Cpu> =
    Tensor<(Const<O>, Share<I, GROUPS>, Const<K>, Const<K>), E, D>;

/// A convolution over images: `torch.nn.Conv2d` with square kernels and zeros for padding, with its
/// initial values.
///
/// `K` is the kernel's side, `STRIDE` the distance of the pixels that it is laid on, `PADDING` the
/// zeros beyond each side, `DILATION` the distance of its taps (all in pixels), `GROUPS` the groups
/// of channels that do not see one another: as many as channels make it depthwise.
///
/// As a part of a model's type, where dtype and device are not known yet, it is written without
/// them: `nn::Conv2d<3, 64, 3, 1, 1>`. Groups that do not divide both channels, and a `K`, `STRIDE`
/// or `DILATION` of 0, do not compile.
///
/// Keeps its input alone for the backward pass.
///
/// # Shapes
/// `[I, height, width]` or `[batch, I, height, width]`, to the same with `O` channels and sides of
/// `(side + 2 PADDING - DILATION (K - 1) - 1) / STRIDE + 1`, rounded down; `weight` is
/// `[O, I / GROUPS, K, K]`, `bias` `[O]`.
///
/// # Panics
/// Where a dimension known as the program runs does not fit, the batch is empty, or the kernel is
/// larger than an image with its padding.
///
/// # Accuracy
/// In `f32`, a 3×3 convolution with a stride and dilation of 1, one group and at least 16 channels on
/// both sides is computed by Winograd's minimal filtering F(4×4, 3×3) (Lavin and Gray, arXiv
/// 1509.09308; points 0, ±1/√2, ±√2, ∞), with a quarter of the multiplications. At 512 channels its
/// output is off by 2·10⁻⁶ of the root mean square, and by 1.5·10⁻⁵ at most, against `f64`; the
/// gradients of a whole ResNet-50's first layers move by about 10⁻³ (PyTorch's `f32`: 2.5·10⁻⁴).
/// A number that is not finite spreads over the 4×4 pixels of its tile. [`Exact`](super::Exact) is the
/// way out. `f64` is never transformed, nor are images of 2 pixels a side or less.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let layer = dev.build_module::<nn::Conv2d<3, 8, 3, 2, 1>, f32>();
/// let x: Tensor<Rank4<2, 3, 7, 6>, f32, _> = dev.sample_normal();
/// assert_eq!(layer.forward(x).shape(), &(Const::<2>, Const::<8>, 4, 3));
/// ```
/// ```compile_fail
/// # use ckpt_runtime::{nn, prelude::*};
/// # let dev: Cpu = Default::default();
/// // Conv2d: the groups divide the channels of both sides (GROUPS, I, O)
/// dev.build_module::<nn::Conv2d<4, 6, 3, 1, 1, 1, 4>, f32>();
/// ```
#[derive(Clone, Debug)]
pub struct Conv2d<
    const I: usize,
    const O: usize,
    const K: usize,
    const STRIDE: usize = 1,
    const PADDING: usize = 0,
    const DILATION: usize = 1,
    const GROUPS: usize = 1,
    E: Dtype = f32,
    D: Storage<E> = Cpu,
> {
    /// `[O, I / GROUPS, K, K]`.
    pub weight: ConvWeight<I, O, K, GROUPS, E, D>,
    /// `[O]`.
    pub bias: Tensor<Rank1<O>, E, D>,
}

/// [`Conv2d`] without a bias.
///
/// # Shapes
/// As [`Conv2d`].
///
/// # Panics
/// As [`Conv2d`].
#[derive(Clone, Debug)]
pub struct UnbiasedConv2d<
    const I: usize,
    const O: usize,
    const K: usize,
    const STRIDE: usize = 1,
    const PADDING: usize = 0,
    const DILATION: usize = 1,
    const GROUPS: usize = 1,
    E: Dtype = f32,
    D: Storage<E> = Cpu,
> {
    /// `[O, I / GROUPS, K, K]`.
    pub weight: ConvWeight<I, O, K, GROUPS, E, D>,
}

/// Implements what layers of convolutions share, for one that has a `weight` of a convolution from
/// `$From` channels, perhaps a bias, a `NAME`, a `CONVOLUTION` and a `step`.
macro_rules! image_layer {
    ($Layer:ident $({$bias:ident})? from $From:ident [$($N:ident),*]) => {
        impl<const I: usize, const O: usize, $(const $N: usize,)* E: Dtype, D: Storage<E>> ReplaySafe
            for $Layer<I, O, $($N,)* E, D>
        {
        }
        impl<const I: usize, const O: usize, $(const $N: usize,)* E: Dtype, D: Storage<E>> Stateless
            for $Layer<I, O, $($N,)* E, D>
        {
        }
        impl<const I: usize, const O: usize, $(const $N: usize,)* E: Dtype, D: Storage<E>> NonMutableModule
            for $Layer<I, O, $($N,)* E, D>
        {
        }

        impl<const I: usize, const O: usize, $(const $N: usize,)* E: Real, D: Device<E>> BuildOnDevice<D, E>
            for $Layer<I, O, $($N),*>
        {
            type Built = $Layer<I, O, $($N,)* E, D>;
        }

        impl<const I: usize, const O: usize, $(const $N: usize,)* E: Real, D: Device<E>> TensorCollection<E, D>
            for $Layer<I, O, $($N,)* E, D>
        {
            type To<E2: Dtype, D2: Device<E2>> = $Layer<I, O, $($N,)* E2, D2>;

            fn iter_tensors<V: ModuleVisitor<Self, E, D>>(
                visitor: &mut V,
            ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
                let _ = Self::CONVOLUTION;
                visitor.visit_fields(
                    (
                        Self::tensor(
                            "weight",
                            |s| &s.weight,
                            |s| &mut s.weight,
                            TensorOptions::reset_with(fill_uniform::<$From, GROUPS, K, _, _, _>),
                        ),
                        $(Self::tensor(
                            "bias",
                            |s| &s.$bias,
                            |s| &mut s.$bias,
                            TensorOptions::reset_with(fill_uniform::<$From, GROUPS, K, _, _, _>),
                        ),)?
                    ),
                    |(weight, $($bias,)?)| $Layer { weight, $($bias)? },
                )
            }
        }

        impl<C: Fits<I>, const I: usize, const O: usize, $(const $N: usize,)* E: Real, D: ConvKernel<E>> Link<C, E, D>
            for $Layer<I, O, $($N,)* E, D>
        {
            type Out = Const<O>;

            fn steps(&self, _: Phase, steps: &mut Steps<E, D>) {
                let bias: Option<Tensor<Rank1<O>, E, D>> = None$(.or(Some(self.$bias.clone())))?;
                let (name, conv) = (Self::NAME, Self::CONVOLUTION);
                steps.push(Self::step(Convolved::new(name, conv, self.weight.clone(), bias)));
            }
        }

        impl<S: Images<Channels: Fits<I>>, const I: usize, const O: usize, $(const $N: usize,)* E: Real, D: ConvKernel<E>, T: Tape<E, D>>
            Module<Tensor<S, E, D, T>> for $Layer<I, O, $($N,)* E, D>
        {
            type Output = Tensor<S::With<Const<O>>, E, D, T>;
            type Error = D::Err;

            fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
                apply(Self::NAME, self, x)
            }
        }
    };
}
/// The convolution of a layer, from the generics that it names alike.
macro_rules! checked {
    ($Layer:ident $From:ident $To:ident) => {{
        assert!(I > 0 && O > 0, concat!(stringify!($Layer), ": there is at least one channel on each side (I, O)"));
        assert!(K > 0, concat!(stringify!($Layer), ": a kernel has at least one pixel (K)"));
        assert!(STRIDE > 0, concat!(stringify!($Layer), ": a stride is at least 1 (STRIDE)"));
        assert!(DILATION > 0, concat!(stringify!($Layer), ": a dilation is at least 1 (DILATION)"));
        assert!(
            GROUPS > 0 && I.is_multiple_of(GROUPS) && O.is_multiple_of(GROUPS),
            concat!(stringify!($Layer), ": the groups divide the channels of both sides (GROUPS, I, O)")
        );
        Convolution {
            inputs: $From,
            outputs: $To,
            kernel: K,
            stride: STRIDE,
            padding: PADDING,
            dilation: DILATION,
            groups: GROUPS,
            exact: false,
        }
    }};
}
pub(super) use {checked, image_layer};

macro_rules! layer {
    ($Layer:ident $({$bias:ident})?) => {
        impl<
            const I: usize,
            const O: usize,
            const K: usize,
            const STRIDE: usize,
            const PADDING: usize,
            const DILATION: usize,
            const GROUPS: usize,
            E: Dtype,
            D: Storage<E>,
        > $Layer<I, O, K, STRIDE, PADDING, DILATION, GROUPS, E, D>
        {
            const NAME: &'static str = stringify!($Layer);

            /// The convolution, once the numbers have been looked at.
            const CONVOLUTION: Convolution = checked! { $Layer I O };

            /// The layer as an operation.
            fn step<E2: Real, D2: ConvKernel<E2>>(convolved: Convolved<E2, D2>) -> impl Step<E2, D2> {
                Forth(convolved)
            }
        }

        image_layer! { $Layer $({$bias})? from I [K, STRIDE, PADDING, DILATION, GROUPS] }
    };
}

layer! { Conv2d {bias} }
layer! { UnbiasedConv2d }

/// PyTorch's initial values: uniform up to the inverse root of the number of products in a sum.
/// For a transposed convolution, PyTorch counts as if it were the convolution of the same weight.
pub(super) fn fill_uniform<const I: usize, const GROUPS: usize, const K: usize, S: Shape, E: Real, D: Device<E>>(
    t: &mut Tensor<S, E, D>,
) -> Result<(), D::Err> {
    let products = (I / GROUPS * K * K).max(1);
    let bound = E::one() / E::from_usize(products).expect("a number of products").sqrt();
    t.try_fill_with_distr(Uniform::new(-bound, bound))
}

/// A convolution with its parameters.
pub(super) struct Convolved<E: Real, D: Device<E>> {
    /// The layer's, for messages.
    pub(super) name: &'static str,
    pub(super) conv: Convolution,
    /// `[out, in / groups · taps]`.
    pub(super) weight: Rows<E, D>,
    pub(super) bias: Option<Vector<E, D>>,
}

impl<E: Real, D: Device<E>> Convolved<E, D> {
    pub(super) fn new<W: Shape, const B: usize>(
        name: &'static str,
        conv: Convolution,
        weight: Tensor<W, E, D>,
        bias: Option<Tensor<Rank1<B>, E, D>>,
    ) -> Self {
        let row = conv.inputs / conv.groups * conv.kernel * conv.kernel;
        let weight = weight.reshape_like(&(conv.outputs, row));
        let bias = bias.map(|bias| bias.reshape_like(&(B,)));
        Self { name, conv, weight, bias }
    }

    /// Checks the channels of an input.
    ///
    /// # Panics
    /// Where they are not `channels`.
    pub(super) fn check(&self, input: Extent, channels: usize) {
        let Extent { images, height, width, channels: given } = input;
        assert!(
            given == channels,
            "{} takes {channels} channels, not {given}: its input is {images} images of {height} by {width} pixels",
            self.name,
        );
    }
}

/// [`Conv2d`]'s operation.
struct Forth<E: Real, D: Device<E>>(Convolved<E, D>);

impl<E: Real, D: ConvKernel<E>> Step<E, D> for Forth<E, D> {
    fn output(&self, input: Extent) -> Extent {
        let Convolved { name, conv, .. } = &self.0;
        self.0.check(input, conv.inputs);
        let side = |side| {
            conv.side(side).unwrap_or_else(|| {
                let Convolution { kernel, padding, dilation, .. } = conv;
                panic!(
                    "{name} cannot lay a kernel of {} pixels (K = {kernel}, DILATION = {dilation}) on images of {} by {} \
                     pixels with {padding} of padding on each side",
                    dilation.saturating_mul(kernel - 1).saturating_add(1),
                    input.height,
                    input.width,
                )
            })
        };
        Extent { height: side(input.height), width: side(input.width), channels: conv.outputs, ..input }
    }

    fn make_exact(&mut self) {
        self.0.conv.exact = true;
    }

    fn forward(&mut self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        let output = self.output(input);
        device.convolve(&self.0.conv, [input, output], x, &self.0.weight, self.0.bias.as_ref(), None)
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
        let extents = [input, self.output(input)];
        let Convolved { conv, weight, bias, .. } = &self.0;
        if let Some(bias) = bias {
            device.add_bias_gradient(&dy, bias, grads)?;
        }
        let x = x.expect("the input of a convolution");
        device.differentiate(conv, extents, x, &dy, weight, sum, grads)
    }
}

#[cfg(test)]
mod tests;
