//! The residual branch of a pre-norm Transformer as one operation.

use dfdx::{
    nn::Module,
    shapes::{HasShape, Shape},
    tensor::{Gradients, Merge, NoneTape, PutTape, SplitTape, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};

use super::{
    add::try_add,
    dropout::{DropoutTape, drops},
    norm::differentiate,
    rows::{Input, RowOperation, operate},
    shapes::rows_in,
};
use crate::{
    Real,
    gradients::Buffer,
    kernels::{AddKernel, BufferKernel, DropoutKernel, Lent, Mask, Norm, NormKernel},
    replay,
};

/// A norm that [`pre_norm`] takes: [`LayerNorm`](super::LayerNorm) or [`RmsNorm`](super::RmsNorm).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a norm that `pre_norm` takes",
    label = "`nn::LayerNorm` and `nn::RmsNorm` are, on the device and in the dtype of `x`"
)]
pub trait RowNorm<E: Real, D: Device<E>> {
    #[doc(hidden)]
    const LAYER: &'static str;
    #[doc(hidden)]
    const FEATURES: usize;
    #[doc(hidden)]
    fn norm(&self) -> Result<Norm<E, D>, D::Err>;
}

/// A layer that [`pre_norm`] takes, from tensors of shape `S` to the same:
/// [`MultiHeadAttention`](super::MultiHeadAttention) or [`FeedForward`](super::FeedForward).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer that `pre_norm` takes for a tensor of shape `{S}`",
    label = "`nn::MultiHeadAttention` and `nn::FeedForward` of as many features are, on the device and in the dtype of `x`",
    note = "around another layer write `nn::add(x, layer.forward(norm.forward(x)))`"
)]
pub trait RowLayer<S: Shape, E: Real, D: Device<E>> {
    /// The layer's operation, where the device has kernels for it.
    #[doc(hidden)]
    fn operation(&self, device: &D, shape: &S, training: bool) -> Result<Option<Box<dyn RowOperation<E, D>>>, D::Err>;
}

/// `x + dropout(layer(norm(x)))`, a branch of a pre-norm Transformer (Xiong et al., arXiv 2002.04745;
/// `torch.nn.TransformerEncoderLayer` with `norm_first=True` has two of them).
///
/// As its parts in turn, to the bit, but one operation on the tape: of what they hand on, it keeps its
/// input and what the layer keeps inside. The norm's output comes again from the input in the
/// backward pass, for the price of reading it, and nothing is copied between the parts.
///
/// In training each value of the layer's output is dropped with probability `p`, as by
/// [`Dropout`](super::Dropout): 0 drops none.
///
/// # Shapes
/// `[.., M]` to the same, as the layer takes it.
///
/// # Panics
/// Where a run-time dimension does not fit, with the part's name and the numbers; in training where
/// `p` is not in `[0, 1]`; and on a device error.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let norm = dev.build_module::<nn::LayerNorm<4>, f32>();
/// let layer = dev.build_module::<nn::FeedForward<4, 16>, f32>();
/// let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
/// let y = nn::pre_norm(x.clone(), &norm, &layer, 0.1);
/// assert_eq!(y.array(), nn::add(layer.forward(norm.forward(x.clone())), x).array());
/// ```
pub fn pre_norm<S, E, D, T, N, L>(x: Tensor<S, E, D, T>, norm: &N, layer: &L, p: f64) -> Tensor<S, E, D, T>
where
    S: Shape,
    E: Real,
    D: Device<E>,
    T: Tape<E, D> + DropoutTape<E, D> + Merge<NoneTape>,
    N: RowNorm<E, D> + Module<Tensor<S, E, D, T>, Output = Tensor<S, E, D, T>, Error = D::Err>,
    L: RowLayer<S, E, D> + Module<Tensor<S, E, D, T>, Output = Tensor<S, E, D, T>, Error = D::Err>,
{
    try_pre_norm(x, norm, layer, p).expect("pre_norm")
}

/// [`pre_norm`], which see.
///
/// # Errors
/// The device's.
pub fn try_pre_norm<S, E, D, T, N, L>(
    x: Tensor<S, E, D, T>,
    norm: &N,
    layer: &L,
    p: f64,
) -> Result<Tensor<S, E, D, T>, D::Err>
where
    S: Shape,
    E: Real,
    D: Device<E>,
    T: Tape<E, D> + DropoutTape<E, D> + Merge<NoneTape>,
    N: RowNorm<E, D> + Module<Tensor<S, E, D, T>, Output = Tensor<S, E, D, T>, Error = D::Err>,
    L: RowLayer<S, E, D> + Module<Tensor<S, E, D, T>, Output = Tensor<S, E, D, T>, Error = D::Err>,
{
    let (shape, features) = (*x.shape(), N::FEATURES);
    rows_in(N::LAYER, &shape, features);
    let Some(kernels) = Kernels::find() else { return composed(x, norm, layer, p) };
    let Some(layer) = layer.operation(x.device(), &shape, T::OWNS_TAPE)? else { return composed(x, norm, layer, p) };
    let mask = (T::OWNS_TAPE && drops(p)).then(|| Mask { seed: replay::draw(x.device()), p });
    let buffers = kernels.buffers;
    let branch = Branch { kernels, norm: norm.norm()?, layer, mask };
    operate(Box::new(branch), buffers, x, [features, features])?.try_reshape_like(&shape)
}

/// The branch as its parts in turn.
fn composed<S, E, D, T, N, L>(x: Tensor<S, E, D, T>, norm: &N, layer: &L, p: f64) -> Result<Tensor<S, E, D, T>, D::Err>
where
    S: Shape,
    E: Real,
    D: Device<E>,
    T: Tape<E, D> + DropoutTape<E, D> + Merge<NoneTape>,
    N: Module<Tensor<S, E, D, T>, Output = Tensor<S, E, D, T>, Error = D::Err>,
    L: Module<Tensor<S, E, D, T>, Output = Tensor<S, E, D, T>, Error = D::Err>,
{
    let (x, tape) = x.split_tape();
    let y = layer.try_forward(norm.try_forward(x.clone().put_tape(tape))?)?;
    try_add(T::dropout(y, p)?, x)
}

/// What the branch runs on.
struct Kernels<E: Real, D: Device<E>> {
    norm: &'static dyn NormKernel<E, D>,
    dropout: &'static dyn DropoutKernel<E, D>,
    add: &'static dyn AddKernel<E, D>,
    buffers: &'static dyn BufferKernel<E, D>,
}

impl<E: Real, D: Device<E>> Kernels<E, D> {
    fn find() -> Option<Self> {
        Some(Self {
            norm: <dyn NormKernel<E, D>>::find()?,
            dropout: <dyn DropoutKernel<E, D>>::find()?,
            add: <dyn AddKernel<E, D>>::find()?,
            buffers: <dyn BufferKernel<E, D>>::find()?,
        })
    }
}

/// The branch and the sum on the tape.
struct Branch<E: Real, D: Device<E>> {
    kernels: Kernels<E, D>,
    norm: Norm<E, D>,
    layer: Box<dyn RowOperation<E, D>>,
    mask: Option<Mask>,
}

impl<E: Real, D: Device<E>> RowOperation<E, D> for Branch<E, D> {
    fn forward(&mut self, x: Lent<'_, Buffer<E, D>>, keep: bool) -> Result<Buffer<E, D>, D::Err> {
        let (normed, _) = self.kernels.norm.forward(&self.norm, Lent::Shared(x.get()))?;
        let mut y = self.layer.forward(Lent::Owned(normed), keep)?;
        if let Some(mask) = self.mask {
            self.kernels.dropout.apply(mask, &mut y);
        }
        self.kernels.add.accumulate(&mut y, x.get());
        Ok(y)
    }

    fn backward(
        self: Box<Self>,
        input: &mut dyn Input<E, D>,
        mut dy: Buffer<E, D>,
        grads: &mut Gradients<E, D>,
    ) -> Result<(), D::Err> {
        let Self { kernels, norm, layer, mask } = *self;
        let mut sum = input.sum(grads)?.expect("a branch stands between tensors");
        kernels.add.accumulate(&mut sum, &dy);
        input.put(grads, sum)?;
        if let Some(mask) = mask {
            kernels.dropout.apply(mask, &mut dy);
        }
        let mut normed = Normed { input, norm: &norm, kernel: kernels.norm, seen: None, gradient: None };
        layer.backward(&mut normed, dy, grads)?;
        let ((x, moments), dy) =
            normed.seen.zip(normed.gradient).expect("a layer reads its input, and gives its gradient");
        differentiate(kernels.norm, &norm, input, &x, &moments, &dy, grads)
    }
}

/// The norm's output as the layer's input: computed again where the layer reads it.
struct Normed<'a, E: Real, D: Device<E>> {
    input: &'a mut dyn Input<E, D>,
    norm: &'a Norm<E, D>,
    kernel: &'static dyn NormKernel<E, D>,
    /// The norm's own input, and its moments.
    seen: Option<(Buffer<E, D>, Buffer<E, D>)>,
    /// The gradient that the layer gives.
    gradient: Option<Buffer<E, D>>,
}

impl<E: Real, D: Device<E>> Input<E, D> for Normed<'_, E, D> {
    fn values(&mut self) -> Result<Buffer<E, D>, D::Err> {
        let x = self.input.values()?;
        let (y, moments) = self.kernel.forward(self.norm, Lent::Shared(&x))?;
        self.seen = Some((x, moments));
        Ok(y)
    }

    fn sum(&mut self, _: &mut Gradients<E, D>) -> Result<Option<Buffer<E, D>>, D::Err> {
        Ok(None)
    }

    fn put(&mut self, _: &mut Gradients<E, D>, gradient: Buffer<E, D>) -> Result<(), D::Err> {
        self.gradient = Some(gradient);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use super::{composed, pre_norm, try_pre_norm};
    use crate::nn::{self, Gelu, checks::*};

    type Rows<E, T = NoneTape> = Tensor<(usize, Const<3>, Const<8>), E, Cpu, T>;

    /// The output and all gradients, as bits.
    macro_rules! bits {
        ($x:expr, $y:expr, $norm:expr, $layer:expr) => {{
            let y = $y;
            let mut all = vec![y.as_vec()];
            let g = y.exp().mean().backward();
            all.extend([g.get(&$x).as_vec(), g.get(&$norm.weight).as_vec(), g.get(&$norm.bias).as_vec()]);
            all.extend($layer.map(|tensor| g.get(tensor).as_vec()));
            all.into_iter().flatten().map(|v: f32| v.to_bits()).collect::<Vec<_>>()
        }};
    }

    #[test]
    fn it_is_its_parts_in_turn_to_the_bit() {
        for (p, batch) in [(0.0, 2), (0.25, 2), (0.25, 400)] {
            // Devices of one seed each, so that dropout draws the same.
            let dev = || Cpu::seed_from_u64(7);
            let build = |dev: &Cpu| {
                let x: Rows<f32> = dev.sample_normal_like(&(batch, Const, Const));
                let norm = dev.build_module::<nn::LayerNorm<8>, f32>();
                let attend = dev.build_module::<nn::MultiHeadAttention<8, 2>, f32>();
                let widen = dev.build_module::<nn::FeedForward<8, 12, Gelu>, f32>();
                (x, norm, attend, widen)
            };
            let (x, norm, attend, widen) = build(&dev());
            let ours = bits!(x, pre_norm(x.leaky_trace(), &norm, &attend, p), norm, [&attend.out_proj.weight]);
            let wide = bits!(x, pre_norm(x.leaky_trace(), &norm, &widen, p), norm, [&widen.linear1.weight]);
            let (x, norm, attend, widen) = build(&dev());
            let theirs =
                bits!(x, composed(x.leaky_trace(), &norm, &attend, p).unwrap(), norm, [&attend.out_proj.weight]);
            assert!(ours == theirs, "attention, {p}");
            let theirs = bits!(x, composed(x.leaky_trace(), &norm, &widen, p).unwrap(), norm, [&widen.linear1.weight]);
            assert!(wide == theirs, "feed-forward, {p}");
        }
    }

    #[test]
    fn gradients_agree_with_differences() {
        let dev = Cpu::seed_from_u64(2);
        let norm = dev.build_module::<nn::RmsNorm<6>, f64>();
        let layer = dev.build_module::<nn::FeedForward<6, 7>, f64>();
        let x: Tensor<Rank3<2, 2, 6>, f64, _> = dev.sample_normal();
        agrees_with_differences(&x, |x| pre_norm(x, &norm, &layer, 0.0).square().sum());
        // A use of its own beside the branch's adds up, and so does a permuted input.
        agrees_with_differences(&x, |x| (pre_norm(x.with_empty_tape(), &norm, &layer, 0.0) * x).sum());
        let x: Tensor<Rank2<6, 4>, f64, _> = dev.sample_normal();
        agrees_with_differences(&x, |x| pre_norm(x.permute::<Rank2<4, 6>, _>(), &norm, &layer, 0.0).square().sum());
    }

    #[test]
    fn an_input_that_is_a_parameter_gets_both_gradients() {
        let dev = Cpu::seed_from_u64(5);
        let norm = dev.build_module::<nn::LayerNorm<6>, f64>();
        let layer = dev.build_module::<nn::FeedForward<6, 7>, f64>();
        for x in [&norm.weight, &norm.bias, &layer.linear2.bias] {
            let gradient =
                |y: Tensor<Rank1<6>, f64, Cpu, OwnedTape<f64, Cpu>>| y.exp().sum().backward().get(x).as_vec();
            let ours = gradient(pre_norm(x.leaky_trace(), &norm, &layer, 0.0));
            near(&ours, &gradient(composed(x.leaky_trace(), &norm, &layer, 0.0).unwrap()), 0.0);
            // As if the two were two tensors.
            let (mut other, mut another) = (norm.clone(), layer.clone());
            other.weight = dev.tensor(norm.weight.array());
            other.bias = dev.tensor(norm.bias.array());
            another.linear2.bias = dev.tensor(layer.linear2.bias.array());
            let both = pre_norm(x.leaky_trace(), &other, &another, 0.0).exp().sum().backward();
            let as_input = both.get(x).as_vec();
            let as_parameter = if x.array() == norm.weight.array() {
                both.get(&other.weight)
            } else if x.array() == norm.bias.array() {
                both.get(&other.bias)
            } else {
                both.get(&another.linear2.bias)
            };
            let sum: Vec<f64> = as_input.iter().zip(as_parameter.as_vec()).map(|(a, b)| a + b).collect();
            near(&ours, &sum, 1e-12);
        }
    }

    #[test]
    fn inference_drops_nothing() {
        let dev = Cpu::seed_from_u64(3);
        let norm = dev.build_module::<nn::LayerNorm<8>, f32>();
        let layer = dev.build_module::<nn::FeedForward<8, 5>, f32>();
        let x: Rows<f32> = dev.sample_normal_like(&(2, Const, Const));
        let y = try_pre_norm(x.clone(), &norm, &layer, 0.5).unwrap();
        assert_eq!(y.as_vec(), composed(x, &norm, &layer, 0.0).unwrap().as_vec());
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(4);
        let norm = dev.build_module::<nn::LayerNorm<40>, f32>();
        let layer = dev.build_module::<nn::FeedForward<40, 90>, f32>();
        let x: Tensor<(usize, Const<40>), f32, _> = dev.sample_normal_like(&(1100, Const));
        same_bits_for_any_threads(|| {
            let y = pre_norm(x.leaky_trace(), &norm, &layer, 0.0);
            let out = y.as_vec();
            let g = y.square().mean().backward();
            vec![out, g.get(&x).as_vec(), g.get(&norm.weight).as_vec(), g.get(&layer.linear1.weight).as_vec()]
        });
    }

    #[test]
    fn wrong_inputs_are_named() {
        let dev = Cpu::default();
        let norm = dev.build_module::<nn::LayerNorm<5>, f32>();
        let layer = dev.build_module::<nn::FeedForward<5, 3>, f32>();
        let message = panic_of(|| pre_norm(dev.ones_like(&(2, 6)), &norm, &layer, 0.0));
        assert_eq!(message, "LayerNorm takes 5 features, not 6: its input is [2, 6]");
        let other = dev.build_module::<nn::FeedForward<6, 3>, f32>();
        let message = panic_of(|| pre_norm(dev.ones_like(&(2, 5)), &norm, &other, 0.0));
        assert_eq!(message, "FeedForward takes 6 features, not 5: its input is [2, 5]");
        let x: Tensor<Rank2<2, 5>, f32, _> = dev.ones();
        let message = panic_of(|| pre_norm(x.leaky_trace(), &norm, &layer, 1.5));
        assert_eq!(message, "dropout's probability must be in [0, 1], not 1.5");
    }
}
