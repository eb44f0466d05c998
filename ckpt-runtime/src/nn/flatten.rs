//! Images as rows of features.

use dfdx::{
    nn::{Module, NonMutableModule, ZeroSizedModule},
    shapes::{Dim, HasShape},
    tensor::{Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};

use crate::{Real, ReplaySafe, Stateless};

/// All numbers of an image as one row: `torch.nn.Flatten`, in its order (a channel's pixels behind one
/// another), however the image lies in memory.
///
/// # Shapes
/// `[channels, height, width]` to `[channels · height · width]`, and `[batch, channels, height, width]`
/// to `[batch, channels · height · width]`. The features are a `usize`, which a
/// [`Linear`](super::Linear) of as many takes.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let model = dev.build_module::<(nn::MaxPool2d<2>, nn::Flatten2d, nn::Linear<12, 10>), f32>();
/// let x: Tensor<Rank4<5, 3, 4, 4>, f32, _> = dev.sample_normal();
/// let y: Tensor<Rank2<5, 10>, f32, _> = model.forward(x);
/// # let _ = y;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flatten2d;

impl ReplaySafe for Flatten2d {}
impl Stateless for Flatten2d {}
impl ZeroSizedModule for Flatten2d {}
impl NonMutableModule for Flatten2d {}

impl<C: Dim, H: Dim, W: Dim, E: Real, D: Device<E>, T: Tape<E, D>> Module<Tensor<(C, H, W), E, D, T>> for Flatten2d {
    type Output = Tensor<(usize,), E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<(C, H, W), E, D, T>) -> Result<Self::Output, D::Err> {
        let (c, h, w) = *x.shape();
        x.try_reshape_like(&(c.size() * h.size() * w.size(),))
    }
}

impl<B: Dim, C: Dim, H: Dim, W: Dim, E: Real, D: Device<E>, T: Tape<E, D>> Module<Tensor<(B, C, H, W), E, D, T>>
    for Flatten2d
{
    type Output = Tensor<(B, usize), E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<(B, C, H, W), E, D, T>) -> Result<Self::Output, D::Err> {
        let (b, c, h, w) = *x.shape();
        x.try_reshape_like(&(b, c.size() * h.size() * w.size()))
    }
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use crate::nn::{self, checks::*};

    #[test]
    fn numbers_keep_the_order_of_the_shape() {
        let dev = Cpu::seed_from_u64(1);
        let x: Tensor<Rank4<2, 4, 5, 3>, f64, _> = dev.sample_normal();
        let last = x.permute::<Rank4<2, 3, 4, 5>, Axes4<0, 3, 1, 2>>();
        let target: Tensor<Rank2<2, 60>, f64, _> = dev.sample_normal();
        for x in [last.clone(), last.contiguous()] {
            let y: Tensor<(Const<2>, usize), f64, _> = nn::Flatten2d.forward(x.clone());
            assert_eq!((y.shape().1, y.as_vec()), (60, x.as_vec()));
            agrees_with_differences(&x, |x| {
                (nn::Flatten2d.forward(x).realize::<Rank2<2, 60>>() * target.clone()).square().sum()
            });
        }
        let y: Tensor<(usize,), f64, _> = nn::Flatten2d.forward(dev.ones::<Rank3<2, 3, 4>>());
        assert_eq!(y.shape().0, 24);
    }
}
