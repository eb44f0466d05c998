//! The image models in every mode: equal to the plain one to the bit, running statistics too.

use ckpt_runtime::{Real, prelude::*};
use dfdx::tensor::CpuError;
use models::{
    resnet::{ResNet18, ResNet50, selective_18},
    unet::{UNet, all_but_the_last},
};
use tests::compare::{Run, bits, noise, run_with};

const CLASSES: usize = 5;

type Pixels<E, T = NoneTape> = Tensor<(usize, Const<3>, usize, usize), E, Cpu, T>;

fn images<E: Real>(dev: &Cpu, count: usize, side: usize) -> Pixels<E>
where
    Cpu: Device<E>,
{
    noise(dev, (count, Const, side, side), -1.5, 1.5)
}

/// What a classifier sees on images of `side` under `policy`.
///
/// Four images, so that the last stage, where an image is a single pixel, has more than two values a
/// channel: of two, batch norm makes ±1, its true gradient is zero, and what rounding leaves of it
/// grows by 1/√ε in every layer.
fn classify<M>(policy: Policy, side: usize) -> Run
where
    M: BuildModule<Cpu, f32> + TensorCollection<f32, Cpu>,
    M: ModuleMut<
            Pixels<f32, OwnedTape<f32, Cpu>>,
            Output = Tensor<(usize, Const<CLASSES>), f32, Cpu, OwnedTape<f32, Cpu>>,
            Error = CpuError,
        >,
{
    run_with(
        5,
        |dev| M::build(dev),
        |dev| images::<f32>(dev, 4, side),
        |model, x| with_policy(policy.clone(), || model.try_forward_mut(x)),
    )
}

/// What the U-Net sees.
fn segment<E: Real>(policy: Policy) -> Run
where
    Cpu: Device<E>,
    Pixels<E>: tests::compare::Input<E, Taped = Pixels<E, OwnedTape<E, Cpu>>>,
    UNet<CLASSES, E, Cpu>: BuildModule<Cpu, E>
        + TensorCollection<E, Cpu>
        + ModuleMut<
            Pixels<E, OwnedTape<E, Cpu>>,
            Output = Tensor<(usize, Const<CLASSES>, usize, usize), E, Cpu, OwnedTape<E, Cpu>>,
            Error = CpuError,
        >,
{
    run_with(
        5,
        |dev| UNet::<CLASSES, E, Cpu>::build(dev),
        |dev| images::<E>(dev, 2, 16),
        |model, x| with_policy(policy.clone(), || model.try_forward_mut(x)),
    )
}

#[test]
fn resnet18_trains_alike_in_every_mode() {
    let run = |policy| classify::<ResNet18<CLASSES, f32, Cpu>>(policy, 16);
    let plain = run(Policy::plain());
    for (name, policy) in [
        ("keep", Policy::keep()),
        ("checkpoint", Policy::checkpoint()),
        ("selective", selective_18()),
        ("3 segments", Policy::segments(3)),
    ] {
        run(policy).assert_same(&plain, name);
    }
}

#[test]
fn resnet50_trains_alike_in_every_mode() {
    let run = |policy| classify::<ResNet50<CLASSES, f32, Cpu>>(policy, 32);
    // Four segments, the last of which is kept, so that both kinds of regions are here.
    run(Policy::segments(4)).assert_same(&run(Policy::plain()), "4 segments");
}

#[test]
fn the_unet_trains_alike_in_every_mode_and_dtype() {
    let all = [
        ("keep", Policy::keep()),
        ("checkpoint", Policy::checkpoint()),
        ("verify", Policy::checkpoint().verify(0.0)),
        ("all but the last", all_but_the_last()),
    ];
    let (single, double) = (segment::<f32>(Policy::plain()), segment::<f64>(Policy::plain()));
    for (name, policy) in all {
        segment::<f32>(policy.clone()).assert_same(&single, name);
        segment::<f64>(policy).assert_same(&double, name);
    }
}

#[test]
fn inference_is_the_same_with_and_without_a_tape_and_moves_no_statistics() {
    let dev = Cpu::seed_from_u64(3);
    let mut model = ResNet18::<CLASSES, f32, Cpu>::build(&dev);
    let x = images::<f32>(&dev, 2, 8);
    let before = bits(&model.forward(x.clone()));
    assert_eq!(bits(&model.forward(x.clone())), before);
    // Training does move them.
    let _ = model.forward_mut(x.leaky_trace());
    assert_ne!(bits(&model.forward(x)), before);
}

#[test]
fn a_run_cannot_be_cut_into_more_segments_than_it_has_layers() {
    let dev = Cpu::seed_from_u64(3);
    let mut model = ResNet18::<CLASSES, f32, Cpu>::build(&dev);
    let refused = with_policy(Policy::segments(10), || model.try_forward_mut(images(&dev, 1, 8).leaky_trace()));
    assert!(refused.is_err());
    let failure = last_failure().unwrap().to_string();
    assert!(failure.contains("`ResNet18.body`") && failure.contains("9 layers"), "{failure}");
}

#[test]
#[should_panic(expected = "12")]
fn an_image_that_the_levels_do_not_halve_is_refused() {
    let dev = Cpu::default();
    let model = UNet::<CLASSES, f32, Cpu>::build(&dev);
    let _ = model.forward(images(&dev, 1, 12));
}
