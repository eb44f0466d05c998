//! The model that is trained, and how it is built, run and judged.

use ckpt_runtime::{Policy, nn};
use dfdx::prelude::*;
use models::unet::UNet;

use crate::scene::{Batch, CHANNELS, CLASSES, PLANE, SIDE, Scene, test_scene};
use crate::score::Confusion;

/// The trained model.
pub type Model = UNet<CLASSES, f32, Cpu>;

/// Images as the model takes them.
type Pixels = Tensor<(usize, Const<CHANNELS>, usize, usize), f32, Cpu>;
type Masks = Tensor<(usize, usize, usize), usize, Cpu>;

/// Test scenes that are judged at once.
const TEST_BATCH: usize = 8;

/// A model with random weights, the same for the same seed.
///
/// # Errors
/// The device's.
pub fn build(seed: u64) -> Result<Model, String> {
    Model::try_build(&Cpu::seed_from_u64(seed)).map_err(device_error)
}

/// The mode `selective`: every level is recomputed but the one whose backward comes first.
pub fn selective() -> Policy {
    models::unet::all_but_the_last()
}

/// The tensors of a batch on the model's device.
///
/// # Errors
/// The device's.
pub fn upload(model: &Model, batch: Batch) -> Result<(Pixels, Masks), String> {
    let dev = model.head.weight.device();
    let pixels = dev.try_tensor_from_vec(batch.pixels, (batch.count, Const, SIDE, SIDE)).map_err(device_error)?;
    let masks = dev.try_tensor_from_vec(batch.mask, (batch.count, SIDE, SIDE)).map_err(device_error)?;
    Ok((pixels, masks))
}

/// The mean loss of a batch's pixels, on the tape that `gradients` came from or begins.
///
/// # Errors
/// The device's.
pub fn loss(
    model: &mut Model,
    (pixels, masks): (Pixels, Masks),
    gradients: Gradients<f32, Cpu>,
) -> Result<Tensor<Rank0, f32, Cpu, OwnedTape<f32, Cpu>>, String> {
    let logits = model.try_forward_mut(pixels.traced(gradients)).map_err(device_error)?;
    // Classes come last, where the loss wants them.
    let logits = logits.try_permute::<_, Axes4<0, 2, 3, 1>>().map_err(device_error)?;
    nn::try_cross_entropy(logits, masks).map_err(device_error)
}

/// The classes that the model finds in scenes, `[scene, row, column]`.
///
/// # Errors
/// The device's.
pub fn find(model: &Model, scenes: Vec<Scene>) -> Result<Vec<usize>, String> {
    let (pixels, _) = upload(model, Batch::of(scenes))?;
    let logits = model.try_forward(pixels).map_err(device_error)?.as_vec();
    Ok(logits.chunks(CLASSES * PLANE).flat_map(highest).collect())
}

/// The class whose plane is highest at each pixel; of several the first.
fn highest(planes: &[f32]) -> Vec<usize> {
    let pixels = planes.len() / CLASSES;
    let at = |class: usize, pixel: usize| planes[class * pixels + pixel];
    (0..pixels).map(|p| (0..CLASSES).fold(0, |best, c| if at(c, p) > at(best, p) { c } else { best })).collect()
}

/// How well the model finds the shapes of `scenes` test scenes.
///
/// # Errors
/// The device's.
pub fn judge(model: &Model, scenes: usize) -> Result<Confusion, String> {
    let mut confusion = Confusion::default();
    for first in (0..scenes).step_by(TEST_BATCH) {
        let batch: Vec<Scene> = (first..(first + TEST_BATCH).min(scenes)).map(test_scene).collect();
        let truth: Vec<usize> = batch.iter().flat_map(|scene| scene.mask.iter().copied()).collect();
        confusion.add(&truth, &find(model, batch)?);
    }
    Ok(confusion)
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
    fn the_highest_plane_is_the_class() {
        // Three pixels: the first class's plane, then the second one's.
        assert_eq!(highest(&[0.0, 1.0, 5.0, 1.0, 0.5, 5.0]), [1, 0, 0]);
    }
}
