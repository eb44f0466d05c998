//! The model that is trained, and how it is built, run and judged.

use ckpt_runtime::{Policy, nn};
use dfdx::prelude::*;
use models::resnet::ResNet18;

use crate::images::{Batch, CHANNELS, CLASSES, DataSet, SIDE};

/// The trained model.
pub type Model = ResNet18<CLASSES, f32, Cpu>;

/// Images as the model takes them.
type Pixels = Tensor<(usize, Const<CHANNELS>, Const<SIDE>, Const<SIDE>), f32, Cpu>;
type Labels = Tensor<(usize,), usize, Cpu>;

/// Test images that are judged at once.
const TEST_BATCH: usize = 60;

/// A model with random weights, the same for the same seed.
///
/// # Errors
/// The device's.
pub fn build(seed: u64) -> Result<Model, String> {
    Model::try_build(&Cpu::seed_from_u64(seed)).map_err(device_error)
}

/// The mode `selective`.
pub fn selective() -> Policy {
    models::resnet::selective_18()
}

/// The tensors of a batch on the model's device.
///
/// # Errors
/// The device's.
pub fn upload(model: &Model, batch: Batch) -> Result<(Pixels, Labels), String> {
    let dev = model.head.weight.device();
    let count = batch.labels.len();
    let pixels = dev.try_tensor_from_vec(batch.pixels, (count, Const, Const, Const)).map_err(device_error)?;
    let labels = dev.try_tensor_from_vec(batch.labels, (count,)).map_err(device_error)?;
    Ok((pixels, labels))
}

/// The loss of a batch, on the tape that `gradients` came from or begins.
///
/// # Errors
/// The device's.
pub fn loss(
    model: &mut Model,
    (pixels, labels): (Pixels, Labels),
    gradients: Gradients<f32, Cpu>,
) -> Result<Tensor<Rank0, f32, Cpu, OwnedTape<f32, Cpu>>, String> {
    let logits = model.try_forward_mut(pixels.traced(gradients)).map_err(device_error)?;
    nn::try_cross_entropy(logits, labels).map_err(device_error)
}

/// The share of test images that the model puts into their class.
///
/// # Errors
/// The device's.
pub fn accuracy(model: &Model, set: &DataSet) -> Result<f64, String> {
    let mut right = 0;
    for batch in set.test_batches(TEST_BATCH) {
        let labels = batch.labels.clone();
        let (pixels, _) = upload(model, batch)?;
        let logits = model.try_forward(pixels).map_err(device_error)?.as_vec();
        right += labels.iter().zip(logits.chunks(CLASSES)).filter(|(label, row)| highest(row) == **label).count();
    }
    Ok(right as f64 / set.test.len() as f64)
}

/// Where a row is highest; of several places the first.
fn highest(row: &[f32]) -> usize {
    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}

/// A device error for the user, with the region it happened in.
pub fn device_error(error: impl std::fmt::Debug) -> String {
    match ckpt_runtime::last_failure() {
        Some(failure) => format!("the device failed: {error:?} ({failure})"),
        None => format!("the device failed: {error:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_is_the_class() {
        assert_eq!(highest(&[0.5, -1.0, 2.0, 2.0]), 2);
        assert_eq!(highest(&[-3.0, -1.0, -2.0]), 1);
    }
}
