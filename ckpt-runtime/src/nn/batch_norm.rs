//! Batch norm of images, alone and with the function behind it.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleMut, ModuleVisitor, TensorCollection, TensorOptions},
    shapes::{Dtype, HasShape, Rank1},
    tensor::{Cpu, Gradients, NoneTape, OwnedTape, Storage, Tensor},
    tensor_ops::{Device, ReshapeTo},
};

use super::{
    ActivationFn, Fits, Images,
    fused::{self, Buffer, Cheap, Link, Moments, Phase, Step, Steps},
    norm::epsilon,
};
use crate::{
    Real, ReplaySafe,
    kernels::{Activation, BatchNormKernel, ChannelNorm, Extent, Statistics},
};

/// Takes the mean of each channel over a batch of images away, divides by its deviation, and scales
/// and shifts it: `torch.nn.BatchNorm2d`, with its initial values; Ioffe and Szegedy,
/// arXiv 1502.03167.
///
/// In training (`forward_mut` with a tape) mean and variance are those of the batch, and move the
/// running ones, by a tenth: `running = 0.9 running + 0.1 batch`, where the batch's variance is that
/// of a sample (divided by one less than the number of values). A recompute works on a copy and
/// moves nothing, so that a step counts once. In inference (`forward` without a tape) the running
/// ones are used.
///
/// `EXPONENT` is that of ε, the power of ten that is added to the variance, and `PERCENT` PyTorch's
/// momentum, how far a batch moves the running statistics: parts of the type so that a saved layer
/// holds what PyTorch's holds. That has one number more, `num_batches_tracked`, an integer which
/// only matters without a momentum and is left out.
///
/// Keeps its input, and two numbers a channel. Sums are made of short ones in the dtype, which are
/// added in `f64`.
///
/// # Shapes
/// `[channels, height, width]` or `[batch, channels, height, width]`, to the same; all tensors are
/// `[C]`.
///
/// # Panics
/// Where run-time channels are not `C`, another dimension is 0, or in training a channel has but
/// one value.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let mut layer = dev.build_module::<nn::BatchNorm2d<3>, f32>();
/// let x: Tensor<Rank4<2, 3, 4, 4>, f32, _> = dev.sample_normal();
/// let trained = layer.forward_mut(x.leaky_trace());
/// let inferred: Tensor<Rank4<2, 3, 4, 4>, f32, _> = layer.forward(x);
/// # let _ = (trained, inferred);
/// ```
#[derive(Clone, Debug)]
pub struct BatchNorm2d<
    const C: usize,
    E: Dtype = f32,
    D: Storage<E> = Cpu,
    const EXPONENT: i32 = -5,
    const PERCENT: usize = 10,
> {
    /// The factor of each channel.
    pub weight: Tensor<Rank1<C>, E, D>,
    /// What is added to each channel.
    pub bias: Tensor<Rank1<C>, E, D>,
    /// Each channel's mean in inference. Not trained.
    pub running_mean: Tensor<Rank1<C>, E, D>,
    /// Each channel's variance in inference. Not trained.
    pub running_var: Tensor<Rank1<C>, E, D>,
}

/// [`BatchNorm2d`], then `A`: as the two layers in turn, in one pass.
///
/// Keeps what [`BatchNorm2d`] keeps: what `A` was given is computed again in the backward pass. In a
/// [`Fused`](super::Fused) run a function behind a `BatchNorm2d` is fused with it without this.
///
/// # Shapes
/// As [`BatchNorm2d`].
///
/// # Panics
/// As [`BatchNorm2d`].
#[derive(Clone, Debug)]
pub struct BatchNorm2dAct<
    const C: usize,
    A,
    E: Dtype = f32,
    D: Storage<E> = Cpu,
    const EXPONENT: i32 = -5,
    const PERCENT: usize = 10,
> {
    /// The factor of each channel.
    pub weight: Tensor<Rank1<C>, E, D>,
    /// What is added to each channel.
    pub bias: Tensor<Rank1<C>, E, D>,
    /// Each channel's mean in inference. Not trained.
    pub running_mean: Tensor<Rank1<C>, E, D>,
    /// Each channel's variance in inference. Not trained.
    pub running_var: Tensor<Rank1<C>, E, D>,
    /// The function.
    pub activation: A,
}

macro_rules! layer {
    ($Layer:ident [$($generics:tt)*] [$($params:tt)*] $({$activation:ident})?: $function:expr) => {
        impl<$($generics)*, E: Dtype, D: Storage<E>, const X: i32, const P: usize> ReplaySafe
            for $Layer<$($params)*, E, D, X, P>
        {
        }

        impl<$($generics)*, E: Real, D: Device<E>, const X: i32, const P: usize> BuildOnDevice<D, E>
            for $Layer<$($params)*, f32, Cpu, X, P>
        {
            type Built = $Layer<$($params)*, E, D, X, P>;
        }

        impl<$($generics)*, E: Real, D: Device<E>, const X: i32, const P: usize> TensorCollection<E, D>
            for $Layer<$($params)*, E, D, X, P>
        {
            type To<E2: Dtype, D2: Device<E2>> = $Layer<$($params)*, E2, D2, X, P>;

            fn iter_tensors<V: ModuleVisitor<Self, E, D>>(
                visitor: &mut V,
            ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
                visitor.visit_fields(
                    (
                        Self::tensor("weight", |s| &s.weight, |s| &mut s.weight, TensorOptions::reset_to_ones()),
                        Self::tensor("bias", |s| &s.bias, |s| &mut s.bias, TensorOptions::reset_to_zeros()),
                        Self::tensor(
                            "running_mean",
                            |s| &s.running_mean,
                            |s| &mut s.running_mean,
                            TensorOptions::detached(|t| t.try_fill_with_zeros()),
                        ),
                        Self::tensor(
                            "running_var",
                            |s| &s.running_var,
                            |s| &mut s.running_var,
                            TensorOptions::detached(|t| t.try_fill_with_ones()),
                        ),
                    ),
                    |(weight, bias, running_mean, running_var)| $Layer {
                        weight,
                        bias,
                        running_mean,
                        running_var,
                        $($activation: Default::default())?
                    },
                )
            }
        }

        impl<$($generics)*, N: Fits<C>, E: Real, D: BatchNormKernel<E>, const X: i32, const P: usize> Link<N, E, D>
            for $Layer<$($params)*, E, D, X, P>
        {
            type Out = N;

            fn steps(&self, phase: Phase, steps: &mut Steps<E, D>) {
                let flat = |t: &Tensor<Rank1<C>, E, D>| t.clone().try_reshape_like(&(C,)).expect("a shape of as many");
                let norm = ChannelNorm {
                    weight: flat(&self.weight),
                    bias: flat(&self.bias),
                    epsilon: epsilon(X),
                    function: $function,
                };
                let by = match phase {
                    Phase::Training => Statistics::default(),
                    Phase::Inference => {
                        Statistics { mean: doubles(&self.running_mean), variance: doubles(&self.running_var) }
                    }
                };
                steps.push(BatchNorm { name: stringify!($Layer), norm, phase, by, moments: None });
            }

            fn learn(&mut self, moments: &mut dyn Iterator<Item = Moments>) -> Result<(), D::Err> {
                let Moments { mean, variance, count } = moments.next().expect("what the layer has seen");
                let sample = count as f64 / (count as f64 - 1.0);
                move_by::<P, _, _, _>(&mut self.running_mean, mean.into_iter());
                move_by::<P, _, _, _>(&mut self.running_var, variance.into_iter().map(|v| v * sample));
                Ok(())
            }
        }

        impl<$($generics)*, S: Images, E: Real, D: BatchNormKernel<E>, const X: i32, const P: usize>
            Module<Tensor<S, E, D, NoneTape>> for $Layer<$($params)*, E, D, X, P>
        where
            S::Channels: Fits<C>,
        {
            type Output = Tensor<S, E, D>;
            type Error = D::Err;

            fn try_forward(&self, x: Tensor<S, E, D, NoneTape>) -> Result<Self::Output, D::Err> {
                fused::apply(stringify!($Layer), self, x)
            }
        }

        impl<$($generics)*, S: Images, E: Real, D: BatchNormKernel<E>, const X: i32, const P: usize>
            ModuleMut<Tensor<S, E, D, OwnedTape<E, D>>> for $Layer<$($params)*, E, D, X, P>
        where
            S::Channels: Fits<C>,
        {
            type Output = Tensor<S, E, D, OwnedTape<E, D>>;
            type Error = D::Err;

            fn try_forward_mut(&mut self, x: Tensor<S, E, D, OwnedTape<E, D>>) -> Result<Self::Output, D::Err> {
                fused::train(stringify!($Layer), self, x)
            }
        }
    };
}
layer! { BatchNorm2d [const C: usize] [C]: Activation::Identity }
layer! { BatchNorm2dAct [const C: usize, A: ActivationFn] [C, A] {activation}: A::FUNCTION }

/// A small tensor's values.
fn doubles<const C: usize, E: Real, D: Device<E>>(tensor: &Tensor<Rank1<C>, E, D>) -> Vec<f64> {
    tensor.as_vec().into_iter().map(|v| v.to_f64().unwrap_or(f64::NAN)).collect()
}

/// Moves a running statistic by so many percent of its way to the batch's.
fn move_by<const PERCENT: usize, const C: usize, E: Real, D: Device<E>>(
    running: &mut Tensor<Rank1<C>, E, D>,
    batch: impl Iterator<Item = f64>,
) {
    const { assert!(PERCENT <= 100, "a batch moves the running statistics by at most 100 percent") };
    let share = PERCENT as f64 / 100.0;
    let moved = doubles(running).into_iter().zip(batch).map(|(running, batch)| (1.0 - share) * running + share * batch);
    let moved: Vec<E> = moved.map(|v| E::from_f64(v).unwrap_or_else(E::nan)).collect();
    running.copy_from(&moved);
}

/// The norm as an operation of a run.
struct BatchNorm<E: Real, D: Device<E>> {
    name: &'static str,
    norm: ChannelNorm<E, D>,
    phase: Phase,
    /// What is normalised by: in training, what the forward pass has seen.
    by: Statistics,
    moments: Option<Moments>,
}

impl<E: Real, D: BatchNormKernel<E>> Step<E, D> for BatchNorm<E, D> {
    fn output(&self, input: Extent) -> Extent {
        let (channels, dims) = (self.norm.weight.shape().0, input.dims());
        assert!(
            input.channels == channels,
            "{} takes {channels} channels, not {}: its input is {dims:?}",
            self.name,
            input.channels
        );
        assert!(
            self.phase == Phase::Inference || input.pixels() > 1,
            "{} needs more than one value a channel in training: its input is {dims:?}",
            self.name
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
        if self.phase == Phase::Training {
            self.by = device.statistics(x, input.channels);
            let Statistics { mean, variance } = self.by.clone();
            self.moments = Some(Moments { mean, variance, count: input.pixels() });
        }
        device.normalised(&self.norm, &self.by, x)
    }

    fn backward(
        &mut self,
        device: &D,
        _: Extent,
        x: Option<&Buffer<E, D>>,
        mut dy: Buffer<E, D>,
        sum: Option<Buffer<E, D>>,
        grads: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err> {
        let x = x.expect("the input of a norm");
        let sums = device.differentiate(&self.norm, &self.by, x, &mut dy, grads)?;
        Ok(match sum {
            None => {
                device.replace_gradient(&self.norm, &self.by, &sums, x, &mut dy);
                dy
            }
            Some(mut dx) => {
                device.add_gradient(&self.norm, &self.by, &sums, x, &dy, &mut dx);
                dx
            }
        })
    }

    fn take_moments(&mut self) -> Option<Moments> {
        self.moments.take()
    }
}

impl<E: Real, D: BatchNormKernel<E>> Cheap<E, D> for BatchNorm<E, D> {
    fn again(&self, device: &D, _: Extent, x: &Buffer<E, D>) -> Result<Buffer<E, D>, D::Err> {
        device.normalised(&self.norm, &self.by, x)
    }
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;
    use rand_distr::{Distribution, StandardNormal};

    use crate::{
        Checkpoint, Policy,
        nn::{self, checks::*, *},
        with_policy,
    };

    type OfThree<E> = nn::BatchNorm2d<3, E, Cpu>;

    /// A layer with parameters and statistics that show.
    fn layer<E: crate::Real>(dev: &Cpu) -> OfThree<E>
    where
        Cpu: Device<E>,
        StandardNormal: Distribution<E>,
    {
        let mut layer = dev.build_module::<nn::BatchNorm2d<3>, E>();
        layer.weight.fill_with_distr(StandardNormal);
        layer.bias.fill_with_distr(StandardNormal);
        layer.running_mean.fill_with_distr(StandardNormal);
        layer
    }

    fn with<A: Default>(layer: &OfThree<f64>) -> nn::BatchNorm2dAct<3, A, f64, Cpu> {
        let OfThree { weight, bias, running_mean, running_var } = layer.clone();
        nn::BatchNorm2dAct { weight, bias, running_mean, running_var, activation: A::default() }
    }

    #[test]
    fn it_is_that_of_dfdx_whatever_the_layout() {
        let dev = Cpu::seed_from_u64(1);
        // More than one part, each of more than one block.
        let last: Tensor<Rank4<2, 60, 50, 3>, f64, _> = dev.sample_normal();
        let last = (last + 2.0).permute::<Rank4<2, 3, 60, 50>, Axes4<0, 3, 1, 2>>();
        let first = last.clone().contiguous();
        let target: Tensor<Rank4<2, 3, 60, 50>, f64, _> = dev.sample_normal();
        let mut theirs = dev.build_module::<dfdx::nn::builders::BatchNorm2D<3>, f64>();
        let ours = layer::<f64>(&dev);
        theirs.scale = ours.weight.clone();
        theirs.bias = ours.bias.clone();
        theirs.running_mean = ours.running_mean.clone();
        let expected = theirs.forward_mut(first.leaky_trace());
        let values = expected.as_vec();
        let gradients = (expected * target.clone()).square().sum().backward();
        for x in [first.clone(), last] {
            let mut ours = ours.clone();
            let y = ours.forward_mut(x.leaky_trace());
            near(&y.as_vec(), &values, 1e-13);
            let ours_of = (y * target.clone()).square().sum().backward();
            near(&ours_of.get(&x).as_vec(), &gradients.get(&first).as_vec(), 1e-12);
            near(&ours_of.get(&ours.weight).as_vec(), &gradients.get(&theirs.scale).as_vec(), 1e-12);
            near(&ours_of.get(&ours.bias).as_vec(), &gradients.get(&theirs.bias).as_vec(), 1e-12);
            near(&ours.running_mean.as_vec(), &theirs.running_mean.as_vec(), 1e-14);
            near(&ours.running_var.as_vec(), &theirs.running_var.as_vec(), 1e-13);
            near(&ours.forward(x.clone()).as_vec(), &theirs.forward(x).as_vec(), 1e-13);
        }
    }

    #[test]
    fn gradients_agree_with_differences() {
        let dev = Cpu::seed_from_u64(2);
        let x: Tensor<Rank4<2, 3, 2, 3>, f64, _> = dev.sample_normal();
        let target: Tensor<Rank4<2, 3, 2, 3>, f64, _> = dev.sample_normal();
        let layer = layer::<f64>(&dev);
        fn check<A: ActivationFn>(
            layer: &OfThree<f64>,
            x: &Tensor<Rank4<2, 3, 2, 3>, f64, Cpu>,
            target: &Tensor<Rank4<2, 3, 2, 3>, f64, Cpu>,
        ) {
            let layer = with::<A>(layer);
            let loss = |mut layer: nn::BatchNorm2dAct<3, A, f64, Cpu>, x| {
                (layer.forward_mut(x) * target.clone()).square().sum()
            };
            agrees_with_differences(x, |x| loss(layer.clone(), x));
            parameter_agrees_with_differences(&layer.weight, |weight| {
                loss(nn::BatchNorm2dAct { weight, ..layer.clone() }, x.leaky_trace())
            });
            parameter_agrees_with_differences(&layer.bias, |bias| {
                loss(nn::BatchNorm2dAct { bias, ..layer.clone() }, x.leaky_trace())
            });
        }
        check::<Gelu>(&layer, &x, &target);
        check::<Relu>(&layer, &x, &target);
        check::<Silu>(&layer, &x, &target);
        agrees_with_differences(&x, |x| (layer.clone().forward_mut(x) * target.clone()).square().sum());
    }

    #[test]
    fn the_fused_layer_is_the_two_in_turn_alone_and_in_a_run() {
        let dev = Cpu::seed_from_u64(3);
        let layer = layer::<f64>(&dev);
        let x: Tensor<(usize, Const<3>, usize, usize), f64, _> = dev.sample_normal_like(&(3, Const, 5, 4));
        fn check<A>(layer: &OfThree<f64>, x: &Tensor<(usize, Const<3>, usize, usize), f64, Cpu>)
        where
            A: ActivationFn
                + Link<Const<3>, f64, Cpu, Out = Const<3>>
                + Module<
                    Tensor<(usize, Const<3>, usize, usize), f64, Cpu, OwnedTape<f64, Cpu>>,
                    Output = Tensor<(usize, Const<3>, usize, usize), f64, Cpu, OwnedTape<f64, Cpu>>,
                    Error = CpuError,
                > + Module<
                    Tensor<(usize, Const<3>, usize, usize), f64, Cpu>,
                    Output = Tensor<(usize, Const<3>, usize, usize), f64, Cpu>,
                    Error = CpuError,
                >,
        {
            let mut turns = layer.clone();
            let turned = A::default().forward(turns.forward_mut(x.leaky_trace()));
            let mut alone = with::<A>(layer);
            let single = alone.forward_mut(x.leaky_trace());
            // Behind a norm that the run has to compute again.
            let mut run = Fused((with::<Relu>(layer), (layer.clone(), A::default()), Gelu));
            let longer = run.forward_mut(x.leaky_trace());
            let mut steps = (with::<Relu>(layer), layer.clone());
            let stepped = steps.0.forward_mut(x.leaky_trace());
            let stepped = Gelu.forward(A::default().forward(steps.1.forward_mut(stepped)));
            near(&single.as_vec(), &turned.as_vec(), 0.0);
            near(&longer.as_vec(), &stepped.as_vec(), 0.0);
            assert_eq!(run.0.1.0.running_var.as_vec(), steps.1.running_var.as_vec());
            assert_eq!(alone.running_mean.as_vec(), turns.running_mean.as_vec());
            let inferred = A::default().forward(turns.forward(x.clone()));
            near(&alone.forward(x.clone()).as_vec(), &inferred.as_vec(), 0.0);
            let gradients = |y: Tensor<_, f64, Cpu, OwnedTape<f64, Cpu>>| y.powi(3).sum().backward();
            let (single, turned) = (gradients(single), gradients(turned));
            near(&single.get(x).as_vec(), &turned.get(x).as_vec(), 1e-12);
            near(&single.get(&alone.weight).as_vec(), &turned.get(&turns.weight).as_vec(), 1e-12);
            let (longer, stepped) = (longer.powi(3).sum().backward(), stepped.powi(3).sum().backward());
            near(&longer.get(x).as_vec(), &stepped.get(x).as_vec(), 1e-12);
            near(&longer.get(&layer.bias).as_vec(), &stepped.get(&layer.bias).as_vec(), 1e-12);
        }
        check::<Gelu>(&layer, &x);
        check::<Relu>(&layer, &x);
        check::<Silu>(&layer, &x);
    }

    #[test]
    fn a_recompute_changes_neither_bits_nor_statistics() {
        let run = |policy| {
            with_policy(policy, || {
                let dev = Cpu::seed_from_u64(4);
                let mut model = Checkpoint((layer::<f32>(&dev), nn::Relu));
                let x: Tensor<Rank4<2, 3, 8, 8>, f32, _> = dev.sample_normal();
                let y = model.forward_mut(x.leaky_trace());
                let out = y.as_vec();
                let g = y.square().sum().backward();
                let layer = &model.0.0;
                let gradients = [g.get(&x).as_vec(), g.get(&layer.weight).as_vec(), g.get(&layer.bias).as_vec()];
                (out, gradients, layer.running_mean.as_vec(), layer.running_var.as_vec())
            })
        };
        let plain = run(Policy::plain());
        assert!(plain.3.iter().all(|v| *v != 1.0));
        assert!(plain == run(Policy::checkpoint()) && plain == run(Policy::keep()));
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(5);
        let layer = layer::<f32>(&dev);
        let x: Tensor<Rank4<3, 3, 61, 53>, f32, _> = dev.sample_normal();
        same_bits_for_any_threads(|| {
            let mut layer = layer.clone();
            let y = layer.forward_mut(x.leaky_trace());
            let out = y.as_vec();
            let g = y.powf(3.0).mean().backward();
            vec![out, g.get(&x).as_vec(), g.get(&layer.weight).as_vec(), layer.running_var.as_vec()]
        });
    }

    #[test]
    fn narrow_numbers_give_what_wide_ones_do() {
        let dev = Cpu::seed_from_u64(6);
        let x: Tensor<Rank4<2, 3, 50, 50>, f32, _> = dev.sample_normal() + 3.0;
        let mut narrow = dev.build_module::<nn::BatchNorm2d<3>, f32>();
        let mut wide = dev.build_module::<nn::BatchNorm2d<3>, f64>();
        let of_wide = x.clone().to_dtype::<f64>();
        let (y, z) = (narrow.forward_mut(x.leaky_trace()), wide.forward_mut(of_wide.leaky_trace()));
        let doubles = |v: Vec<f32>| v.into_iter().map(f64::from).collect::<Vec<_>>();
        near(&doubles(y.as_vec()), &z.as_vec(), 5e-6);
        near(&doubles(narrow.running_var.as_vec()), &wide.running_var.as_vec(), 1e-6);
        let (g, h) = (y.powi(3).mean().backward(), z.powi(3).mean().backward());
        near(&doubles(g.get(&narrow.weight).as_vec()), &h.get(&wide.weight).as_vec(), 2e-6);
        near(&doubles(g.get(&narrow.bias).as_vec()), &h.get(&wide.bias).as_vec(), 2e-6);
    }

    #[test]
    fn shapes_and_errors() {
        let dev = Cpu::default();
        let mut layer = dev.build_module::<nn::BatchNorm2d<3, f32, Cpu, -3, 100>, f64>();
        let _: Tensor<(usize, usize, Const<4>), f64, _> = layer.forward(dev.ones_like(&(3, 2, Const)));
        let y = layer.forward_mut(dev.sample_normal::<Rank3<3, 4, 4>>().traced(Gradients::leaky()));
        assert_eq!(y.shape(), &(Const::<3>, Const::<4>, Const::<4>));
        // All of the way to the batch's.
        assert!(layer.running_mean.as_vec().iter().all(|m| *m != 0.0));
        let message = panic_of(|| layer.forward(dev.ones_like(&(2, 4, 5, 6))));
        assert_eq!(message, "BatchNorm2d takes 3 channels, not 4: its input is [2, 4, 5, 6]");
        let message = panic_of(|| layer.forward(dev.ones_like(&(0, 3, 5, 6))));
        assert_eq!(message, "BatchNorm2d cannot run on nothing: its input is [0, 3, 5, 6]");
        let message = panic_of(|| layer.clone().forward_mut(dev.ones::<Rank3<3, 1, 1>>().leaky_trace()));
        assert_eq!(message, "BatchNorm2d needs more than one value a channel in training: its input is [1, 3, 1, 1]");
    }
}
