//! The model that is trained, and how it is built, run and judged.
//!
//! The sizes are chosen so that the whole example ends within two minutes on two cores.

use dfdx::prelude::*;
use models::gpt::Gpt;
use models::loss::try_token_cross_entropy;

use crate::text::{Batch, Corpus};

/// Transformer blocks.
pub const LAYERS: usize = 4;
/// Characters told apart.
pub const VOCAB: usize = 96;
/// Characters the model sees at once.
pub const SEQ: usize = 64;
/// Width of a position's vector.
pub const D_MODEL: usize = 64;
/// Attention heads.
pub const HEADS: usize = 2;
/// Width inside the feed-forward parts.
pub const FF: usize = 256;

/// The trained model.
pub type Model = Gpt<LAYERS, VOCAB, SEQ, D_MODEL, HEADS, FF, f32, AutoDevice>;

/// Sequences that the validation loss is the mean over.
const VALIDATION_SEQUENCES: usize = 32;

/// A model with random weights, the same for the same seed, on a device of its own whose random
/// stream starts at `seed` too.
///
/// # Errors
/// The device's.
pub fn build(seed: u64, dropout: f64) -> Result<Model, String> {
    let dev = AutoDevice::seed_from_u64(seed);
    let mut model = Model::try_build(&dev).map_err(device_error)?;
    model.set_dropout(dropout);
    Ok(model)
}

/// The tensors of a batch on the model's device: tokens and targets.
///
/// # Errors
/// The device's.
pub fn upload(
    model: &Model,
    batch: Batch,
) -> Result<(Tensor<(usize, Const<SEQ>), usize, AutoDevice>, Tensor<(usize, Const<SEQ>), usize, AutoDevice>), String> {
    let dev = model.pos.weight.device();
    let shape = (batch.tokens.len() / SEQ, Const);
    let tokens = dev.try_tensor_from_vec(batch.tokens, shape).map_err(device_error)?;
    let targets = dev.try_tensor_from_vec(batch.targets, shape).map_err(device_error)?;
    Ok((tokens, targets))
}

/// The mean loss over the validation sequences, which are the same at every call.
///
/// # Errors
/// The device's.
pub fn validation_loss(model: &Model, corpus: &Corpus) -> Result<f32, String> {
    let (tokens, targets) = upload(model, corpus.validation_batch(VALIDATION_SEQUENCES))?;
    let logits = model.try_forward(tokens).map_err(device_error)?;
    let loss = try_token_cross_entropy(logits, targets).map_err(device_error)?;
    Ok(loss.array())
}

/// A device error for the user, with the region it happened in.
pub fn device_error(error: impl std::fmt::Debug) -> String {
    match ckpt_runtime::last_failure() {
        Some(failure) => format!("the device failed: {error:?} ({failure})"),
        None => format!("the device failed: {error:?}"),
    }
}
