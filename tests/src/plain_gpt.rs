//! The GPT of `models::gpt` written by hand: the same layers, but no macro, no region, and dfdx's
//! own tapes.
//!
//! It is the reference of the equivalence tests, so it makes the same operations in the same order
//! as the declared model; a gradient of equal bits is then a fair demand. That the layers themselves
//! are right is what their own tests and PyTorch's fixture say.

use ckpt_runtime::{Real, nn};
use dfdx::prelude::*;

/// A pre-norm Transformer block.
#[derive(Clone, Debug)]
pub struct Block<const D_MODEL: usize, const HEADS: usize, const FF: usize, E: Dtype, D: Device<E>> {
    /// Before the attention.
    pub norm1: nn::LayerNorm<D_MODEL, E, D>,
    /// The attention.
    pub attn: nn::MultiHeadAttention<D_MODEL, HEADS, E, D, true>,
    /// Before the feed-forward part.
    pub norm2: nn::LayerNorm<D_MODEL, E, D>,
    /// Into the wide space, GELU, and back.
    pub ff: nn::FeedForward<D_MODEL, FF, nn::Gelu, E, D>,
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
    pub tok: nn::Embedding<VOCAB, D_MODEL, E, D>,
    /// Position embeddings.
    pub pos: Positions<SEQ, D_MODEL, E, D>,
    /// The blocks.
    pub blocks: Repeated<Block<D_MODEL, HEADS, FF, E, D>, LAYERS>,
    /// Before the head.
    pub norm: nn::LayerNorm<D_MODEL, E, D>,
    /// From a position's vector to the next token's logits.
    pub head: nn::Linear<D_MODEL, VOCAB, E, D>,
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
                Self::module("ff", |s| &s.ff, |s| &mut s.ff),
            ),
            |(norm1, attn, norm2, ff)| Block { norm1, attn, norm2, ff },
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

impl<const D_MODEL: usize, const HEADS: usize, const FF: usize, B: Dim, S: Dim, E: Real, D: Device<E>, T: Tape<E, D>>
    Module<Tensor<(B, S, Const<D_MODEL>), E, D, T>> for Block<D_MODEL, HEADS, FF, E, D>
{
    type Output = Tensor<(B, S, Const<D_MODEL>), E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<(B, S, Const<D_MODEL>), E, D, T>) -> Result<Self::Output, D::Err> {
        let skip = x.with_empty_tape();
        let h = nn::try_add(skip, self.attn.try_forward(self.norm1.try_forward(x)?)?)?;
        let skip = h.with_empty_tape();
        nn::try_add(skip, self.ff.try_forward(self.norm2.try_forward(h)?)?)
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
