//! A GPT: causal, pre-norm, learned positions, exact GELU, untied head.
//!
//! [`Gpt`] runs its fields in order and makes a region of each block; what a block does with its
//! layers is written as ordinary Rust, in an impl that marks nothing since the blocks' region is
//! around it. Tensors have the names, layouts and initial values of PyTorch's layers, except that
//! positions start at zero.

use ckpt_runtime::prelude::*;

/// No position sees a later one.
const CAUSAL: bool = true;

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
    pub tok: nn::Embedding<VOCAB, D_MODEL, E, D>,
    /// Position embeddings.
    pub pos: Positions<SEQ, D_MODEL, E, D>,
    /// The blocks, each of them a region.
    #[checkpoint(each)]
    pub blocks: Repeated<Block<D_MODEL, HEADS, FF, E, D>, LAYERS>,
    /// Before the head.
    pub norm: nn::LayerNorm<D_MODEL, E, D>,
    /// From a position's vector to logits.
    pub head: nn::Linear<D_MODEL, VOCAB, E, D>,
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
    pub norm1: nn::LayerNorm<D_MODEL, E, D>,
    /// Each position's look at itself and those before it.
    pub attn: nn::MultiHeadAttention<D_MODEL, HEADS, E, D, CAUSAL>,
    /// Before the wide layers.
    pub norm2: nn::LayerNorm<D_MODEL, E, D>,
    /// Into the wide space, GELU, and back.
    pub ff: nn::FeedForward<D_MODEL, FF, nn::Gelu, E, D>,
    /// The probability with which a value of a branch is dropped in training.
    #[scalar(default = 0.0)]
    pub dropout: f64,
}

#[checkpointed(allow(nothing_marked))]
impl<const D_MODEL: usize, const HEADS: usize, const FF: usize, E: Dtype, D: Device<E>>
    Block<D_MODEL, HEADS, FF, E, D>
{
    fn forward<B: Dim, S: Dim>(&self, x: Tensor<(B, S, Const<D_MODEL>), E, D>) -> Tensor<(B, S, Const<D_MODEL>), E, D> {
        let h = nn::pre_norm(x, &self.norm1, &self.attn, self.dropout);
        nn::pre_norm(h, &self.norm2, &self.ff, self.dropout)
    }
}
