//! Convolutions without transforms.

use dfdx::{shapes::Dim, tensor_ops::Device};

use super::fused::{Link, Moments, Phase, Steps, run};
use crate::{Real, ReplaySafe, Stateless};

/// Makes the convolutions of `L` sum the products themselves, whatever that costs:
/// `nn::Exact<nn::Conv2d<64, 64, 3, 1, 1>>`.
///
/// `L` is a layer that can stand in a [`Fused`](super::Fused) run, a tuple of them, or a run. Nothing else
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

run!(Exact);
