//! Norms over the last dimension.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, TensorCollection, TensorOptions},
    shapes::{Axis, Dtype, HasShape, Rank1, Shape},
    tensor::{Cpu, Gradients, Storage, Tape, Tensor, WithEmptyTape},
    tensor_ops::{BroadcastTo, Device, MeanTo, ReshapeTo, TryAdd, TryDiv, TryMul, TrySub},
};

use super::{
    pre_norm::RowNorm,
    rows::{Input, RowOperation, operate},
    shapes::{Features, rows_in},
};
use crate::{
    Real, ReplaySafe, Stateless,
    gradients::Buffer,
    kernels::{BufferKernel, Lent, Norm, NormKernel},
};

/// Takes the mean of each row away, divides by its deviation, and scales and shifts each feature:
/// `torch.nn.LayerNorm` over one dimension, with its initial values; Ba et al., arXiv 1607.06450.
///
/// `EXPONENT` is that of ε, the power of ten that is added to the variance: -5 as in PyTorch, and a
/// part of the type so that a saved layer holds what PyTorch's holds.
///
/// Keeps its input, and two numbers a row.
///
/// # Shapes
/// `[.., M]` to the same, behind up to three other dimensions; `weight` and `bias` are `[M]`.
///
/// # Panics
/// Where a run-time last dimension is not `M`, or another one is 0.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let layer = dev.build_module::<nn::LayerNorm<2>, f32>();
/// let y = layer.forward(dev.tensor([[1.0, 3.0], [7.0, 5.0]]));
/// assert!((y.array()[0][0] + 1.0).abs() < 1e-4 && (y.array()[1][0] - 1.0).abs() < 1e-4);
/// ```
#[derive(Clone, Debug)]
pub struct LayerNorm<const M: usize, E: Dtype = f32, D: Storage<E> = Cpu, const EXPONENT: i32 = -5> {
    /// The factor of each feature.
    pub weight: Tensor<Rank1<M>, E, D>,
    /// What is added to each feature.
    pub bias: Tensor<Rank1<M>, E, D>,
}

/// Divides each row by the root of the mean of its squares, and scales each feature:
/// `torch.nn.RMSNorm` over one dimension, with its initial values; Zhang and Sennrich,
/// arXiv 1910.07467.
///
/// `EXPONENT` is that of ε, the power of ten that is added to the mean of the squares; PyTorch's own
/// default is the dtype's precision, models mostly give 1e-5 or 1e-6.
///
/// Keeps its input, and two numbers a row.
///
/// # Shapes
/// `[.., M]` to the same, behind up to three other dimensions; `weight` is `[M]`.
///
/// # Panics
/// Where a run-time last dimension is not `M`, or another one is 0.
#[derive(Clone, Debug)]
pub struct RmsNorm<const M: usize, E: Dtype = f32, D: Storage<E> = Cpu, const EXPONENT: i32 = -6> {
    /// The factor of each feature.
    pub weight: Tensor<Rank1<M>, E, D>,
}

macro_rules! layer {
    ($Layer:ident $(, $bias:ident)?) => {
        impl<const M: usize, const X: i32, E: Dtype, D: Storage<E>> ReplaySafe for $Layer<M, E, D, X> {}
        impl<const M: usize, const X: i32, E: Dtype, D: Storage<E>> Stateless for $Layer<M, E, D, X> {}
        impl<const M: usize, const X: i32, E: Dtype, D: Storage<E>> NonMutableModule for $Layer<M, E, D, X> {}

        impl<const M: usize, const X: i32, E: Real, D: Device<E>> BuildOnDevice<D, E> for $Layer<M, f32, Cpu, X> {
            type Built = $Layer<M, E, D, X>;
        }

        impl<const M: usize, const X: i32, E: Real, D: Device<E>> TensorCollection<E, D> for $Layer<M, E, D, X> {
            type To<E2: Dtype, D2: Device<E2>> = $Layer<M, E2, D2, X>;

            fn iter_tensors<V: ModuleVisitor<Self, E, D>>(
                visitor: &mut V,
            ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
                visitor.visit_fields(
                    (
                        Self::tensor("weight", |s| &s.weight, |s| &mut s.weight, TensorOptions::reset_to_ones()),
                        $( Self::tensor("bias", |s| &s.$bias, |s| &mut s.$bias, TensorOptions::reset_to_zeros()), )?
                    ),
                    |(weight, $($bias,)?)| Self::To { weight, $($bias)? },
                )
            }
        }

        impl<const M: usize, const X: i32, S: Features<M>, E: Real, D: Device<E>, T: Tape<E, D>>
            Module<Tensor<S, E, D, T>> for $Layer<M, E, D, X>
        {
            type Output = Tensor<S, E, D, T>;
            type Error = D::Err;

            fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
                let rows = rows_in(stringify!($Layer), x.shape(), M);
                normalise(RowNorm::norm(self)?, rows, x)
            }
        }

        impl<const M: usize, const X: i32, E: Real, D: Device<E>> RowNorm<E, D> for $Layer<M, E, D, X> {
            const LAYER: &'static str = stringify!($Layer);
            const FEATURES: usize = M;

            fn norm(&self) -> Result<Norm<E, D>, D::Err> {
                #[allow(unused_mut, unused_assignments)]
                let mut bias = None;
                $( bias = Some(self.$bias.clone().try_reshape_like(&(M,))?); )?
                let weight = self.weight.clone().try_reshape_like(&(M,))?;
                Ok(Norm { weight, bias, epsilon: epsilon(X) })
            }
        }
    };
}
layer! { LayerNorm, bias }
layer! { RmsNorm }

/// Ten to the power of `exponent`.
pub(super) fn epsilon(exponent: i32) -> f64 {
    // Not `powi` with a negative power, which rounds more than once.
    if exponent < 0 { 1.0 / 10f64.powi(-exponent) } else { 10f64.powi(exponent) }
}

fn normalise<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    norm: Norm<E, D>,
    rows: usize,
    x: Tensor<S, E, D, T>,
) -> Result<Tensor<S, E, D, T>, D::Err> {
    let (Some(kernel), Some(buffers)) = (<dyn NormKernel<E, D>>::find(), <dyn BufferKernel<E, D>>::find()) else {
        return composed(norm, rows, x);
    };
    let (shape, width) = (*x.shape(), norm.weight.shape().0);
    let operation = Normalisation { kernel, norm, moments: None };
    operate(Box::new(operation), buffers, x, [width, width])?.try_reshape_like(&shape)
}

/// A norm on the tape.
struct Normalisation<E: Real, D: Device<E>> {
    kernel: &'static dyn NormKernel<E, D>,
    norm: Norm<E, D>,
    moments: Option<Buffer<E, D>>,
}

impl<E: Real, D: Device<E>> RowOperation<E, D> for Normalisation<E, D> {
    fn forward(&mut self, x: Lent<'_, Buffer<E, D>>, keep: bool) -> Result<Buffer<E, D>, D::Err> {
        let (y, moments) = self.kernel.forward(&self.norm, x)?;
        self.moments = keep.then_some(moments);
        Ok(y)
    }

    fn backward(
        self: Box<Self>,
        input: &mut dyn Input<E, D>,
        dy: Buffer<E, D>,
        grads: &mut Gradients<E, D>,
    ) -> Result<(), D::Err> {
        let x = input.values()?;
        differentiate(self.kernel, &self.norm, input, &x, &self.moments.expect("what forward kept"), &dy, grads)
    }
}

/// Adds the gradients of a norm's input `x` and of its parameters.
pub(super) fn differentiate<E: Real, D: Device<E>>(
    kernel: &dyn NormKernel<E, D>,
    norm: &Norm<E, D>,
    input: &mut dyn Input<E, D>,
    x: &Buffer<E, D>,
    moments: &Buffer<E, D>,
    dy: &Buffer<E, D>,
    grads: &mut Gradients<E, D>,
) -> Result<(), D::Err> {
    let mut dx = input.sum(grads)?.expect("a norm's input is a tensor, which has a gradient of its own");
    let sums = kernel.backward(norm, x, moments, dy, &mut dx)?;
    // First the input's, which is a parameter's where somebody normalises that.
    input.put(grads, dx)?;
    kernel.add_parameters(norm, &sums, grads)
}

/// The norm in dfdx's own operations, on any device.
fn composed<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    norm: Norm<E, D>,
    rows: usize,
    x: Tensor<S, E, D, T>,
) -> Result<Tensor<S, E, D, T>, D::Err> {
    let shape = *x.shape();
    let to = (rows, norm.weight.shape().0);
    let epsilon = E::from_f64(norm.epsilon).expect("a finite constant");
    let mut x = x.try_reshape_like(&to)?;
    if norm.bias.is_some() {
        let mean = x.with_empty_tape().try_mean::<(usize,), Axis<1>>()?;
        x = x.try_sub(mean.try_broadcast_like::<_, Axis<1>>(&to)?)?;
    }
    let deviation = x.with_empty_tape().try_square()?.try_mean::<(usize,), Axis<1>>()?.try_add(epsilon)?.try_sqrt()?;
    let y = x.try_div(deviation.try_broadcast_like::<_, Axis<1>>(&to)?)?;
    let y = y.try_mul(norm.weight.retaped::<T>().try_broadcast_like::<_, Axis<0>>(&to)?)?;
    let y = match norm.bias {
        Some(bias) => y.try_add(bias.retaped::<T>().try_broadcast_like::<_, Axis<0>>(&to)?)?,
        None => y,
    };
    y.try_reshape_like(&shape)
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use super::{Norm, composed, normalise};
    use crate::nn::{self, checks::*};

    fn norms(dev: &Cpu) -> [Norm<f64, Cpu>; 2] {
        let weight = dev.sample_normal_like(&(37,));
        let bias: Tensor<(usize,), f64, _> = dev.sample_normal_like(&(37,));
        [Some(bias), None].map(|bias| Norm { weight: weight.clone(), bias, epsilon: 1e-5 })
    }

    #[test]
    fn the_kernels_agree_with_dfdx_operations_and_differences() {
        let dev = Cpu::seed_from_u64(1);
        let x: Tensor<Rank2<6, 37>, f64, _> = dev.sample_normal();
        let target: Tensor<Rank2<6, 37>, f64, _> = dev.sample_normal();
        for norm in norms(&dev) {
            let again = |norm: &Norm<f64, Cpu>| Norm { weight: norm.weight.clone(), bias: norm.bias.clone(), ..*norm };
            let ours = normalise(again(&norm), 6, x.leaky_trace()).unwrap();
            let theirs = composed(again(&norm), 6, x.leaky_trace()).unwrap();
            near(&ours.as_vec(), &theirs.as_vec(), 1e-13);
            let loss = |y: Tensor<Rank2<6, 37>, f64, Cpu, OwnedTape<f64, Cpu>>| (y * target.clone()).square().sum();
            let (ours, theirs) = (loss(ours).backward(), loss(theirs).backward());
            near(&ours.get(&x).as_vec(), &theirs.get(&x).as_vec(), 1e-12);
            near(&ours.get(&norm.weight).as_vec(), &theirs.get(&norm.weight).as_vec(), 1e-12);
            if let Some(bias) = &norm.bias {
                near(&ours.get(bias).as_vec(), &theirs.get(bias).as_vec(), 1e-12);
            }
            agrees_with_differences(&x, |x| loss(normalise(again(&norm), 6, x).unwrap()));
        }
    }

    #[test]
    fn shapes_strides_and_errors() {
        let dev = Cpu::seed_from_u64(2);
        let layer = dev.build_module::<nn::LayerNorm<5>, f64>();
        let _: Tensor<Rank1<5>, f64, _> = layer.forward(dev.ones());
        let _: Tensor<(usize, Const<2>, usize), f64, _> = layer.forward(dev.ones_like(&(3, Const, 5)));
        let x: Tensor<Rank2<5, 4>, f64, _> = dev.sample_normal();
        let target: Tensor<Rank2<4, 5>, f64, _> = dev.sample_normal();
        agrees_with_differences(&x, |x| (layer.forward(x.permute::<Rank2<4, 5>, _>()) * target.clone()).square().sum());
        let message = panic_of(|| layer.forward(dev.ones_like(&(2, 6))));
        assert_eq!(message, "LayerNorm takes 5 features, not 6: its input is [2, 6]");
        let message = panic_of(|| dev.build_module::<nn::RmsNorm<5>, f64>().forward(dev.ones_like(&(0, Const::<5>))));
        assert_eq!(message, "RmsNorm cannot run on nothing: its input is [0, 5]");
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(3);
        let layer = dev.build_module::<(nn::LayerNorm<70>, nn::RmsNorm<70>), f32>();
        let x: Tensor<(usize, Const<70>), f32, _> = dev.sample_normal_like(&(1003, Const));
        same_bits_for_any_threads(|| {
            let y = layer.forward(x.leaky_trace());
            let out = y.as_vec();
            let g = y.powf(3.0).mean().backward();
            vec![out, g.get(&x).as_vec(), g.get(&layer.0.weight).as_vec(), g.get(&layer.0.bias).as_vec()]
        });
    }
}
