//! The image models of the comparison: ResNet-18 on 32x32, ResNet-50 on 64x64, a U-Net on 64x64, f32.

use ckpt_runtime::{nn, with_policy};
use dfdx::prelude::*;
use models::{
    resnet::{ResNet18, ResNet50},
    unet::UNet,
};
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::Value;

use crate::args::Args;
use crate::report::{self, failed};
use crate::step;

const CHANNELS: usize = 3;
const CLASSES: usize = 10;
/// The U-Net tells figure from ground.
const MASK_CLASSES: usize = 2;
const SEED: u64 = 0;

type Pixels<T = NoneTape> = Tensor<(usize, Const<CHANNELS>, usize, usize), f32, Cpu, T>;
type Taped = OwnedTape<f32, Cpu>;

/// Measures ResNet-18 in one mode, by default with 32 images.
///
/// # Errors
/// The device's.
pub fn resnet18(args: &Args) -> Result<Value, String> {
    classify::<ResNet18<CLASSES, f32, Cpu>>("resnet18", 32, 32, args)
}

/// Measures ResNet-50 in one mode, by default with 16 images.
///
/// # Errors
/// The device's.
pub fn resnet50(args: &Args) -> Result<Value, String> {
    classify::<ResNet50<CLASSES, f32, Cpu>>("resnet50", 16, 64, args)
}

fn classify<M>(name: &str, batch: usize, side: usize, args: &Args) -> Result<Value, String>
where
    M: BuildModule<Cpu, f32> + TensorCollection<f32, Cpu>,
    M: ModuleMut<Pixels<Taped>, Output = Tensor<(usize, Const<CLASSES>), f32, Cpu, Taped>>,
{
    let batch = args.batch.unwrap_or(batch);
    let dev = Cpu::seed_from_u64(SEED);
    let mut model = M::build(&dev);
    let x: Pixels = dev.sample_normal_like(&(batch, Const, side, side));
    let mut rng = StdRng::seed_from_u64(SEED);
    let classes = (0..batch).map(|_| rng.gen_range(0..CLASSES)).collect();
    let targets: Tensor<(usize,), usize, Cpu> = dev.tensor_from_vec(classes, (batch,));

    let cost = with_policy(args.mode.policy(), || {
        step::repeat(&mut model, args.steps, |model| {
            // As in PyTorch, a parameter's gradient is made when backward reaches it.
            let logits = model.try_forward_mut(x.leaky_trace()).map_err(failed)?;
            let loss = nn::try_cross_entropy(logits, targets.clone()).map_err(failed)?;
            Ok((loss.array(), loss.try_backward().map_err(failed)?))
        })
    })?;
    Ok(report::of_model(name, args, batch, &model, &cost))
}

/// Measures the U-Net in one mode, by default with 8 images.
///
/// # Errors
/// The device's.
pub fn unet(args: &Args) -> Result<Value, String> {
    const SIDE: usize = 64;
    let batch = args.batch.unwrap_or(8);
    let dev = Cpu::seed_from_u64(SEED);
    let mut model = UNet::<MASK_CLASSES, f32, Cpu>::build(&dev);
    let x: Pixels = dev.sample_normal_like(&(batch, Const, SIDE, SIDE));
    let mut rng = StdRng::seed_from_u64(SEED);
    let mask = (0..batch * SIDE * SIDE).map(|_| rng.gen_range(0..MASK_CLASSES)).collect();
    let targets: Tensor<(usize, usize, usize), usize, Cpu> = dev.tensor_from_vec(mask, (batch, SIDE, SIDE));

    let cost = with_policy(args.mode.policy(), || {
        step::repeat(&mut model, args.steps, |model| {
            let logits = model.try_forward_mut(x.leaky_trace()).map_err(failed)?;
            let logits = logits.try_permute::<_, Axes4<0, 2, 3, 1>>().map_err(failed)?;
            let loss = nn::try_cross_entropy(logits, targets.clone()).map_err(failed)?;
            Ok((loss.array(), loss.try_backward().map_err(failed)?))
        })
    })?;
    Ok(report::of_model("unet", args, batch, &model, &cost))
}
