//! The JSON line of a measurement, with the keys of `torch_reference.py`'s.

use dfdx::prelude::*;
use serde_json::{Value, json};

use crate::args::Args;
use crate::step::{self, Cost};

/// A model's line.
pub fn of_model<D: Device<f32>, M: TensorCollection<f32, D>>(
    name: &str,
    args: &Args,
    batch: usize,
    model: &M,
    cost: &Cost,
) -> Value {
    let mut report = json!({
        "system": system(),
        "model": name,
        "mode": args.mode.to_string(),
        "batch": batch,
        "threads": args.threads,
        "step_s": (cost.step_s * 1e4).round() / 1e4,
        "peak_bytes": cost.peak_bytes,
        "params_bytes": step::parameter_bytes(model),
        "loss": cost.loss,
        "grad_hash": format!("{:016x}", cost.grad_hash),
    });
    if let Some(bytes) = cost.peak_bytes_peakmalloc {
        report["peak_bytes_peakmalloc"] = bytes.into();
    }
    report
}

/// This project and its version.
pub fn system() -> String {
    format!("ckpt {}", env!("CARGO_PKG_VERSION"))
}

/// A device error for the user, with the region it happened in.
pub fn failed(error: impl std::fmt::Debug) -> String {
    match ckpt_runtime::last_failure() {
        Some(failure) => format!("the step failed: {error:?} ({failure})"),
        None => format!("the step failed: {error:?}"),
    }
}
