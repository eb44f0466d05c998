//! The layer that does nothing.

use dfdx::{
    nn::{Module, NonMutableModule, ZeroSizedModule},
    shapes::{Dim, Dtype, Shape},
    tensor::{Tape, Tensor},
    tensor_ops::Device,
};

use super::fused::{Link, Phase, Steps};
use crate::{Real, ReplaySafe, Stateless};

/// Gives its input: `torch.nn.Identity`, and the shortcut of a [`ResidualAct`](super::ResidualAct)
/// that is the input itself.
///
/// dfdx's `()` does the same, but a model that holds it cannot be built.
///
/// # Shapes
/// Any shape, to the same shape.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let model = dev.build_module::<(nn::Identity, nn::Linear<2, 1>), f32>();
/// let x: Tensor<Rank1<2>, f32, _> = dev.sample_normal();
/// assert_eq!(nn::Identity.forward(x.clone()).array(), x.array());
/// # let _ = model.forward(x);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity;

impl ReplaySafe for Identity {}
impl Stateless for Identity {}
impl ZeroSizedModule for Identity {}
impl NonMutableModule for Identity {}

impl<S: Shape, E: Dtype, D: Device<E>, T: Tape<E, D>> Module<Tensor<S, E, D, T>> for Identity {
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
        Ok(x)
    }
}

impl<C: Dim, E: Real, D: Device<E>> Link<C, E, D> for Identity {
    type Out = C;

    fn steps(&self, _: Phase, _: &mut Steps<E, D>) {}
}
