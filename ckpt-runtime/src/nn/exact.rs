//! Convolutions without transforms.

use dfdx::{
    nn::{Module, ModuleMut},
    shapes::Dim,
    tensor::{NoneTape, OwnedTape, Tensor},
    tensor_ops::Device,
};

use super::{
    Images,
    fused::{Link, Moments, Phase, Steps, apply, train},
};
use crate::{Real, ReplaySafe, Stateless, kernels::ImageBuffers};

/// Makes the convolutions of `L` sum the products themselves, whatever that costs:
/// `nn::Exact<nn::Conv2d<64, 64, 3, 1, 1>>`.
///
/// `L` is a layer that can stand in a [`Fused`](super::Fused) run, or a tuple of them. Nothing else
/// changes: not tensor names, shapes or errors. See "Accuracy" at [`Conv2d`](super::Conv2d).
///
/// # Shapes
/// As `L`.
///
/// # Panics
/// As `L`.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let layer = dev.build_module::<nn::Exact<nn::Conv2d<16, 16, 3, 1, 1>>, f32>();
/// let x: Tensor<Rank3<16, 8, 8>, f32, _> = dev.sample_normal();
/// assert_eq!(layer.forward(x).shape(), &(Const::<16>, 8, 8));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exact<L>(pub L);

impl<L: ReplaySafe> ReplaySafe for Exact<L> {}
impl<L: Stateless> Stateless for Exact<L> {}
transparent!(Exact);

impl<C: Dim, E: Real, D: Device<E>, L: Link<C, E, D>> Link<C, E, D> for Exact<L> {
    type Out = L::Out;

    fn steps(&self, phase: Phase, steps: &mut Steps<E, D>) {
        let before = steps.list.len();
        self.0.steps(phase, steps);
        for step in &mut steps.list[before..] {
            step.make_exact();
        }
    }

    fn learn(&mut self, moments: &mut dyn Iterator<Item = Moments>) -> Result<(), D::Err> {
        self.0.learn(moments)
    }
}

impl<S: Images, E: Real, D: ImageBuffers<E>, L: Link<S::Channels, E, D>> Module<Tensor<S, E, D, NoneTape>>
    for Exact<L>
{
    type Output = Tensor<S::With<L::Out>, E, D>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<S, E, D, NoneTape>) -> Result<Self::Output, D::Err> {
        apply("Exact", self, x)
    }
}

impl<S: Images, E: Real, D: ImageBuffers<E>, L: Link<S::Channels, E, D> + Stateless>
    Module<Tensor<S, E, D, OwnedTape<E, D>>> for Exact<L>
{
    type Output = Tensor<S::With<L::Out>, E, D, OwnedTape<E, D>>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<S, E, D, OwnedTape<E, D>>) -> Result<Self::Output, D::Err> {
        apply("Exact", self, x)
    }
}

impl<S: Images, E: Real, D: ImageBuffers<E>, L: Link<S::Channels, E, D>> ModuleMut<Tensor<S, E, D, OwnedTape<E, D>>>
    for Exact<L>
{
    type Output = Tensor<S::With<L::Out>, E, D, OwnedTape<E, D>>;
    type Error = D::Err;

    fn try_forward_mut(&mut self, x: Tensor<S, E, D, OwnedTape<E, D>>) -> Result<Self::Output, D::Err> {
        train("Exact", self, x)
    }
}
