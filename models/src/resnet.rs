//! Residual networks (He et al. 2016, arXiv 1512.03385): ResNet-18 for small images, ResNet-50.
//!
//! A model's stem and blocks are one sequence and a region each; a policy may cut the sequence into
//! segments instead, as PyTorch's `checkpoint_sequential` does. Inside, each block is one operation:
//! convolutions, norms and the shortcut hand their values on without a copy. Tensors have the names,
//! layouts and initial values of PyTorch's layers.

use ckpt_runtime::prelude::*;

/// A convolution that is followed by a norm and needs no bias.
type Conv<const I: usize, const O: usize, const K: usize, const STRIDE: usize, const PADDING: usize, E, D> =
    nn::UnbiasedConv2d<I, O, K, STRIDE, PADDING, 1, 1, E, D>;

/// Two 3×3 convolutions beside their input.
pub type Basic<const C: usize, E, D> = nn::ResidualAct<(
    Conv<C, C, 3, 1, 1, E, D>,
    nn::BatchNorm2d<C, E, D>,
    nn::Relu,
    Conv<C, C, 3, 1, 1, E, D>,
    nn::BatchNorm2d<C, E, D>,
)>;

/// [`Basic`] to half the height and width.
pub type BasicDown<const I: usize, const O: usize, E, D> = nn::ResidualAct<
    (
        Conv<I, O, 3, 2, 1, E, D>,
        nn::BatchNorm2d<O, E, D>,
        nn::Relu,
        Conv<O, O, 3, 1, 1, E, D>,
        nn::BatchNorm2d<O, E, D>,
    ),
    (Conv<I, O, 1, 2, 0, E, D>, nn::BatchNorm2d<O, E, D>),
>;

/// A 1×1 convolution from `I` to `C` channels, a 3×3 one with a stride, a 1×1 one to `O`, each with
/// what follows it.
type Narrow<const I: usize, const C: usize, const O: usize, const STRIDE: usize, E, D> = (
    (Conv<I, C, 1, 1, 0, E, D>, nn::BatchNorm2d<C, E, D>, nn::Relu),
    (Conv<C, C, 3, STRIDE, 1, E, D>, nn::BatchNorm2d<C, E, D>, nn::Relu),
    (Conv<C, O, 1, 1, 0, E, D>, nn::BatchNorm2d<O, E, D>),
);

/// A wide input beside convolutions that are narrow inside.
pub type Bottleneck<const C: usize, const O: usize, E, D> = nn::ResidualAct<Narrow<O, C, O, 1, E, D>>;

/// [`Bottleneck`] to other channels and, with a stride of 2 in the 3×3 convolution, to half the
/// height and width.
pub type BottleneckTo<const I: usize, const C: usize, const O: usize, const STRIDE: usize, E, D> =
    nn::ResidualAct<Narrow<I, C, O, STRIDE, E, D>, (Conv<I, O, 1, STRIDE, 0, E, D>, nn::BatchNorm2d<O, E, D>)>;

/// ResNet-18 with a stem that keeps the size, for images of about 32×32: the sequence is the stem
/// and eight blocks of 64 to 512 channels.
///
/// # Shapes
/// `Tensor<(B, Const<3>, H, W), E, D>` to logits `Tensor<(B, Const<CLASSES>), E, D>`, for any batch
/// size and any height and width.
///
/// PyTorch: `torchvision.models.resnet18` with a stem of 3×3 at stride 1 and without a pool.
#[checkpointed]
#[derive(Clone, Debug)]
pub struct ResNet18<const CLASSES: usize, E: Dtype, D: Device<E>> {
    /// The stem and the blocks.
    #[checkpoint(each)]
    pub body: checkpoint_sequential!(
        each,
        nn::Fused<(Conv<3, 64, 3, 1, 1, E, D>, nn::BatchNorm2d<64, E, D>, nn::Relu)>,
        Basic<64, E, D>,
        Basic<64, E, D>,
        BasicDown<64, 128, E, D>,
        Basic<128, E, D>,
        BasicDown<128, 256, E, D>,
        Basic<256, E, D>,
        BasicDown<256, 512, E, D>,
        Basic<512, E, D>,
    ),
    /// The mean over each image.
    pub pool: nn::GlobalAvgPool2d,
    /// From features to logits.
    pub head: nn::Linear<512, CLASSES, E, D>,
}

/// ResNet-50: a stem that makes an image a quarter as high and wide, and sixteen blocks of 256 to
/// 2048 channels.
///
/// # Shapes
/// `Tensor<(B, Const<3>, H, W), E, D>` to logits `Tensor<(B, Const<CLASSES>), E, D>`, for any batch
/// size and any height and width.
///
/// PyTorch: `torchvision.models.resnet50`, whose stride lies in the 3×3 convolutions too.
#[checkpointed]
#[derive(Clone, Debug)]
pub struct ResNet50<const CLASSES: usize, E: Dtype, D: Device<E>> {
    /// The stem and the blocks.
    #[checkpoint(each)]
    pub body: checkpoint_sequential!(
        each,
        nn::Fused<(Conv<3, 64, 7, 2, 3, E, D>, nn::BatchNorm2d<64, E, D>, nn::Relu, nn::MaxPool2d<3, 2, 1>)>,
        BottleneckTo<64, 64, 256, 1, E, D>,
        Bottleneck<64, 256, E, D>,
        Bottleneck<64, 256, E, D>,
        BottleneckTo<256, 128, 512, 2, E, D>,
        Bottleneck<128, 512, E, D>,
        Bottleneck<128, 512, E, D>,
        Bottleneck<128, 512, E, D>,
        BottleneckTo<512, 256, 1024, 2, E, D>,
        Bottleneck<256, 1024, E, D>,
        Bottleneck<256, 1024, E, D>,
        Bottleneck<256, 1024, E, D>,
        Bottleneck<256, 1024, E, D>,
        Bottleneck<256, 1024, E, D>,
        BottleneckTo<1024, 512, 2048, 2, E, D>,
        Bottleneck<512, 2048, E, D>,
        Bottleneck<512, 2048, E, D>,
    ),
    /// The mean over each image.
    pub pool: nn::GlobalAvgPool2d,
    /// From features to logits.
    pub head: nn::Linear<2048, CLASSES, E, D>,
}

/// Recomputes [`ResNet18`]'s stem and first four blocks, of 64 and 128 channels, and keeps the
/// other four.
///
/// All blocks cost about the same to run again, while what a block stores halves from one level to
/// the next: the first half of the model holds about four fifths of the activations.
pub fn selective_18() -> Policy {
    Policy::checkpoint().region("ResNet18.body[5..9]", Mode::Keep)
}
