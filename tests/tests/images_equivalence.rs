//! The image models in every mode: equal to the plain one to the bit, running statistics too.

use ckpt_runtime::prelude::*;
use models::{
    resnet::{ResNet18, ResNet50, selective_18},
    unet::{UNet, all_but_the_last},
};
use tests::{
    compare::noise,
    fingerprint::{Seen, assert_same, hash, train},
};

const CLASSES: usize = 5;

type Pixels<E, T = NoneTape> = Tensor<(usize, Const<3>, usize, usize), E, Cpu, T>;
type Loss<E> = Tensor<Rank0, E, Cpu, OwnedTape<E, Cpu>>;

fn images<E: Real>(count: usize, side: usize) -> Pixels<E>
where
    Cpu: Device<E>,
{
    noise(&Cpu::seed_from_u64(9), (count, Const, side, side), -1.5, 1.5)
}

fn labels(dev: &Cpu, count: usize) -> Tensor<(usize,), usize, Cpu> {
    dev.tensor_from_vec((0..count).map(|i| (i * 3 + 1) % CLASSES).collect(), (count,))
}

/// What a classifier sees on `count` images under `policy`.
fn classify<E: Real, M>(policy: Policy, count: usize, side: usize) -> Seen
where
    Cpu: Device<E>,
    M: BuildModule<Cpu, E> + TensorCollection<E, Cpu>,
    M: ModuleMut<Pixels<E, OwnedTape<E, Cpu>>, Output = Tensor<(usize, Const<CLASSES>), E, Cpu, OwnedTape<E, Cpu>>>,
{
    let dev = Cpu::seed_from_u64(5);
    let mut model = M::build(&dev);
    let targets = labels(&dev, count);
    with_policy(policy, || {
        train(&mut model, &images(count, side), |model, x| -> Loss<E> {
            nn::cross_entropy(model.forward_mut(x), targets.clone())
        })
    })
}

/// What the U-Net sees.
fn segment<E: Real>(policy: Policy) -> Seen
where
    Cpu: Device<E>,
    UNet<CLASSES, E, Cpu>: BuildModule<Cpu, E>
        + TensorCollection<E, Cpu>
        + ModuleMut<
            Pixels<E, OwnedTape<E, Cpu>>,
            Output = Tensor<(usize, Const<CLASSES>, usize, usize), E, Cpu, OwnedTape<E, Cpu>>,
        >,
{
    let dev = Cpu::seed_from_u64(5);
    let mut model = UNet::<CLASSES, E, Cpu>::build(&dev);
    let targets = dev.tensor_from_vec((0..2 * 16 * 16).map(|i| i * i % CLASSES).collect(), (2, 16, 16));
    with_policy(policy, || {
        train(&mut model, &images(2, 16), |model, x| -> Loss<E> {
            let logits = model.forward_mut(x).permute::<_, Axes4<0, 2, 3, 1>>();
            nn::cross_entropy(logits, targets.clone())
        })
    })
}

#[test]
fn resnet18_trains_alike_in_every_mode() {
    let run = |policy| classify::<f32, ResNet18<CLASSES, f32, Cpu>>(policy, 2, 8);
    let plain = run(Policy::plain());
    for (name, policy) in [
        ("keep", Policy::keep()),
        ("checkpoint", Policy::checkpoint()),
        ("selective", selective_18()),
        ("3 segments", Policy::segments(3)),
    ] {
        assert_same(&run(policy), &plain, name);
    }
}

#[test]
fn resnet50_trains_alike_in_every_mode() {
    let run = |policy| classify::<f32, ResNet50<CLASSES, f32, Cpu>>(policy, 2, 16);
    // Four segments, the last of which is kept, so that both kinds of regions are here.
    assert_same(&run(Policy::segments(4)), &run(Policy::plain()), "4 segments");
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
        assert_same(&segment::<f32>(policy.clone()), &single, name);
        assert_same(&segment::<f64>(policy), &double, name);
    }
}

#[test]
fn inference_is_the_same_with_and_without_a_tape_and_moves_no_statistics() {
    let dev = Cpu::seed_from_u64(3);
    let mut model = ResNet18::<CLASSES, f32, Cpu>::build(&dev);
    let x = images::<f32>(2, 8);
    let before = hash(model.forward(x.clone()).as_vec());
    assert_eq!(hash(model.forward(x.clone()).as_vec()), before);
    // Training does move them.
    let _ = model.forward_mut(x.leaky_trace());
    assert_ne!(hash(model.forward(x).as_vec()), before);
}

#[test]
fn a_run_cannot_be_cut_into_more_segments_than_it_has_layers() {
    let dev = Cpu::seed_from_u64(3);
    let mut model = ResNet18::<CLASSES, f32, Cpu>::build(&dev);
    let refused = with_policy(Policy::segments(10), || model.try_forward_mut(images(1, 8).leaky_trace()));
    assert!(refused.is_err());
    let failure = last_failure().unwrap().to_string();
    assert!(failure.contains("`ResNet18.body`") && failure.contains("9 layers"), "{failure}");
}

#[test]
#[should_panic(expected = "12")]
fn an_image_that_the_levels_do_not_halve_is_refused() {
    let model = UNet::<CLASSES, f32, Cpu>::build(&Cpu::default());
    let _ = model.forward(images(1, 12));
}
