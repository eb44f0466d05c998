//! A U-Net (Ronneberger et al. 2015, arXiv 1505.04597) of four levels, with batch norm and padded
//! convolutions.
//!
//! Each level is a region. What the encoder hands to the decoder past the levels below crosses the
//! regions' edges as one of several inputs. Tensors have the layouts and initial values of
//! PyTorch's layers.

use ckpt_runtime::prelude::*;

/// Two 3×3 convolutions, each with a norm and a ReLU.
type Twice<const I: usize, const O: usize, E, D> = (
    nn::UnbiasedConv2d<I, O, 3, 1, 1, 1, 1, E, D>,
    nn::BatchNorm2d<O, E, D>,
    nn::Relu,
    nn::UnbiasedConv2d<O, O, 3, 1, 1, 1, 1, E, D>,
    nn::BatchNorm2d<O, E, D>,
    nn::Relu,
);

/// A level of the encoder.
pub type Down<const I: usize, const O: usize, E, D> = nn::Fused<Twice<I, O, E, D>>;

/// A level of the decoder: takes what comes from below, enlarged, and its skip, `I` channels in all.
pub type Up<const I: usize, const O: usize, E, D> = nn::UpBlock<Twice<I, O, E, D>>;

/// From images to the logits of each pixel's class, through 16, 32, 64 and 128 channels and back.
///
/// # Shapes
/// `Tensor<(B, Const<3>, H, W), E, D>` to `Tensor<(B, Const<CLASSES>, usize, usize), E, D>` of the
/// same height and width, for any batch size and any height and width that 8 divides.
///
/// # Panics
/// Where the height or the width is no multiple of 8: a level's skip is not twice as high and wide
/// as what comes from below, and the message has both.
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct UNet<const CLASSES: usize, E: Dtype, D: Device<E>> {
    /// At full size.
    pub down1: Down<3, 16, E, D>,
    /// At half the size.
    pub down2: Down<16, 32, E, D>,
    /// At a quarter.
    pub down3: Down<32, 64, E, D>,
    /// At an eighth.
    pub bottom: Down<64, 128, E, D>,
    /// Back at a quarter, with what `down3` gave.
    pub up3: Up<192, 64, E, D>,
    /// At half, with what `down2` gave.
    pub up2: Up<96, 32, E, D>,
    /// At full size, with what `down1` gave.
    pub up1: Up<48, 16, E, D>,
    /// From a pixel's vector to logits.
    pub head: nn::Conv2d<16, CLASSES, 1, 1, 0, 1, 1, E, D>,
    /// From one level to the one below.
    pub shrink: nn::MaxPool2d<2>,
}

#[checkpointed]
impl<const CLASSES: usize, E: Dtype, D: Device<E> + nn::ImageDevice<E>> UNet<CLASSES, E, D> {
    fn forward<B: Dim, H: Dim, W: Dim>(
        &self,
        x: Tensor<(B, Const<3>, H, W), E, D>,
    ) -> Tensor<(B, Const<CLASSES>, usize, usize), E, D> {
        #[checkpoint(name = "UNet.down1")]
        let full = self.down1.forward(x);
        #[checkpoint(name = "UNet.down2")]
        let half = self.down2.forward(self.shrink.forward(full));
        #[checkpoint(name = "UNet.down3")]
        let quarter = self.down3.forward(self.shrink.forward(half));
        #[checkpoint(name = "UNet.bottom")]
        let eighth = self.bottom.forward(self.shrink.forward(quarter));
        #[checkpoint(name = "UNet.up3")]
        let quarter = self.up3.forward((eighth, quarter));
        #[checkpoint(name = "UNet.up2")]
        let half = self.up2.forward((quarter, half));
        #[checkpoint(name = "UNet.up1")]
        let full = self.up1.forward((half, full));
        self.head.forward(full)
    }
}

/// Recomputes all of [`UNet`]'s levels but the decoder's last, the most expensive one: its backward
/// follows at once, so that keeping what it stores costs no memory at the peak.
pub fn all_but_the_last() -> Policy {
    Policy::checkpoint().region("UNet.up1", Mode::Keep)
}
