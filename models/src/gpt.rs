//! A GPT: causal, pre-norm, learned positions, exact GELU, untied head.
//!
//! [`Gpt`] runs its fields in order and makes a region of each block; what a block and its
//! attention do with their layers is written as ordinary Rust, in impls that mark nothing since the
//! blocks' region is around them. Initial weights are dfdx's.

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::{Embedding, LayerNorm1D, Linear};

/// A decoder-only Transformer, from tokens to the logits of the token that follows each.
///
/// # Shapes
/// `Tensor<(B, Const<SEQ>), usize, D>` to `Tensor<(B, Const<SEQ>, Const<VOCAB>), E, D>`, for any
/// batch size `B`.
#[checkpointed]
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
    /// The blocks, each of them a region.
    #[checkpoint(each)]
    pub blocks: Repeated<Block<D_MODEL, HEADS, FF, E, D>, LAYERS>,
    /// Before the head.
    pub norm: LayerNorm1D<D_MODEL, E, D>,
    /// From a position's vector to logits.
    pub head: Linear<D_MODEL, VOCAB, E, D>,
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
> Gpt<LAYERS, VOCAB, SEQ, D_MODEL, HEADS, FF, E, D>
{
    /// Drops each value of the blocks' two branches with probability `p` in training. A new model
    /// drops none.
    pub fn set_dropout(&mut self, p: f64) {
        for block in &mut self.blocks.modules {
            block.dropout = p;
        }
    }
}

/// A learned vector for each position, added to what stands there.
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Positions<const SEQ: usize, const D_MODEL: usize, E: Dtype, D: Device<E>> {
    /// The vectors.
    #[param(init = zeros)]
    pub weight: Tensor<Rank2<SEQ, D_MODEL>, E, D>,
}

#[checkpointed(allow(nothing_marked))]
impl<const SEQ: usize, const D_MODEL: usize, E: Dtype, D: Device<E>> Positions<SEQ, D_MODEL, E, D> {
    fn forward<B: Dim>(
        &self,
        x: Tensor<(B, Const<SEQ>, Const<D_MODEL>), E, D>,
    ) -> Tensor<(B, Const<SEQ>, Const<D_MODEL>), E, D> {
        let shape = *x.shape();
        x + self.weight.clone().broadcast_like(&shape)
    }
}

/// A pre-norm Transformer block: attention, then two wide layers, each added to its input.
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Block<const D_MODEL: usize, const HEADS: usize, const FF: usize, E: Dtype, D: Device<E>> {
    /// Before the attention.
    pub norm1: LayerNorm1D<D_MODEL, E, D>,
    /// The attention.
    pub attn: CausalAttention<D_MODEL, HEADS, E, D>,
    /// Before the wide layers.
    pub norm2: LayerNorm1D<D_MODEL, E, D>,
    /// Into the wide space.
    pub ff1: Linear<D_MODEL, FF, E, D>,
    /// Between the wide layers.
    pub act: nn::Gelu,
    /// Back from the wide space.
    pub ff2: Linear<FF, D_MODEL, E, D>,
    /// The probability with which a value of a branch is dropped in training.
    #[scalar(default = 0.0)]
    pub dropout: f64,
}

#[checkpointed(allow(nothing_marked))]
impl<const D_MODEL: usize, const HEADS: usize, const FF: usize, E: Dtype, D: Device<E>>
    Block<D_MODEL, HEADS, FF, E, D>
{
    fn forward<B: Dim, S: Dim>(&self, x: Tensor<(B, S, Const<D_MODEL>), E, D>) -> Tensor<(B, S, Const<D_MODEL>), E, D> {
        let attended = self.attn.forward(self.norm1.forward(x));
        let h = x + nn::Dropout { p: self.dropout }.forward(attended);
        let wide = self.act.forward(self.ff1.forward(self.norm2.forward(h)));
        h + nn::Dropout { p: self.dropout }.forward(self.ff2.forward(wide))
    }
}

/// Attention of each position to itself and to those before it, over `HEADS` heads that share
/// `D_MODEL` evenly ("Attention Is All You Need", arXiv 1706.03762).
#[checkpointed(forward = custom)]
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

impl<const D_MODEL: usize, const HEADS: usize, E: Dtype, D: Device<E>> CausalAttention<D_MODEL, HEADS, E, D> {
    /// Width of a head. Stable Rust has no `Const<{ D_MODEL / HEADS }>`, so inside the attention
    /// heads and their width are run-time dimensions; that they fit is checked as the program is
    /// compiled.
    const HEAD_WIDTH: usize = {
        assert!(
            HEADS > 0 && D_MODEL.is_multiple_of(HEADS),
            "HEADS must divide D_MODEL: each head takes an equal share of a position's vector"
        );
        D_MODEL / HEADS
    };
}

#[checkpointed(allow(nothing_marked))]
impl<const D_MODEL: usize, const HEADS: usize, E: Dtype, D: Device<E>> CausalAttention<D_MODEL, HEADS, E, D> {
    fn forward<B: Dim, S: Dim>(&self, x: Tensor<(B, S, Const<D_MODEL>), E, D>) -> Tensor<(B, S, Const<D_MODEL>), E, D> {
        let (b, s, _) = *x.shape();
        let never = E::from_f64(f64::NEG_INFINITY).unwrap();
        let later = x.device().upper_tri_like(&(s, s), never, 1);
        let by_head = (b, s, HEADS, Self::HEAD_WIDTH);
        // Scaled here, before the products, the scores need no pass of their own.
        let scale = E::from_f64(1.0 / (Self::HEAD_WIDTH as f64).sqrt()).unwrap();
        let q = (self.q.forward(x) * scale).reshape_like(&by_head);
        let k = self.k.forward(x).reshape_like(&by_head);
        let v = self.v.forward(x).reshape_like(&by_head);
        let q = q.permute::<_, Axes4<0, 2, 1, 3>>();
        let k = k.permute::<_, Axes4<0, 2, 3, 1>>();
        let v = v.permute::<_, Axes4<0, 2, 1, 3>>();

        let later = later.broadcast_like(&(b, HEADS, s, s));
        let weights = (q.matmul(k) + later).softmax::<Axis<3>>();

        let y = weights.matmul(v).permute::<_, Axes4<0, 2, 1, 3>>();
        self.o.forward(y.reshape_like(&(b, s, Const::<D_MODEL>)))
    }
}
