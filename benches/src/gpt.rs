//! The GPT of the comparison: 8 blocks, d 256, 4 heads, ff 1024, vocabulary 96, sequence 256, f32.

use ckpt_runtime::{nn, with_policy};
use dfdx::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::Value;

use crate::args::Args;
use crate::report::{self, failed};
use crate::step;

const VOCAB: usize = 96;
const SEQ: usize = 256;
const BATCH: usize = 8;
const SEED: u64 = 0;

type Model = models::gpt::Gpt<8, VOCAB, SEQ, 256, 4, 1024, f32, AutoDevice>;

/// Measures one mode.
///
/// # Errors
/// The device's.
pub fn measure(args: &Args) -> Result<Value, String> {
    let batch = args.batch.unwrap_or(BATCH);
    let dev = AutoDevice::seed_from_u64(SEED);
    let mut model = Model::build(&dev);
    let mut rng = StdRng::seed_from_u64(SEED);
    let mut random_tokens = || -> Tensor<(usize, Const<SEQ>), usize, AutoDevice> {
        let tokens = (0..batch * SEQ).map(|_| rng.gen_range(0..VOCAB)).collect();
        dev.tensor_from_vec(tokens, (batch, Const))
    };
    let (tokens, targets) = (random_tokens(), random_tokens());

    let cost = with_policy(args.mode.policy(), || {
        step::repeat(&mut model, args.steps, |model| {
            // As in PyTorch, a parameter's gradient is made when backward reaches it.
            let logits = model.try_forward_mut(tokens.leaky_trace()).map_err(failed)?;
            let loss = nn::try_cross_entropy(logits, targets.clone()).map_err(failed)?;
            Ok((loss.array(), loss.try_backward().map_err(failed)?))
        })
    })?;

    Ok(report::of_model("gpt", args, batch, &model, &cost))
}
