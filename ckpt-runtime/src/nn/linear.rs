//! Linear layers, alone and fused with the activation in front of or behind them.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, TensorCollection, TensorOptions},
    shapes::{Axes2, Axis, Dtype, HasShape, Rank1, Rank2, Shape},
    tensor::{Cpu, Gradients, Storage, Tape, Tensor},
    tensor_ops::{BroadcastTo, Device, PermuteTo, ReshapeTo, TryAdd, TryMatMul},
};
use rand_distr::Uniform;

use super::{
    activation::{ActivationFn, composed},
    rows::{Input, RowOperation, operate},
    shapes::{Features, rows_in},
    slice::to_slice,
};
use crate::{
    Real, ReplaySafe, Stateless,
    gradients::Buffer,
    kernels::{Activation, Affine, BufferKernel, Lent, LinearKernel, Rows},
};

/// `x weightᵀ + bias` over the last dimension: `torch.nn.Linear`, with its initial values.
///
/// As a part of a model's type, where dtype and device are not known yet, it is written without
/// them: `nn::Linear<784, 512>`.
///
/// Keeps its input alone for the backward pass.
///
/// # Shapes
/// `[.., I]` to `[.., O]`, behind up to three other dimensions; `weight` is `[O, I]`, `bias` `[O]`.
///
/// # Panics
/// Where a run-time last dimension is not `I`, or another one is 0.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let layer = dev.build_module::<nn::Linear<5, 2>, f32>();
/// let x: Tensor<Rank3<3, 4, 5>, f32, _> = dev.sample_normal();
/// let y: Tensor<Rank3<3, 4, 2>, f32, _> = layer.forward(x);
/// # let _ = y;
/// ```
#[derive(Clone, Debug)]
pub struct Linear<const I: usize, const O: usize, E: Dtype = f32, D: Storage<E> = Cpu> {
    /// `[out, in]`.
    pub weight: Tensor<Rank2<O, I>, E, D>,
    /// `[out]`.
    pub bias: Tensor<Rank1<O>, E, D>,
}

/// [`Linear`], then `A`: as the two layers in turn, in one pass.
///
/// Keeps its input, and the values before `A` (for [`Relu`](super::Relu) the output instead, which
/// the next layer keeps anyway). Where the next layer is linear, an [`ActLinear`] there keeps less.
///
/// # Shapes
/// `[.., I]` to `[.., O]`, as [`Linear`].
///
/// # Panics
/// As [`Linear`].
#[derive(Clone, Debug)]
pub struct LinearAct<const I: usize, const O: usize, A, E: Dtype = f32, D: Storage<E> = Cpu> {
    /// `[out, in]`.
    pub weight: Tensor<Rank2<O, I>, E, D>,
    /// `[out]`.
    pub bias: Tensor<Rank1<O>, E, D>,
    /// The function.
    pub activation: A,
}

/// `A`, then [`Linear`]: as the two layers in turn, keeping the input of `A` alone.
///
/// The function's values are computed again in the backward pass, which costs less than keeping
/// them: between two linear layers this halves what is kept.
///
/// # Shapes
/// `[.., I]` to `[.., O]`, as [`Linear`].
///
/// # Panics
/// As [`Linear`].
#[derive(Clone, Debug)]
pub struct ActLinear<A, const I: usize, const O: usize, E: Dtype = f32, D: Storage<E> = Cpu> {
    /// `[out, in]`.
    pub weight: Tensor<Rank2<O, I>, E, D>,
    /// `[out]`.
    pub bias: Tensor<Rank1<O>, E, D>,
    /// The function.
    pub activation: A,
}

macro_rules! layer {
    ($Layer:ident [$($generics:tt)*] [$($params:tt)*] $({$activation:ident})?: $before:expr, $after:expr) => {
        impl<$($generics)*, E: Dtype, D: Storage<E>> ReplaySafe for $Layer<$($params)*, E, D> {}
        impl<$($generics)*, E: Dtype, D: Storage<E>> Stateless for $Layer<$($params)*, E, D> {}
        impl<$($generics)*, E: Dtype, D: Storage<E>> NonMutableModule for $Layer<$($params)*, E, D> {}

        impl<$($generics)*, E: Real, D: Device<E>> BuildOnDevice<D, E> for $Layer<$($params)*> {
            type Built = $Layer<$($params)*, E, D>;
        }

        impl<$($generics)*, E: Real, D: Device<E>> TensorCollection<E, D> for $Layer<$($params)*, E, D> {
            type To<E2: Dtype, D2: Device<E2>> = $Layer<$($params)*, E2, D2>;

            fn iter_tensors<V: ModuleVisitor<Self, E, D>>(
                visitor: &mut V,
            ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
                visitor.visit_fields(
                    (
                        Self::tensor(
                            "weight",
                            |s| &s.weight,
                            |s| &mut s.weight,
                            TensorOptions::reset_with(fill_uniform::<I, _, _, _>),
                        ),
                        Self::tensor(
                            "bias",
                            |s| &s.bias,
                            |s| &mut s.bias,
                            TensorOptions::reset_with(fill_uniform::<I, _, _, _>),
                        ),
                    ),
                    |(weight, bias)| $Layer { weight, bias, $($activation: Default::default())? },
                )
            }
        }

        impl<$($generics)*, S: Features<I>, E: Real, D: Device<E>, T: Tape<E, D>> Module<Tensor<S, E, D, T>>
            for $Layer<$($params)*, E, D>
        {
            type Output = Tensor<S::With<O>, E, D, T>;
            type Error = D::Err;

            fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
                affine(stringify!($Layer), &self.weight, Some(&self.bias), $before, $after, x)
            }
        }
    };
}
layer! { Linear [const I: usize, const O: usize] [I, O]: Activation::Identity, Activation::Identity }
layer! { LinearAct [const I: usize, const O: usize, A: ActivationFn] [I, O, A] {activation}: Activation::Identity, A::FUNCTION }
layer! { ActLinear [A: ActivationFn, const I: usize, const O: usize] [A, I, O] {activation}: A::FUNCTION, Activation::Identity }

impl<const I: usize, const O: usize, E: Real, D: Device<E>> Linear<I, O, E, D> {
    /// The layer for a kernel.
    pub(super) fn affine(&self) -> Result<Affine<E, D>, D::Err> {
        Ok(Affine {
            weight: self.weight.clone().try_reshape_like(&(O, I))?,
            bias: Some(self.bias.clone().try_reshape_like(&(O,))?),
            outputs: 0..O,
            before: Activation::Identity,
            after: Activation::Identity,
        })
    }
}

/// `torch.nn.Linear`'s initial values: uniform up to the inverse root of the number of inputs.
pub(super) fn fill_uniform<const I: usize, S: Shape, E: Real, D: Device<E>>(
    t: &mut Tensor<S, E, D>,
) -> Result<(), D::Err> {
    let bound = E::one() / E::from_usize(I.max(1)).expect("a number of features").sqrt();
    t.try_fill_with_distr(Uniform::new(-bound, bound))
}

/// `after(before(x) weightᵀ + bias)`.
fn affine<const I: usize, const O: usize, S: Features<I>, E: Real, D: Device<E>, T: Tape<E, D>>(
    layer: &str,
    weight: &Tensor<Rank2<O, I>, E, D>,
    bias: Option<&Tensor<Rank1<O>, E, D>>,
    before: Activation,
    after: Activation,
    x: Tensor<S, E, D, T>,
) -> Result<Tensor<S::With<O>, E, D, T>, D::Err> {
    let rows = rows_in(layer, x.shape(), I);
    let to = x.shape().with::<O>();
    let weight = weight.clone().try_reshape_like(&(O, I))?;
    let bias = bias.map(|b| b.clone().try_reshape_like(&(O,))).transpose()?;
    affine_rows(Affine { weight, bias, outputs: 0..O, before, after }, rows, x)?.try_reshape_like(&to)
}

/// The layer on a tensor seen as so many rows.
pub(super) fn affine_rows<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    affine: Affine<E, D>,
    rows: usize,
    x: Tensor<S, E, D, T>,
) -> Result<Tensor<(usize, usize), E, D, T>, D::Err> {
    let (Some(kernel), Some(buffers)) = (<dyn LinearKernel<E, D>>::find(), <dyn BufferKernel<E, D>>::find()) else {
        return composed_affine(affine, rows, x);
    };
    let sizes = [affine.weight.shape().1, affine.outputs.len()];
    operate(Box::new(Layer { kernel, buffers, affine, behind: Behind::Nothing }), buffers, x, sizes)
}

/// A linear layer on the tape.
struct Layer<E: Real, D: Device<E>> {
    kernel: &'static dyn LinearKernel<E, D>,
    buffers: &'static dyn BufferKernel<E, D>,
    affine: Affine<E, D>,
    behind: Behind<E, D>,
}

/// What the slope of the function behind a layer is told from.
enum Behind<E: Real, D: Device<E>> {
    Nothing,
    /// The values before it.
    Input(Buffer<E, D>),
    /// Its own.
    Output(Rows<E, D>),
}

impl<E: Real, D: Device<E>> RowOperation<E, D> for Layer<E, D> {
    fn forward(&mut self, x: Lent<'_, Buffer<E, D>>, keep: bool) -> Result<Buffer<E, D>, D::Err> {
        let (y, before) = self.kernel.forward(&self.affine, x.get(), keep)?;
        if let Some(before) = before {
            self.behind = Behind::Input(before);
        }
        Ok(y)
    }

    fn see_output(&mut self, y: &Rows<E, D>) {
        if self.affine.after != Activation::Identity && matches!(self.behind, Behind::Nothing) {
            self.behind = Behind::Output(y.clone());
        }
    }

    fn backward(
        self: Box<Self>,
        input: &mut dyn Input<E, D>,
        dy: Buffer<E, D>,
        grads: &mut Gradients<E, D>,
    ) -> Result<(), D::Err> {
        let x = Lent::Owned(input.values()?);
        let behind = match self.behind {
            Behind::Nothing => None,
            Behind::Input(values) => Some(values),
            Behind::Output(y) => Some(self.buffers.take_in(&y)?),
        };
        let sum = &mut |grads: &mut _| input.sum(grads);
        let dx = self.kernel.backward(&self.affine, x, behind.as_ref(), dy, sum, grads)?;
        input.put(grads, dx)
    }
}

/// The same in dfdx's own operations, on any device.
fn composed_affine<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    affine: Affine<E, D>,
    rows: usize,
    x: Tensor<S, E, D, T>,
) -> Result<Tensor<(usize, usize), E, D, T>, D::Err> {
    let Affine { weight, bias, outputs, before, after } = affine;
    let inputs = weight.shape().1;
    let x = composed(x.try_reshape_like(&(rows, inputs))?, before)?;
    let weight = to_slice(weight.retaped::<T>())?.try_slice((outputs.clone(), 0..inputs))?;
    let y = x.try_matmul(weight.try_permute::<(usize, usize), Axes2<1, 0>>()?)?;
    let y = match bias {
        Some(bias) => {
            let bias = to_slice(bias.retaped::<T>())?.try_slice((outputs.clone(),))?;
            y.try_add(bias.try_broadcast_like::<_, Axis<0>>(&(rows, outputs.len()))?)?
        }
        None => y,
    };
    composed(y, after)
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use super::super::{Gelu, Relu, Silu, checks::*};
    use super::{ActLinear, LinearAct, affine, affine_rows, composed_affine};
    use crate::{
        kernels::{Activation, Affine},
        nn,
    };

    #[test]
    fn an_input_that_is_a_parameter_gets_both_gradients() {
        let dev = Cpu::seed_from_u64(9);
        let plain = dev.build_module::<nn::Linear<4, 4>, f64>();
        let layer = dev.build_module::<ActLinear<Gelu, 4, 4>, f64>();
        for before in [Activation::Identity, Activation::Gelu] {
            let (weight, bias) = match before {
                Activation::Identity => (&plain.weight, &plain.bias),
                _ => (&layer.weight, &layer.bias),
            };
            let affine = |weight: &Tensor<Rank2<4, 4>, f64, _>, bias: &Tensor<Rank1<4>, f64, _>| Affine {
                weight: weight.clone().reshape_like(&(4, 4)),
                bias: Some(bias.clone().reshape_like(&(4,))),
                outputs: 0..4,
                before,
                after: Activation::Identity,
            };
            // The same values, as tensors that the input is not.
            let (weight2, bias2) = (dev.tensor(weight.array()), dev.tensor(bias.array()));
            let sum = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<_>>();

            for run in [affine_rows, composed_affine] {
                let loss = |affine| run(affine, 4, weight.leaky_trace()).unwrap().exp().sum();
                let (one, two) = (loss(affine(weight, bias)).backward(), loss(affine(&weight2, &bias2)).backward());
                near(&one.get(weight).as_vec(), &sum(two.get(weight).as_vec(), two.get(&weight2).as_vec()), 1e-12);
            }
            for run in [affine_rows, composed_affine] {
                let loss = |affine| run(affine, 1, bias.leaky_trace()).unwrap().exp().sum();
                let (one, two) = (loss(affine(weight, bias)).backward(), loss(affine(&weight2, &bias2)).backward());
                near(&one.get(bias).as_vec(), &sum(two.get(bias).as_vec(), two.get(&bias2).as_vec()), 1e-12);
            }
        }
    }

    const ACTIVATIONS: [Activation; 4] = [Activation::Identity, Activation::Gelu, Activation::Relu, Activation::Silu];

    fn parameters(dev: &Cpu) -> (Tensor<Rank2<3, 5>, f64, Cpu>, Tensor<Rank1<3>, f64, Cpu>) {
        (dev.sample_normal(), dev.sample_normal())
    }

    #[test]
    fn the_kernels_agree_with_dfdx_operations() {
        let dev = Cpu::seed_from_u64(1);
        let (w, b) = parameters(&dev);
        // Few rows, some, and more than one block of them.
        for rows in [7, 130, 1100] {
            let x: Tensor<(usize, Const<5>), f64, _> = dev.sample_normal_like(&(rows, Const));
            for (before, after) in ACTIVATIONS.into_iter().flat_map(|b| ACTIVATIONS.map(|a| (b, a))) {
                for bias in [None, Some(&b)] {
                    let ours = affine("Linear", &w, bias, before, after, x.leaky_trace()).unwrap();
                    let weight = w.clone().reshape_like(&(3, 5));
                    let parts = bias.map(|b| b.clone().reshape_like(&(3,)));
                    let all = Affine { weight, bias: parts, outputs: 0..3, before, after };
                    let theirs = composed_affine(all, rows, x.leaky_trace()).unwrap();
                    near(&ours.as_vec(), &theirs.as_vec(), 1e-14);
                    let (ours, theirs) = (ours.square().sum().backward(), theirs.square().sum().backward());
                    near(&ours.get(&x).as_vec(), &theirs.get(&x).as_vec(), 1e-13);
                    near(&ours.get(&w).as_vec(), &theirs.get(&w).as_vec(), 1e-13);
                    if bias.is_some() {
                        near(&ours.get(&b).as_vec(), &theirs.get(&b).as_vec(), 1e-13);
                    }
                    let inferred = affine("Linear", &w, bias, before, after, x.clone()).unwrap();
                    near(
                        &inferred.as_vec(),
                        &affine("", &w, bias, before, after, x.leaky_trace()).unwrap().as_vec(),
                        0.0,
                    );
                }
            }
        }
    }

    #[test]
    fn gradients_agree_with_differences() {
        let dev = Cpu::seed_from_u64(2);
        let (w, b) = parameters(&dev);
        let x: Tensor<Rank3<2, 2, 5>, f64, _> = dev.sample_normal();
        for (before, after) in [(Activation::Identity, Activation::Gelu), (Activation::Silu, Activation::Identity)] {
            let loss = |w: &_, b: &_, x| affine("", w, Some(b), before, after, x).unwrap().square().sum();
            agrees_with_differences(&x, |x| loss(&w, &b, x));
            parameter_agrees_with_differences(&w, |w| loss(&w, &b, x.leaky_trace()));
            parameter_agrees_with_differences(&b, |b| loss(&w, &b, x.leaky_trace()));
        }
    }

    #[test]
    fn every_shape_keeps_its_leading_dimensions() {
        let dev = Cpu::default();
        let layer = dev.build_module::<nn::Linear<5, 3>, f32>();
        let _: Tensor<Rank1<3>, f32, _> = layer.forward(dev.ones::<Rank1<5>>());
        let _: Tensor<(usize, Const<3>), f32, _> = layer.forward(dev.ones_like(&(4, Const::<5>)));
        let _: Tensor<(usize, Const<2>, Const<3>), f32, _> = layer.forward(dev.ones_like(&(4, Const::<2>, 5)));
        let y: Tensor<Rank4<2, 1, 4, 3>, f32, _> = layer.forward(dev.ones::<Rank4<2, 1, 4, 5>>());
        near(&[y[[0, 0, 0, 1]].into()], &[y[[1, 0, 3, 1]].into()], 0.0);
    }

    #[test]
    fn fused_layers_are_the_layers_in_turn() {
        let dev = Cpu::seed_from_u64(3);
        let fused = dev.build_module::<(LinearAct<5, 8, Gelu>, ActLinear<Silu, 8, 3>, LinearAct<3, 2, Relu>), f64>();
        let mut apart =
            dev.build_module::<(nn::Linear<5, 8>, Gelu, Silu, nn::Linear<8, 3>, nn::Linear<3, 2>, Relu), f64>();
        (apart.0.weight, apart.0.bias) = (fused.0.weight.clone(), fused.0.bias.clone());
        (apart.3.weight, apart.3.bias) = (fused.1.weight.clone(), fused.1.bias.clone());
        (apart.4.weight, apart.4.bias) = (fused.2.weight.clone(), fused.2.bias.clone());
        let x: Tensor<Rank2<6, 5>, f64, _> = dev.sample_normal();
        let (a, b) = (fused.forward(x.leaky_trace()), apart.forward(x.leaky_trace()));
        near(&a.as_vec(), &b.as_vec(), 1e-14);
        let (a, b) = (a.square().sum().backward(), b.square().sum().backward());
        near(&a.get(&x).as_vec(), &b.get(&x).as_vec(), 1e-14);
        near(&a.get(&fused.0.weight).as_vec(), &b.get(&fused.0.weight).as_vec(), 1e-14);
        near(&a.get(&fused.2.bias).as_vec(), &b.get(&fused.2.bias).as_vec(), 1e-14);
    }

    #[test]
    fn strided_inputs_and_inputs_used_twice_get_their_gradients() {
        let dev = Cpu::seed_from_u64(4);
        let layer = dev.build_module::<nn::Linear<5, 3>, f64>();
        let x: Tensor<Rank2<5, 4>, f64, _> = dev.sample_normal();
        agrees_with_differences(&x, |x| {
            let x = x.permute::<Rank2<4, 5>, _>();
            (layer.forward(x.with_empty_tape()) * layer.forward(x)).sum()
        });
        let row: Tensor<Rank1<5>, f64, _> = dev.sample_normal();
        agrees_with_differences(&row, |x| layer.forward(x.broadcast::<Rank2<4, 5>, _>()).square().sum());
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(5);
        let layer = dev.build_module::<(LinearAct<96, 200, Gelu>, ActLinear<Gelu, 200, 96>), f32>();
        let x: Tensor<(usize, Const<96>), f32, _> = dev.sample_normal_like(&(1100, Const));
        same_bits_for_any_threads(|| {
            let y = layer.forward(x.leaky_trace());
            let out = y.as_vec();
            let g = y.square().mean().backward();
            let (w, b) = (&layer.0.weight, &layer.0.bias);
            vec![out, g.get(&x).as_vec(), g.get(w).as_vec(), g.get(b).as_vec(), g.get(&layer.1.weight).as_vec()]
        });
    }

    #[test]
    fn parameters_have_pytorch_names_and_shapes() {
        let dev = Cpu::default();
        let layer = dev.build_module::<LinearAct<5, 3, Gelu>, f32>();
        let file = std::env::temp_dir().join(format!("ckpt-linear-{}.safetensors", std::process::id()));
        layer.save_safetensors(&file).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(file).unwrap();
        let header = String::from_utf8_lossy(&bytes[8..]);
        assert!(header.contains("\"weight\"") && header.contains("[3,5]") && header.contains("\"bias\""), "{header}");
        assert!(layer.weight.as_vec().iter().all(|v| v.abs() <= 1.0 / 5.0f32.sqrt()));
    }

    #[test]
    fn wrong_inputs_are_named() {
        let dev = Cpu::default();
        let layer = dev.build_module::<nn::Linear<5, 3>, f32>();
        let message = panic_of(|| layer.forward(dev.ones_like(&(2, 4))));
        assert_eq!(message, "Linear takes 5 features, not 4: its input is [2, 4]");
        let message = panic_of(|| layer.forward(dev.ones_like(&(0, Const::<5>))));
        assert_eq!(message, "Linear cannot run on nothing: its input is [0, 5]");
    }
}
