//! Group norm of images.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, TensorCollection, TensorOptions},
    shapes::{Dtype, HasShape, Rank1},
    tensor::{Cpu, Gradients, Storage, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};

use super::{
    Fits, Images,
    fused::{self, Buffer, Cheap, Link, Phase, Step, Steps},
    norm::epsilon,
};
use crate::{
    Real, ReplaySafe, Stateless,
    kernels::{Activation, ChannelNorm, Extent, GroupNormKernel, Statistics},
};

/// Takes the mean of each group of channels of each image away, divides by its deviation, and scales
/// and shifts each channel: `torch.nn.GroupNorm`, with its initial values; Wu and He,
/// arXiv 1803.08494.
///
/// Groups are `C / GROUPS` neighbouring channels; that they divide is checked as the program is
/// compiled. `EXPONENT` is that of ε, the power of ten that is added to the variance: -5 as in
/// PyTorch.
///
/// Keeps its input, and two numbers a group of an image. In a [`Fused`](super::Fused) run a function
/// behind it runs in its pass. Sums are made of short ones in the dtype, which are added in `f64`.
///
/// # Shapes
/// `[channels, height, width]` or `[batch, channels, height, width]`, to the same; `weight` and
/// `bias` are `[C]`.
///
/// # Panics
/// Where run-time channels are not `C`, or another dimension is 0.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let layer = dev.build_module::<nn::GroupNorm<2, 6>, f32>();
/// let x: Tensor<Rank4<3, 6, 4, 4>, f32, _> = dev.sample_normal();
/// let y: Tensor<Rank4<3, 6, 4, 4>, f32, _> = layer.forward(x);
/// # let _ = y;
/// ```
#[derive(Clone, Debug)]
pub struct GroupNorm<const GROUPS: usize, const C: usize, E: Dtype = f32, D: Storage<E> = Cpu, const EXPONENT: i32 = -5>
{
    /// The factor of each channel.
    pub weight: Tensor<Rank1<C>, E, D>,
    /// What is added to each channel.
    pub bias: Tensor<Rank1<C>, E, D>,
}

impl<const G: usize, const C: usize, E: Dtype, D: Storage<E>, const X: i32> ReplaySafe for GroupNorm<G, C, E, D, X> {}
impl<const G: usize, const C: usize, E: Dtype, D: Storage<E>, const X: i32> Stateless for GroupNorm<G, C, E, D, X> {}
impl<const G: usize, const C: usize, E: Dtype, D: Storage<E>, const X: i32> NonMutableModule
    for GroupNorm<G, C, E, D, X>
{
}

impl<const G: usize, const C: usize, E: Real, D: Device<E>, const X: i32> BuildOnDevice<D, E>
    for GroupNorm<G, C, f32, Cpu, X>
{
    type Built = GroupNorm<G, C, E, D, X>;
}

impl<const G: usize, const C: usize, E: Real, D: Device<E>, const X: i32> TensorCollection<E, D>
    for GroupNorm<G, C, E, D, X>
{
    type To<E2: Dtype, D2: Device<E2>> = GroupNorm<G, C, E2, D2, X>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(
            (
                Self::tensor("weight", |s| &s.weight, |s| &mut s.weight, TensorOptions::reset_to_ones()),
                Self::tensor("bias", |s| &s.bias, |s| &mut s.bias, TensorOptions::reset_to_zeros()),
            ),
            |(weight, bias)| GroupNorm { weight, bias },
        )
    }
}

impl<const G: usize, const C: usize, N: Fits<C>, E: Real, D: GroupNormKernel<E>, const X: i32> Link<N, E, D>
    for GroupNorm<G, C, E, D, X>
{
    type Out = N;

    fn steps(&self, _: Phase, steps: &mut Steps<E, D>) {
        const { assert!(G > 0 && C.is_multiple_of(G), "the groups of a GroupNorm must divide its channels") };
        let flat = |t: &Tensor<Rank1<C>, E, D>| t.clone().try_reshape_like(&(C,)).expect("a shape of as many");
        let norm = ChannelNorm {
            weight: flat(&self.weight),
            bias: flat(&self.bias),
            epsilon: epsilon(X),
            function: Activation::Identity,
        };
        steps.push(Groups { norm, groups: G, by: Statistics::default() });
    }
}

impl<const G: usize, const C: usize, S: Images, E: Real, D: GroupNormKernel<E>, T: Tape<E, D>, const X: i32>
    Module<Tensor<S, E, D, T>> for GroupNorm<G, C, E, D, X>
where
    S::Channels: Fits<C>,
{
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
        fused::apply("GroupNorm", self, x)
    }
}

/// The norm as an operation of a run.
struct Groups<E: Real, D: Device<E>> {
    norm: ChannelNorm<E, D>,
    groups: usize,
    /// What the forward pass has seen.
    by: Statistics,
}

impl<E: Real, D: GroupNormKernel<E>> Step<E, D> for Groups<E, D> {
    fn output(&self, input: Extent) -> Extent {
        let channels = self.norm.weight.shape().0;
        assert!(
            input.channels == channels,
            "GroupNorm takes {channels} channels, not {}: its input is {:?}",
            input.channels,
            input.dims()
        );
        input
    }

    fn cheap(&self) -> Option<&dyn Cheap<E, D>> {
        Some(self)
    }

    fn absorb(&mut self, function: Activation) -> bool {
        self.norm.absorb(function)
    }

    fn forward(&mut self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        self.by = device.group_statistics(x, input, self.groups);
        device.normalised_groups(&self.norm, &self.by, input, x)
    }

    fn backward(
        &mut self,
        device: &D,
        input: Extent,
        x: Option<&Buffer<E, D>>,
        mut dy: Buffer<E, D>,
        sum: Option<Buffer<E, D>>,
        grads: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err> {
        let x = x.expect("the input of a norm");
        let sums = device.differentiate_groups(&self.norm, &self.by, input, x, &mut dy, grads)?;
        Ok(match sum {
            None => {
                device.replace_group_gradient(&self.norm, &self.by, &sums, input, x, &mut dy);
                dy
            }
            Some(mut dx) => {
                device.add_group_gradient(&self.norm, &self.by, &sums, input, x, &dy, &mut dx);
                dx
            }
        })
    }
}

impl<E: Real, D: GroupNormKernel<E>> Cheap<E, D> for Groups<E, D> {
    fn again(&self, device: &D, input: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        device.normalised_groups(&self.norm, &self.by, input, x)
    }
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use crate::nn::{self, checks::*, *};

    type Layer<E> = nn::GroupNorm<2, 6, E, Cpu>;

    fn layer(dev: &Cpu) -> Layer<f64> {
        nn::GroupNorm { weight: dev.sample_normal(), bias: dev.sample_normal() }
    }

    /// Each group's moments, from its definition.
    fn normalised(layer: &Layer<f64>, x: &Tensor<Rank4<2, 6, 3, 2>, f64, Cpu>) -> Vec<f64> {
        let (x, weight, bias) = (x.as_vec(), layer.weight.array(), layer.bias.array());
        let groups = x.chunks_exact(18).enumerate();
        let one = |(group, x): (usize, &[f64])| {
            let mean = x.iter().sum::<f64>() / 18.0;
            let deviation = (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 18.0 + 1e-5).sqrt();
            let channel = |i: usize| (group % 2) * 3 + i / 6;
            let values =
                x.iter().enumerate().map(|(i, v)| (v - mean) / deviation * weight[channel(i)] + bias[channel(i)]);
            values.collect::<Vec<_>>()
        };
        groups.flat_map(one).collect()
    }

    #[test]
    fn it_is_that_of_its_definition_whatever_the_layout() {
        let dev = Cpu::seed_from_u64(1);
        let layer = layer(&dev);
        let x: Tensor<Rank4<2, 3, 2, 6>, f64, _> = dev.sample_normal() + 2.0;
        let last = x.permute::<Rank4<2, 6, 3, 2>, Axes4<0, 3, 1, 2>>();
        let target: Tensor<Rank4<2, 6, 3, 2>, f64, _> = dev.sample_normal();
        for x in [last.clone(), last.contiguous()] {
            near(&layer.forward(x.clone()).as_vec(), &normalised(&layer, &x), 1e-13);
            let loss = |layer: &Layer<f64>, x: Tensor<Rank4<2, 6, 3, 2>, f64, Cpu, OwnedTape<f64, Cpu>>| {
                (layer.forward(x) * target.clone()).square().sum()
            };
            agrees_with_differences(&x, |x| loss(&layer, x));
            parameter_agrees_with_differences(&layer.weight, |weight| {
                loss(&nn::GroupNorm { weight, bias: layer.bias.clone() }, x.leaky_trace())
            });
            parameter_agrees_with_differences(&layer.bias, |bias| {
                loss(&nn::GroupNorm { weight: layer.weight.clone(), bias }, x.leaky_trace())
            });
        }
    }

    #[test]
    fn functions_run_in_its_pass() {
        let dev = Cpu::seed_from_u64(2);
        let x: Tensor<Rank4<2, 6, 3, 2>, f64, _> = dev.sample_normal();
        let layers = (layer(&dev), nn::Relu, layer(&dev), nn::Gelu, layer(&dev), nn::Silu);
        let run = Fused(layers.clone());
        let (ours, theirs) = (run.forward(x.leaky_trace()), layers.forward(x.leaky_trace()));
        near(&ours.as_vec(), &theirs.as_vec(), 0.0);
        let (ours, theirs) = (ours.powi(3).sum().backward(), theirs.powi(3).sum().backward());
        near(&ours.get(&x).as_vec(), &theirs.get(&x).as_vec(), 1e-12);
        for layer in [&layers.0, &layers.2, &layers.4] {
            near(&ours.get(&layer.weight).as_vec(), &theirs.get(&layer.weight).as_vec(), 1e-12);
            near(&ours.get(&layer.bias).as_vec(), &theirs.get(&layer.bias).as_vec(), 1e-12);
        }
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(3);
        let layer = dev.build_module::<nn::GroupNorm<3, 6>, f32>();
        let x: Tensor<Rank4<3, 6, 61, 53>, f32, _> = dev.sample_normal();
        same_bits_for_any_threads(|| {
            let y = layer.forward(x.leaky_trace());
            let out = y.as_vec();
            let g = y.powf(3.0).mean().backward();
            vec![out, g.get(&x).as_vec(), g.get(&layer.weight).as_vec(), g.get(&layer.bias).as_vec()]
        });
    }

    #[test]
    fn shapes_and_errors() {
        let dev = Cpu::default();
        let layer = dev.build_module::<nn::GroupNorm<1, 3>, f32>();
        let _: Tensor<(usize, Const<4>, usize), f32, _> = layer.forward(dev.ones_like(&(3, Const, 2)));
        let message = panic_of(|| layer.forward(dev.ones_like(&(2, 4, 5, 6))));
        assert_eq!(message, "GroupNorm takes 3 channels, not 4: its input is [2, 4, 5, 6]");
        let message = panic_of(|| layer.forward(dev.ones_like(&(2, 3, 0, 6))));
        assert_eq!(message, "GroupNorm cannot run on nothing: its input is [2, 3, 0, 6]");
    }
}
