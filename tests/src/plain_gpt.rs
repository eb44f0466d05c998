//! The GPT of `models::gpt` written by hand on dfdx: no macro, no region, dfdx's own tapes. Only the
//! GELU is ours, since dfdx's has a wrong gradient.
//!
//! It is the reference of the equivalence tests, so it makes the same operations in the same order
//! as the declared model; a gradient of equal bits is then a fair demand.

use ckpt_runtime::{Real, nn::Gelu};
use dfdx::nn::modules::{Embedding, LayerNorm1D, Linear};
use dfdx::prelude::*;

/// Attention of each position to itself and to those before it.
#[derive(Clone, Debug)]
pub struct CausalAttention<const D_MODEL: usize, const HEADS: usize, E: Dtype, D: Device<E>> {
    /// Queries.
    pub q: Linear<D_MODEL, D_MODEL, E, D>,
    /// Keys.
    pub k: Linear<D_MODEL, D_MODEL, E, D>,
    /// Values.
    pub v: Linear<D_MODEL, D_MODEL, E, D>,
    /// Output projection.
    pub o: Linear<D_MODEL, D_MODEL, E, D>,
}

/// A pre-norm Transformer block.
#[derive(Clone, Debug)]
pub struct Block<const D_MODEL: usize, const HEADS: usize, const FF: usize, E: Dtype, D: Device<E>> {
    /// Before the attention.
    pub norm1: LayerNorm1D<D_MODEL, E, D>,
    /// The attention.
    pub attn: CausalAttention<D_MODEL, HEADS, E, D>,
    /// Before the feed-forward part.
    pub norm2: LayerNorm1D<D_MODEL, E, D>,
    /// Into the wide space.
    pub ff1: Linear<D_MODEL, FF, E, D>,
    /// Back from it.
    pub ff2: Linear<FF, D_MODEL, E, D>,
}

/// A learned vector for each position, added to its input.
#[derive(Clone, Debug)]
pub struct Positions<const SEQ: usize, const D_MODEL: usize, E: Dtype, D: Device<E>> {
    /// The vectors.
    pub weight: Tensor<Rank2<SEQ, D_MODEL>, E, D>,
}

/// A decoder-only Transformer with learned positions and an untied head.
#[derive(Clone, Debug)]
pub struct Gpt<
    const LAYERS: usize,
    const VOCAB: usize,
    const SEQ: usize,
    const D_MODEL: usize,
    const HEADS: usize,
    const FF: usize,
    E: Dtype,
    D: Device<E>,
> {
    /// Token embeddings.
    pub tok: Embedding<VOCAB, D_MODEL, E, D>,
    /// Position embeddings.
    pub pos: Positions<SEQ, D_MODEL, E, D>,
    /// The blocks.
    pub blocks: Repeated<Block<D_MODEL, HEADS, FF, E, D>, LAYERS>,
    /// Before the head.
    pub norm: LayerNorm1D<D_MODEL, E, D>,
    /// From a position's vector to the next token's logits.
    pub head: Linear<D_MODEL, VOCAB, E, D>,
}

impl<const D_MODEL: usize, const HEADS: usize, E: Real, D: Device<E>> TensorCollection<E, D>
    for CausalAttention<D_MODEL, HEADS, E, D>
{
    type To<E2: Dtype, D2: Device<E2>> = CausalAttention<D_MODEL, HEADS, E2, D2>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(
            (
                Self::module("q", |s| &s.q, |s| &mut s.q),
                Self::module("k", |s| &s.k, |s| &mut s.k),
                Self::module("v", |s| &s.v, |s| &mut s.v),
                Self::module("o", |s| &s.o, |s| &mut s.o),
            ),
            |(q, k, v, o)| CausalAttention { q, k, v, o },
        )
    }
}

impl<const D_MODEL: usize, const HEADS: usize, const FF: usize, E: Real, D: Device<E>> TensorCollection<E, D>
    for Block<D_MODEL, HEADS, FF, E, D>
{
    type To<E2: Dtype, D2: Device<E2>> = Block<D_MODEL, HEADS, FF, E2, D2>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(
            (
                Self::module("norm1", |s| &s.norm1, |s| &mut s.norm1),
                Self::module("attn", |s| &s.attn, |s| &mut s.attn),
                Self::module("norm2", |s| &s.norm2, |s| &mut s.norm2),
                Self::module("ff1", |s| &s.ff1, |s| &mut s.ff1),
                Self::module("ff2", |s| &s.ff2, |s| &mut s.ff2),
            ),
            |(norm1, attn, norm2, ff1, ff2)| Block { norm1, attn, norm2, ff1, ff2 },
        )
    }
}

impl<const SEQ: usize, const D_MODEL: usize, E: Real, D: Device<E>> TensorCollection<E, D>
    for Positions<SEQ, D_MODEL, E, D>
{
    type To<E2: Dtype, D2: Device<E2>> = Positions<SEQ, D_MODEL, E2, D2>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(
            Self::tensor("weight", |s| &s.weight, |s| &mut s.weight, TensorOptions::reset_to_zeros()),
            |weight| Positions { weight },
        )
    }
}

impl<
    const LAYERS: usize,
    const VOCAB: usize,
    const SEQ: usize,
    const D_MODEL: usize,
    const HEADS: usize,
    const FF: usize,
    E: Real,
    D: Device<E>,
> TensorCollection<E, D> for Gpt<LAYERS, VOCAB, SEQ, D_MODEL, HEADS, FF, E, D>
{
    type To<E2: Dtype, D2: Device<E2>> = Gpt<LAYERS, VOCAB, SEQ, D_MODEL, HEADS, FF, E2, D2>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(
            (
                Self::module("tok", |s| &s.tok, |s| &mut s.tok),
                Self::module("pos", |s| &s.pos, |s| &mut s.pos),
                Self::module("blocks", |s| &s.blocks, |s| &mut s.blocks),
                Self::module("norm", |s| &s.norm, |s| &mut s.norm),
                Self::module("head", |s| &s.head, |s| &mut s.head),
            ),
            |(tok, pos, blocks, norm, head)| Gpt { tok, pos, blocks, norm, head },
        )
    }
}

impl<const SEQ: usize, const D_MODEL: usize, B: Dim, E: Real, D: Device<E>, T: Tape<E, D>>
    Module<Tensor<(B, Const<SEQ>, Const<D_MODEL>), E, D, T>> for Positions<SEQ, D_MODEL, E, D>
{
    type Output = Tensor<(B, Const<SEQ>, Const<D_MODEL>), E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<(B, Const<SEQ>, Const<D_MODEL>), E, D, T>) -> Result<Self::Output, D::Err> {
        let weight = self.weight.retaped::<T>().try_broadcast_like(x.shape())?;
        x.try_add(weight)
    }
}

impl<const D_MODEL: usize, const HEADS: usize, B: Dim, S: Dim, E: Real, D: Device<E>, T: Tape<E, D>>
    Module<Tensor<(B, S, Const<D_MODEL>), E, D, T>> for CausalAttention<D_MODEL, HEADS, E, D>
{
    type Output = Tensor<(B, S, Const<D_MODEL>), E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<(B, S, Const<D_MODEL>), E, D, T>) -> Result<Self::Output, D::Err> {
        let (b, s, _) = *x.shape();
        let by_head = (b, s, HEADS, D_MODEL / HEADS);
        let mask = x.device().try_upper_tri_like(&(s, s), E::from_f64(f64::NEG_INFINITY).unwrap(), 1)?;
        let scale = E::from_f64(1.0 / ((D_MODEL / HEADS) as f64).sqrt()).unwrap();
        let q = self.q.try_forward(x.with_empty_tape())?.try_mul(scale)?;
        let k = self.k.try_forward(x.with_empty_tape())?;
        let v = self.v.try_forward(x)?;
        let q = q.try_reshape_like(&by_head)?;
        let k = k.try_reshape_like(&by_head)?;
        let v = v.try_reshape_like(&by_head)?;
        let q = q.try_permute::<_, Axes4<0, 2, 1, 3>>()?;
        let k = k.try_permute::<_, Axes4<0, 2, 3, 1>>()?;
        let v = v.try_permute::<_, Axes4<0, 2, 1, 3>>()?;

        let scores = q.try_matmul(k)?;
        let mask = mask.try_broadcast_like(&(b, HEADS, s, s))?;
        let weights = scores.try_add(mask)?.try_softmax::<Axis<3>>()?;

        let y = weights.try_matmul(v)?;
        let y = y.try_permute::<_, Axes4<0, 2, 1, 3>>()?;
        let y = y.try_reshape_like(&(b, s, Const::<D_MODEL>))?;
        self.o.try_forward(y)
    }
}

impl<const D_MODEL: usize, const HEADS: usize, const FF: usize, B: Dim, S: Dim, E: Real, D: Device<E>, T: Tape<E, D>>
    Module<Tensor<(B, S, Const<D_MODEL>), E, D, T>> for Block<D_MODEL, HEADS, FF, E, D>
{
    type Output = Tensor<(B, S, Const<D_MODEL>), E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<(B, S, Const<D_MODEL>), E, D, T>) -> Result<Self::Output, D::Err> {
        let skip = x.with_empty_tape();
        let h = skip.try_add(self.attn.try_forward(self.norm1.try_forward(x)?)?)?;
        let skip = h.with_empty_tape();
        let wide = self.ff1.try_forward(self.norm2.try_forward(h)?)?;
        skip.try_add(self.ff2.try_forward(Gelu.try_forward(wide)?)?)
    }
}

impl<
    const LAYERS: usize,
    const VOCAB: usize,
    const SEQ: usize,
    const D_MODEL: usize,
    const HEADS: usize,
    const FF: usize,
    B: Dim,
    E: Real,
    D: Device<E>,
    T: Tape<E, D>,
> Module<Tensor<(B, Const<SEQ>), usize, D, T>> for Gpt<LAYERS, VOCAB, SEQ, D_MODEL, HEADS, FF, E, D>
{
    type Output = Tensor<(B, Const<SEQ>, Const<VOCAB>), E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, tokens: Tensor<(B, Const<SEQ>), usize, D, T>) -> Result<Self::Output, D::Err> {
        let h = self.tok.try_forward(tokens)?;
        let h = self.pos.try_forward(h)?;
        let h = self.blocks.try_forward(h)?;
        self.head.try_forward(self.norm.try_forward(h)?)
    }
}

impl<const D_MODEL: usize, const HEADS: usize, E: Dtype, D: Device<E>> NonMutableModule
    for CausalAttention<D_MODEL, HEADS, E, D>
{
}

impl<const D_MODEL: usize, const HEADS: usize, const FF: usize, E: Dtype, D: Device<E>> NonMutableModule
    for Block<D_MODEL, HEADS, FF, E, D>
{
}

impl<
    const LAYERS: usize,
    const VOCAB: usize,
    const SEQ: usize,
    const D_MODEL: usize,
    const HEADS: usize,
    const FF: usize,
    E: Dtype,
    D: Device<E>,
> NonMutableModule for Gpt<LAYERS, VOCAB, SEQ, D_MODEL, HEADS, FF, E, D>
{
}
