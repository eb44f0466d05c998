//! The GPT of the comparison: 8 blocks, d 256, 4 heads, ff 1024, vocabulary 96, sequence 256, f32.

use ckpt_runtime::with_policy;
use dfdx::prelude::*;
use models::loss::try_token_cross_entropy;
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use crate::args::Args;
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
            let gradients = model.try_alloc_grads().map_err(failed)?;
            let logits = model.try_forward_mut(tokens.trace(gradients)).map_err(failed)?;
            let loss = try_token_cross_entropy(logits, targets.clone()).map_err(failed)?;
            Ok((loss.array(), loss.try_backward().map_err(failed)?))
        })
    })?;

    let mut report = json!({
        "system": format!("ckpt {}", env!("CARGO_PKG_VERSION")),
        "model": "gpt",
        "mode": args.mode.to_string(),
        "batch": batch,
        "threads": args.threads,
        "step_s": (cost.step_s * 1e4).round() / 1e4,
        "peak_bytes": cost.peak_bytes,
        "params_bytes": step::parameter_bytes(&model),
        "loss": cost.loss,
        "grad_hash": format!("{:016x}", cost.grad_hash),
    });
    if let Some(bytes) = cost.peak_bytes_peakmalloc {
        report["peak_bytes_peakmalloc"] = bytes.into();
    }
    Ok(report)
}

fn failed(error: impl std::fmt::Debug) -> String {
    match ckpt_runtime::last_failure() {
        Some(failure) => format!("the step failed: {error:?} ({failure})"),
        None => format!("the step failed: {error:?}"),
    }
}
