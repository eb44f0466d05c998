//! Multi-head attention that never holds a sequence × sequence matrix.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, TensorCollection, TensorOptions, ZeroSizedModule},
    shapes::{Axes4, Axis, Const, ConstDim, Dim, Dtype, HasShape, Shape},
    tensor::{Cpu, Gradients, Merge, PutTape, SplitTape, Storage, Tape, Tensor, TensorFromVec},
    tensor_ops::{Device, PermuteTo, ReshapeTo, TryAdd, TryMatMul, TryMul},
};
use rand_distr::Uniform;

use super::{
    linear::{Linear, affine_rows},
    pre_norm::RowLayer,
    rows::{Input, RowOperation, operate},
    shapes::{Features, rows_in},
    slice::to_slice,
};
use crate::{
    GradientHandle, Real, ReplaySafe, Stateless,
    gradients::Buffer,
    kernels::{Activation, AddKernel, Affine, AttentionKernel, BufferKernel, Heads, Lent, LinearKernel, Rows, Sources},
    replay,
};

/// Attention alone, of queries to keys and values: `softmax(q kᵀ / √w) v` over `HEADS` heads that
/// share the features evenly, `w` features each. `torch.nn.functional.scaled_dot_product_attention`;
/// Vaswani et al., arXiv 1706.03762.
///
/// `CAUSAL`: query `i` sees keys up to `i` alone. `DROP_ONE_IN`: in training each weight is dropped
/// with the probability of one in so many (0 drops none); which ones is replayed in a recompute.
///
/// Keeps its inputs and its output, and a number for each query and head. It works in tiles of 64
/// queries: a thread's scratch is 64 scores a key and a copy of one head's keys; in the backward pass
/// twice 64, and a copy of the head's values as well.
///
/// # Shapes
/// A tuple of queries `[.., Q, M]`, keys `[.., K, M]` and values `[.., K, M]` to `[.., Q, M]`, each
/// with or without a batch dimension in front.
///
/// # Panics
/// Where `HEADS` does not divide `M`, shapes do not fit one another, or a dimension is 0.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let x: Tensor<Rank3<2, 5, 8>, f32, _> = dev.sample_normal();
/// let causal: nn::Attention<4, true> = Default::default();
/// let y: Tensor<Rank3<2, 5, 8>, f32, _> = causal.forward((x.clone(), x.clone(), x));
/// # let _ = y;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attention<const HEADS: usize, const CAUSAL: bool = false, const DROP_ONE_IN: usize = 0>;

/// Attention between linear layers: `torch.nn.MultiheadAttention` with `batch_first`, with its
/// parameters and their initial values. Of a sequence to itself, or of one to another.
///
/// `CAUSAL` and `DROP_ONE_IN` are those of [`Attention`].
///
/// One operation on the tape: keeps its input, the projected queries, keys and values, and the heads'
/// output, and hands them from one part to the next without a copy.
///
/// # Shapes
/// `[.., S, M]` to the same, with or without a batch dimension in front. The input is
/// - `x`, which attends to itself,
/// - `(x, padding)` with `padding` a `bool` tensor `[.., S]`, true for positions that are not seen,
/// - `(x, memory)` with `memory` `[.., K, M]`, to which `x` attends,
/// - `(x, memory, padding)` with `padding` `[.., K]`.
///
/// A position that sees nothing gets the output layer's bias (PyTorch: not-a-number); on a device
/// without kernels of ours, where masks are added to scores, it sees all alike.
///
/// # Panics
/// Where `HEADS` does not divide `M`, a run-time dimension does not fit, or one is 0.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let layer = dev.build_module::<nn::MultiHeadAttention<8, 2>, f32>();
/// let x: Tensor<Rank3<2, 5, 8>, f32, _> = dev.sample_normal();
/// let y: Tensor<Rank3<2, 5, 8>, f32, _> = layer.forward(x);
/// # let _ = y;
/// ```
#[derive(Clone, Debug)]
pub struct MultiHeadAttention<
    const M: usize,
    const HEADS: usize,
    E: Dtype = f32,
    D: Storage<E> = Cpu,
    const CAUSAL: bool = false,
    const DROP_ONE_IN: usize = 0,
> {
    /// `[3 M, M]`: of queries, keys and values.
    pub in_proj_weight: Tensor<(Triple<M>, Const<M>), E, D>,
    /// `[3 M]`.
    pub in_proj_bias: Tensor<(Triple<M>,), E, D>,
    /// Behind the heads.
    pub out_proj: Linear<M, M, E, D>,
}

/// The dimension `3 M`, which stable Rust has no `Const` for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Triple<const M: usize>;

impl<const M: usize> Dim for Triple<M> {
    fn size(&self) -> usize {
        3 * M
    }
    fn from_size(size: usize) -> Option<Self> {
        (size == 3 * M).then_some(Self)
    }
}

impl<const M: usize> ConstDim for Triple<M> {
    const SIZE: usize = 3 * M;
}

/// The shape of a sequence of features, or of a batch of them.
pub trait Sequence: Shape {
    /// The shape without the features.
    type Positions: Shape;
    /// Sequences, positions of each, and features.
    fn sizes(&self) -> [usize; 3];
}
impl<S: Dim, M: Dim> Sequence for (S, M) {
    type Positions = (S,);
    fn sizes(&self) -> [usize; 3] {
        [1, self.0.size(), self.1.size()]
    }
}
impl<B: Dim, S: Dim, M: Dim> Sequence for (B, S, M) {
    type Positions = (B, S);
    fn sizes(&self) -> [usize; 3] {
        [self.0.size(), self.1.size(), self.2.size()]
    }
}

impl<const H: usize, const C: bool, const P: usize> ReplaySafe for Attention<H, C, P> {}
impl<const H: usize, const C: bool, const P: usize> Stateless for Attention<H, C, P> {}
impl<const H: usize, const C: bool, const P: usize> NonMutableModule for Attention<H, C, P> {}
impl<const H: usize, const C: bool, const P: usize> ZeroSizedModule for Attention<H, C, P> {}

/// The implementations that a [`MultiHeadAttention`] has for every dtype and device.
macro_rules! always {
    ($($Marker:ident)*) => { $(
        impl<const M: usize, const H: usize, E: Dtype, D: Storage<E>, const C: bool, const P: usize> $Marker
            for MultiHeadAttention<M, H, E, D, C, P>
        {
        }
    )* };
}
always! { ReplaySafe Stateless NonMutableModule }

impl<const M: usize, const H: usize, E: Real, D: Device<E>, const C: bool, const P: usize> BuildOnDevice<D, E>
    for MultiHeadAttention<M, H, f32, Cpu, C, P>
{
    type Built = MultiHeadAttention<M, H, E, D, C, P>;
}

impl<const M: usize, const H: usize, E: Real, D: Device<E>, const C: bool, const P: usize> TensorCollection<E, D>
    for MultiHeadAttention<M, H, E, D, C, P>
{
    type To<E2: Dtype, D2: Device<E2>> = MultiHeadAttention<M, H, E2, D2, C, P>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        // Glorot and Bengio's bound, over all three at once.
        let weight = TensorOptions::reset_with(|t| {
            let bound = E::from_f64((6.0 / (4 * M) as f64).sqrt()).expect("a finite number");
            t.try_fill_with_distr(Uniform::new(-bound, bound))
        });
        visitor.visit_fields(
            (
                Self::tensor("in_proj_weight", |s| &s.in_proj_weight, |s| &mut s.in_proj_weight, weight),
                Self::tensor(
                    "in_proj_bias",
                    |s| &s.in_proj_bias,
                    |s| &mut s.in_proj_bias,
                    TensorOptions::reset_to_zeros(),
                ),
                Self::module("out_proj", |s| &s.out_proj, |s| &mut s.out_proj),
            ),
            |(in_proj_weight, in_proj_bias, out_proj)| MultiHeadAttention { in_proj_weight, in_proj_bias, out_proj },
        )
    }
}

impl<const H: usize, const C: bool, const P: usize, S, S2, E, D, T, R1, R2>
    Module<(Tensor<S, E, D, T>, Tensor<S2, E, D, R1>, Tensor<S2, E, D, R2>)> for Attention<H, C, P>
where
    S: Sequence,
    S2: Sequence,
    E: Real,
    D: Device<E>,
    T: Tape<E, D> + Merge<R1> + Merge<R2>,
    R1: Tape<E, D>,
    R2: Tape<E, D>,
{
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;

    fn try_forward(
        &self,
        (q, k, v): (Tensor<S, E, D, T>, Tensor<S2, E, D, R1>, Tensor<S2, E, D, R2>),
    ) -> Result<Self::Output, D::Err> {
        let shape = *q.shape();
        let heads =
            heads::<H, C, P, E, D>("Attention", q.device(), shape.sizes(), k.shape().sizes(), None, T::OWNS_TAPE);
        assert!(k.shape().sizes() == v.shape().sizes(), "Attention: keys and values of different shapes");
        let rows = |[batch, length, features]: [usize; 3]| (batch * length, features);
        let to = rows(k.shape().sizes());
        let (q, tape) = q.try_reshape_like(&rows(shape.sizes()))?.try_contiguous()?.split_tape();
        let (k, tape_k) = k.try_reshape_like(&to)?.try_contiguous()?.split_tape();
        let (v, tape_v) = v.try_reshape_like(&to)?.try_contiguous()?.split_tape();
        let tape: T = tape.merge(tape_k);
        let inputs = Inputs { tensors: vec![q, k, v], places: [(0, 0), (1, 0), (2, 0)] };
        attend(heads, inputs, tape.merge(tape_v))?.try_reshape_like(&shape)
    }
}

/// The sizes of an attention from those of its input.
///
/// # Panics
/// Where they do not fit.
fn heads<const HEADS: usize, const CAUSAL: bool, const DROP_ONE_IN: usize, E: Real, D: Device<E>>(
    layer: &str,
    device: &D,
    [batch, queries, features]: [usize; 3],
    [sequences, keys, key_features]: [usize; 3],
    padding: Option<Vec<bool>>,
    training: bool,
) -> Heads {
    assert!(HEADS > 0 && features % HEADS == 0, "{layer}: {HEADS} heads cannot share {features} features evenly");
    assert!(
        batch == sequences && features == key_features,
        "{layer}: queries [{batch}, {queries}, {features}] do not fit keys [{sequences}, {keys}, {key_features}]"
    );
    assert!(
        batch * queries * keys * features > 0,
        "{layer} cannot run on nothing: its input is [{batch}, {queries}, {features}], [{batch}, {keys}, {features}]"
    );
    let drops = DROP_ONE_IN > 0 && training;
    let dropout = drops.then(|| (1.0 / DROP_ONE_IN as f64, replay::draw(device)));
    Heads { batch, queries, keys, heads: HEADS, width: features / HEADS, causal: CAUSAL, padding, dropout }
}

/// Where queries, keys and values lie: see [`Sources`].
struct Inputs<E: Real, D: Device<E>> {
    tensors: Vec<Rows<E, D>>,
    places: [(usize, usize); 3],
}

impl<E: Real, D: Device<E>> Inputs<E, D> {
    fn sources<'a>(&self, buffers: &'a [Buffer<E, D>]) -> Sources<'a, Buffer<E, D>> {
        Sources { buffers: buffers.iter().zip(self.tensors.iter().map(|t| t.shape().1)).collect(), places: self.places }
    }
}

/// The attention of `inputs`, as rows.
fn attend<E: Real, D: Device<E>, T: Tape<E, D>>(
    heads: Heads,
    inputs: Inputs<E, D>,
    mut tape: T,
) -> Result<Tensor<(usize, usize), E, D, T>, D::Err> {
    let (Some(kernel), Some(buffers), Some(add)) =
        (<dyn AttentionKernel<E, D>>::find(), <dyn BufferKernel<E, D>>::find(), <dyn AddKernel<E, D>>::find())
    else {
        return composed(&heads, &inputs, tape);
    };
    let device = inputs.tensors[0].device().clone();
    let read =
        move |inputs: &Inputs<E, D>| inputs.tensors.iter().map(|t| buffers.take_in(t)).collect::<Result<Vec<_>, _>>();
    let (y, log_sums) = kernel.forward(&device, &heads, &inputs.sources(&read(&inputs)?))?;
    let y = buffers.give_out(&device, y, (heads.batch * heads.queries, heads.features()))?;
    if T::OWNS_TAPE {
        let (gradient, y) = (GradientHandle::of(&y), y.clone());
        tape.add_backward_op(move |grads| {
            let dy = gradient.take(grads)?;
            let output = buffers.take_in(&y)?;
            drop(y);
            let values = read(&inputs)?;
            // Each gradient is taken out while the kernel adds to it. Where one tensor stands for
            // several, the second finds an empty buffer and gets one of its own.
            let empty = |buffer: &Buffer<E, D>| <D as Storage<E>>::len(&device, buffer) == 0;
            let mut sums = Vec::with_capacity(inputs.tensors.len());
            for tensor in &inputs.tensors {
                let handle = GradientHandle::of(tensor);
                let sum = handle.take(grads)?;
                sums.push(if empty(&sum) {
                    <D as Storage<E>>::try_alloc_len(&device, handle.elements())?
                } else {
                    sum
                });
            }
            kernel.backward(&heads, &inputs.sources(&values), &output, &log_sums, &dy, &mut sums)?;
            for (tensor, sum) in inputs.tensors.iter().zip(sums) {
                let total = grads.get_or_alloc_mut(tensor)?;
                if empty(total) {
                    *total = sum;
                } else {
                    add.accumulate(total, &sum);
                }
            }
            Ok(())
        });
    }
    Ok(y.put_tape(tape))
}

/// The attention in dfdx's own operations, on any device. It does hold all scores.
fn composed<E: Real, D: Device<E>, T: Tape<E, D>>(
    heads: &Heads,
    inputs: &Inputs<E, D>,
    tape: T,
) -> Result<Tensor<(usize, usize), E, D, T>, D::Err> {
    let Heads { batch, queries, keys, heads: count, width, .. } = *heads;
    let features = count * width;
    let part = |which: usize, tape: T| {
        let (tensor, column) = inputs.places[which];
        let tensor: &Rows<E, D> = &inputs.tensors[tensor];
        let (rows, length) = if which == 0 { (batch * queries, queries) } else { (batch * keys, keys) };
        let part = to_slice(tensor.clone().put_tape(tape))?.try_slice((0..rows, column..column + features))?;
        let part = part.try_reshape_like(&(batch, length, count, width))?;
        part.try_permute::<(usize, usize, usize, usize), Axes4<0, 2, 1, 3>>()
    };
    let (q, k, v) = (part(0, tape)?, part(1, T::default())?, part(2, T::default())?);
    let device = inputs.tensors[0].device();
    let number = |v| E::from_f64(v).expect("a number");
    let on_device = |host| <D as TensorFromVec<E>>::try_tensor_from_vec(device, host, (batch, count, queries, keys));
    let k = k.try_permute::<(usize, usize, usize, usize), Axes4<0, 1, 3, 2>>()?;
    let mut scores = q.try_matmul(k)?.try_mul(number(1.0 / (width as f64).sqrt()))?;
    if heads.causal || heads.padding.is_some() {
        let hidden = |i: usize| {
            let (sequence, query, key) = (i / (count * queries * keys), i / keys % queries, i % keys);
            heads.causal && key > query || heads.padding.as_ref().is_some_and(|p| p[sequence * keys + key])
        };
        // Far below every score, but finite: a row that sees nothing stays one of numbers.
        let never = number(-1e4);
        let size = batch * count * queries * keys;
        scores = scores.try_add(on_device((0..size).map(|i| if hidden(i) { never } else { E::zero() }).collect())?)?;
    }
    let mut weights = scores.try_softmax::<Axis<3>>()?;
    if heads.dropout.is_some() {
        let mut factors = vec![E::zero(); batch * count * queries * keys];
        for (row, factors) in factors.chunks_exact_mut(keys).enumerate() {
            heads.factors(row / queries, row % queries, factors);
        }
        weights = weights.try_mul(on_device(factors)?)?;
    }
    let y = weights.try_matmul(v)?.try_permute::<(usize, usize, usize, usize), Axes4<0, 2, 1, 3>>()?;
    y.try_reshape_like(&(batch * queries, features))
}

impl<const M: usize, const H: usize, E: Real, D: Device<E>, const C: bool, const P: usize>
    MultiHeadAttention<M, H, E, D, C, P>
{
    /// The rows `outputs` of the projection, of a tensor seen as `rows`.
    fn project<S: Shape, T: Tape<E, D>>(
        &self,
        x: Tensor<S, E, D, T>,
        rows: usize,
        outputs: std::ops::Range<usize>,
    ) -> Result<Tensor<(usize, usize), E, D, T>, D::Err> {
        affine_rows(self.projection(outputs)?, rows, x)
    }

    /// The rows `outputs` of the projection.
    fn projection(&self, outputs: std::ops::Range<usize>) -> Result<Affine<E, D>, D::Err> {
        let weight = self.in_proj_weight.clone().try_reshape_like(&(3 * M, M))?;
        let bias = Some(self.in_proj_bias.clone().try_reshape_like(&(3 * M,))?);
        Ok(Affine { weight, bias, outputs, before: Activation::Identity, after: Activation::Identity })
    }

    fn among_itself<S: Sequence + Features<M>, T: Tape<E, D>>(
        &self,
        x: Tensor<S, E, D, T>,
        padding: Option<Vec<bool>>,
    ) -> Result<Tensor<S, E, D, T>, D::Err> {
        let shape = *x.shape();
        let rows = rows_in("MultiHeadAttention", &shape, M);
        let heads = self.heads_of(x.device(), &shape, padding, T::OWNS_TAPE);
        let (Some(kernels), Some(buffers)) = (kernels(), <dyn BufferKernel<E, D>>::find()) else {
            let (all, tape) = self.project(x, rows, 0..3 * M)?.split_tape();
            let inputs = Inputs { tensors: vec![all], places: [(0, 0), (0, M), (0, 2 * M)] };
            return self.out_proj.try_forward(attend(heads, inputs, tape)?)?.try_reshape_like(&shape);
        };
        let operation = self.self_attention(kernels, x.device(), heads)?;
        operate(Box::new(operation), buffers, x, [M, M])?.try_reshape_like(&shape)
    }

    fn heads_of<S: Sequence>(&self, device: &D, shape: &S, padding: Option<Vec<bool>>, training: bool) -> Heads {
        heads::<H, C, P, E, D>("MultiHeadAttention", device, shape.sizes(), shape.sizes(), padding, training)
    }

    fn self_attention(
        &self,
        (linear, attention): Kernels<E, D>,
        device: &D,
        heads: Heads,
    ) -> Result<SelfAttention<E, D>, D::Err> {
        let (projection, out) = (self.projection(0..3 * M)?, self.out_proj.affine()?);
        Ok(SelfAttention { device: device.clone(), linear, attention, heads, projection, out, kept: None })
    }

    fn to_another<S: Sequence + Features<M>, S2: Sequence + Features<M>, T: Tape<E, D> + Merge<R>, R: Tape<E, D>>(
        &self,
        x: Tensor<S, E, D, T>,
        memory: Tensor<S2, E, D, R>,
        padding: Option<Vec<bool>>,
    ) -> Result<Tensor<S, E, D, T>, D::Err> {
        let (shape, other) = (*x.shape(), *memory.shape());
        let (rows, others) = (rows_in("MultiHeadAttention", &shape, M), rows_in("MultiHeadAttention", &other, M));
        let (sizes, training) = (shape.sizes(), T::OWNS_TAPE);
        let heads = heads::<H, C, P, E, D>("MultiHeadAttention", x.device(), sizes, other.sizes(), padding, training);
        let (memory, tape) = memory.split_tape();
        let (x, own) = x.split_tape();
        let (queries, tape) = self.project(x.put_tape(own.merge(tape)), rows, 0..M)?.split_tape();
        let (both, tape) = self.project(memory.put_tape(tape), others, M..3 * M)?.split_tape();
        let inputs = Inputs { tensors: vec![queries, both], places: [(0, 0), (1, 0), (1, M)] };
        self.out_proj.try_forward(attend(heads, inputs, tape)?)?.try_reshape_like(&shape)
    }
}

impl<const M: usize, const H: usize, const C: bool, const P: usize, S, E, D, T> Module<Tensor<S, E, D, T>>
    for MultiHeadAttention<M, H, E, D, C, P>
where
    S: Sequence + Features<M>,
    E: Real,
    D: Device<E>,
    T: Tape<E, D>,
{
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;
    fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
        self.among_itself(x, None)
    }
}

impl<const M: usize, const H: usize, const C: bool, const P: usize, S, E, D, T>
    Module<(Tensor<S, E, D, T>, Tensor<S::Positions, bool, D>)> for MultiHeadAttention<M, H, E, D, C, P>
where
    S: Sequence + Features<M>,
    E: Real,
    D: Device<E>,
    T: Tape<E, D>,
{
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;
    fn try_forward(
        &self,
        (x, padding): (Tensor<S, E, D, T>, Tensor<S::Positions, bool, D>),
    ) -> Result<Self::Output, D::Err> {
        let padding = padding_of("MultiHeadAttention", &padding, x.shape().sizes());
        self.among_itself(x, Some(padding))
    }
}

impl<const M: usize, const H: usize, const C: bool, const P: usize, S, S2, E, D, T, R>
    Module<(Tensor<S, E, D, T>, Tensor<S2, E, D, R>)> for MultiHeadAttention<M, H, E, D, C, P>
where
    S: Sequence + Features<M>,
    S2: Sequence + Features<M>,
    E: Real,
    D: Device<E>,
    T: Tape<E, D> + Merge<R>,
    R: Tape<E, D>,
{
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;
    fn try_forward(&self, (x, memory): (Tensor<S, E, D, T>, Tensor<S2, E, D, R>)) -> Result<Self::Output, D::Err> {
        self.to_another(x, memory, None)
    }
}

impl<const M: usize, const H: usize, const C: bool, const P: usize, S, S2, E, D, T, R>
    Module<(Tensor<S, E, D, T>, Tensor<S2, E, D, R>, Tensor<S2::Positions, bool, D>)>
    for MultiHeadAttention<M, H, E, D, C, P>
where
    S: Sequence + Features<M>,
    S2: Sequence + Features<M>,
    E: Real,
    D: Device<E>,
    T: Tape<E, D> + Merge<R>,
    R: Tape<E, D>,
{
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;
    fn try_forward(
        &self,
        (x, memory, padding): (Tensor<S, E, D, T>, Tensor<S2, E, D, R>, Tensor<S2::Positions, bool, D>),
    ) -> Result<Self::Output, D::Err> {
        let padding = padding_of("MultiHeadAttention", &padding, memory.shape().sizes());
        self.to_another(x, memory, Some(padding))
    }
}

impl<const M: usize, const H: usize, const C: bool, const P: usize, S, E, D> RowLayer<S, E, D>
    for MultiHeadAttention<M, H, E, D, C, P>
where
    S: Sequence + Features<M>,
    E: Real,
    D: Device<E>,
{
    fn operation(&self, device: &D, shape: &S, training: bool) -> Result<Option<Box<dyn RowOperation<E, D>>>, D::Err> {
        rows_in("MultiHeadAttention", shape, M);
        let Some(kernels) = kernels() else { return Ok(None) };
        Ok(Some(Box::new(self.self_attention(kernels, device, self.heads_of(device, shape, None, training))?)))
    }
}

/// What a [`SelfAttention`] runs on.
type Kernels<E, D> = (&'static dyn LinearKernel<E, D>, &'static dyn AttentionKernel<E, D>);

fn kernels<E: Real, D: Device<E>>() -> Option<Kernels<E, D>> {
    Some((<dyn LinearKernel<E, D>>::find()?, <dyn AttentionKernel<E, D>>::find()?))
}

/// A sequence's attention to itself, between the linear layers.
struct SelfAttention<E: Real, D: Device<E>> {
    device: D,
    linear: &'static dyn LinearKernel<E, D>,
    attention: &'static dyn AttentionKernel<E, D>,
    heads: Heads,
    projection: Affine<E, D>,
    out: Affine<E, D>,
    kept: Option<Attended<E, D>>,
}

/// What its backward pass needs.
struct Attended<E: Real, D: Device<E>> {
    /// Queries, keys and values in each row.
    packed: Buffer<E, D>,
    /// What the heads make of them.
    mixed: Buffer<E, D>,
    /// See [`AttentionKernel::forward`].
    log_sums: Buffer<E, D>,
}

impl<E: Real, D: Device<E>> RowOperation<E, D> for SelfAttention<E, D> {
    fn forward(&mut self, x: Lent<'_, Buffer<E, D>>, keep: bool) -> Result<Buffer<E, D>, D::Err> {
        let features = self.heads.features();
        let (packed, _) = self.linear.forward(&self.projection, x.get(), false)?;
        drop(x);
        let sources = Sources::packed(&packed, features);
        let (mixed, log_sums) = self.attention.forward(&self.device, &self.heads, &sources)?;
        let (y, _) = self.linear.forward(&self.out, &mixed, false)?;
        self.kept = keep.then_some(Attended { packed, mixed, log_sums });
        Ok(y)
    }

    fn backward(
        self: Box<Self>,
        input: &mut dyn Input<E, D>,
        dy: Buffer<E, D>,
        grads: &mut Gradients<E, D>,
    ) -> Result<(), D::Err> {
        let Self { device, linear, attention, heads, projection, out, kept } = *self;
        let Attended { packed, mixed, log_sums } = kept.expect("what forward kept");
        let d_mixed = linear.backward(&out, Lent::Shared(&mixed), None, dy, &mut |_| Ok(None), grads)?;
        let mut d_packed = [<D as Storage<E>>::try_alloc_len(&device, <D as Storage<E>>::len(&device, &packed))?];
        let sources = Sources::packed(&packed, heads.features());
        attention.backward(&heads, &sources, &mixed, &log_sums, &d_mixed, &mut d_packed)?;
        drop((packed, mixed, log_sums, d_mixed));
        let ([d_packed], x) = (d_packed, Lent::Owned(input.values()?));
        let dx = linear.backward(&projection, x, None, d_packed, &mut |grads| input.sum(grads), grads)?;
        input.put(grads, dx)
    }
}

/// A padding mask's elements.
///
/// # Panics
/// Where it does not fit the keys.
fn padding_of<S: Shape, D: Storage<bool>>(
    layer: &str,
    padding: &Tensor<S, bool, D>,
    [batch, keys, _]: [usize; 3],
) -> Vec<bool> {
    let dims: Vec<usize> = padding.shape().concrete().into_iter().collect();
    assert!(
        dims == [batch, keys] || (batch == 1 && dims == [keys]),
        "{layer}: a padding mask {dims:?} for [{batch}, {keys}] keys"
    );
    padding.as_vec()
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use super::{Heads, Inputs, attend, composed};
    use crate::nn::{self, checks::*};

    fn heads(batch: usize, queries: usize, keys: usize) -> Heads {
        Heads { batch, queries, keys, heads: 2, width: 3, causal: false, padding: None, dropout: None }
    }

    /// Sizes around a tile's 64 queries, in every combination of what can be left out.
    fn cases() -> Vec<Heads> {
        let mut cases = Vec::new();
        for (queries, keys) in [(1, 1), (5, 9), (9, 5), (64, 64), (70, 67), (130, 130)] {
            for (causal, masked, dropout) in [(false, false, None), (true, false, None), (false, true, Some((0.3, 7)))]
            {
                let padding = masked.then(|| (0..2 * keys).map(|i| i % 3 == 2).collect());
                cases.push(Heads { causal, padding, dropout, ..heads(2, queries, keys) });
            }
        }
        cases
    }

    #[test]
    fn the_kernels_agree_with_dfdx_operations() {
        let dev = Cpu::seed_from_u64(1);
        for case in cases() {
            let random =
                |rows, columns| -> Tensor<(usize, usize), f64, Cpu> { dev.sample_normal_like(&(rows, columns)) };
            let (q, kv) = (random(2 * case.queries, 6), random(2 * case.keys, 13));
            let target = random(2 * case.queries, 6);
            let sources = || Inputs { tensors: vec![q.clone(), kv.clone()], places: [(0, 0), (1, 7), (1, 0)] };
            let tape = OwnedTape::default;
            let ours = attend(case.clone(), sources(), tape()).unwrap();
            let theirs = composed(&case, &sources(), tape()).unwrap();
            near(&ours.as_vec(), &theirs.as_vec(), 1e-12);
            let backward = |y: Tensor<(usize, usize), f64, Cpu, OwnedTape<f64, Cpu>>| {
                (y * target.clone()).square().sum().backward()
            };
            let (ours, theirs) = (backward(ours), backward(theirs));
            near(&ours.get(&q).as_vec(), &theirs.get(&q).as_vec(), 1e-11);
            near(&ours.get(&kv).as_vec(), &theirs.get(&kv).as_vec(), 1e-11);
        }
    }

    #[test]
    fn the_kernels_agree_with_dfdx_operations_on_one_tensor_as_all_three() {
        let dev = Cpu::seed_from_u64(3);
        let x: Tensor<(usize, usize), f64, Cpu> = dev.sample_normal_like(&(8, 6));
        let heads = super::heads::<2, true, 0, f64, Cpu>("", &dev, [2, 4, 6], [2, 4, 6], None, true);
        let inputs = || Inputs { tensors: vec![x.clone(), x.clone(), x.clone()], places: [(0, 0), (1, 0), (2, 0)] };
        let ours = attend(heads.clone(), inputs(), OwnedTape::default()).unwrap().square().sum().backward();
        let theirs = composed(&heads, &inputs(), OwnedTape::default()).unwrap().square().sum().backward();
        near(&ours.get(&x).as_vec(), &theirs.get(&x).as_vec(), 1e-11);
    }

    #[test]
    fn gradients_agree_with_differences_for_one_tensor_as_all_three() {
        let dev = Cpu::seed_from_u64(2);
        let x: Tensor<Rank3<2, 4, 6>, f64, _> = dev.sample_normal();
        let attention: nn::Attention<2, true> = Default::default();
        agrees_with_differences(&x, |x| {
            let (k, v) = (x.with_empty_tape(), x.with_empty_tape());
            attention.forward((x, k, v)).square().sum()
        });
        let short: Tensor<Rank2<3, 6>, f64, _> = dev.sample_normal();
        let memory: Tensor<Rank2<5, 6>, f64, _> = dev.sample_normal();
        let full: nn::Attention<3> = Default::default();
        agrees_with_differences(&memory, |m| {
            full.forward((short.leaky_trace(), m.with_empty_tape(), m)).square().sum()
        });
    }

    #[test]
    fn multi_head_attention_in_all_its_forms() {
        let dev = Cpu::seed_from_u64(3);
        let layer = dev.build_module::<nn::MultiHeadAttention<6, 2>, f64>();
        let x: Tensor<Rank3<2, 4, 6>, f64, _> = dev.sample_normal();
        let memory: Tensor<Rank3<2, 3, 6>, f64, _> = dev.sample_normal();
        let padding = dev.tensor([[false, true, false], [false, false, true]]);
        agrees_with_differences(&x, |x| layer.forward(x).square().sum());
        agrees_with_differences(&memory, |m| layer.forward((x.leaky_trace(), m)).square().sum());
        agrees_with_differences(&memory, |m| layer.forward((x.leaky_trace(), m, padding.clone())).square().sum());
        parameter_agrees_with_differences(&layer.in_proj_weight, |w| {
            let layer = nn::MultiHeadAttention { in_proj_weight: w, ..layer.clone() };
            layer.forward((x.leaky_trace(), memory.leaky_trace(), padding.clone())).square().sum()
        });
        // A hidden position's values do not matter.
        let hide = dev.tensor([[false, false, false, true], [false, false, false, true]]);
        let mut values = x.as_vec();
        values[3 * 6..4 * 6].fill(100.0);
        let other = dev.tensor_from_vec(values, *x.shape());
        let (a, b) = (layer.forward((x, hide.clone())).as_vec(), layer.forward((other, hide)).as_vec());
        near(&a[..18], &b[..18], 0.0);
    }

    #[test]
    fn a_row_that_sees_nothing_is_zero_and_has_no_gradient() {
        let dev = Cpu::seed_from_u64(4);
        let q: Tensor<(usize, usize), f64, _> = dev.sample_normal_like(&(6, 6));
        let nothing = Heads { padding: Some(vec![true; 6]), ..heads(2, 3, 3) };
        let sources = Inputs { tensors: vec![q.clone(), q.clone(), q.clone()], places: [(0, 0), (1, 0), (2, 0)] };
        let y = attend(nothing, sources, OwnedTape::default()).unwrap();
        assert!(y.as_vec().iter().all(|v| *v == 0.0));
        assert!(y.square().sum().backward().get(&q).as_vec().iter().all(|v| *v == 0.0));
    }

    #[test]
    fn dropout_is_drawn_in_training_alone() {
        let dev = Cpu::seed_from_u64(5);
        let x: Tensor<Rank3<1, 40, 6>, f32, _> = dev.sample_normal();
        let half: nn::Attention<2, false, 2> = Default::default();
        let run = || half.forward((x.leaky_trace(), x.clone(), x.clone())).as_vec();
        assert_ne!(run(), run());
        let infer = || half.forward((x.clone(), x.clone(), x.clone())).as_vec();
        assert_eq!(infer(), infer());
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(6);
        let layer = dev.build_module::<nn::MultiHeadAttention<32, 4, f32, Cpu, true>, f32>();
        let x: Tensor<Rank3<2, 150, 32>, f32, _> = dev.sample_normal();
        same_bits_for_any_threads(|| {
            let y = layer.forward(x.leaky_trace());
            let out = y.as_vec();
            let g = y.powf(3.0).mean().backward();
            vec![out, g.get(&x).as_vec(), g.get(&layer.in_proj_weight).as_vec(), g.get(&layer.in_proj_bias).as_vec()]
        });
    }

    #[test]
    fn wrong_inputs_are_named() {
        let dev = Cpu::default();
        let x = |s: usize, m: usize| -> Tensor<(usize, usize), f32, Cpu> { dev.zeros_like(&(s, m)) };
        let three: nn::Attention<3> = Default::default();
        let message = panic_of(|| three.forward((x(2, 4), x(2, 4), x(2, 4))));
        assert_eq!(message, "Attention: 3 heads cannot share 4 features evenly");
        let message = panic_of(|| three.forward((x(2, 6), x(5, 3), x(5, 3))));
        assert_eq!(message, "Attention: queries [1, 2, 6] do not fit keys [1, 5, 3]");
        let message = panic_of(|| three.forward((x(2, 6), x(0, 6), x(0, 6))));
        assert_eq!(message, "Attention cannot run on nothing: its input is [1, 2, 6], [1, 0, 6]");
        let layer = dev.build_module::<nn::MultiHeadAttention<6, 2>, f32>();
        let message = panic_of(|| layer.forward(x(2, 5)));
        assert_eq!(message, "MultiHeadAttention takes 6 features, not 5: its input is [2, 5]");
    }
}
