//! Operations of several layers in regions: the same bits and running statistics in every mode, and
//! nothing left behind, after a step and after a tape that is dropped without one.

use ckpt_runtime::{
    memory::{self, CountingAllocator},
    nn,
    prelude::*,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

type Stem = nn::Fused<(nn::Conv2d<3, 16, 3, 1, 1>, nn::BatchNorm2d<16>, nn::Relu)>;
type Residual2d = nn::ResidualAct<
    (nn::UnbiasedConv2d<16, 16, 3, 1, 1>, nn::BatchNorm2d<16>),
    (nn::UnbiasedConv2d<16, 16, 1>, nn::BatchNorm2d<16>),
>;
type Level = nn::UpBlock<(nn::UnbiasedConv2d<32, 8, 3, 1, 1>, nn::BatchNorm2d<8>, nn::Relu)>;

/// A small U-Net with a Transformer's wide layer for a head.
type Model = (
    Checkpoint<Stem>,
    Checkpoint<(nn::MaxPool2d<2>, Residual2d)>,
    Checkpoint<Level>,
    Checkpoint<(nn::ConvTranspose2d<8, 8, 2, 2>, nn::GlobalAvgPool2d, nn::FeedForward<8, 24>)>,
);
type Built = <Model as BuildOnDevice<Cpu, f32>>::Built;
type Taped<S> = Tensor<S, f32, Cpu, OwnedTape<f32, Cpu>>;
type Pixels = Tensor<Rank4<2, 3, 8, 6>, f32, Cpu>;

fn images(dev: &Cpu) -> Pixels {
    dev.tensor_from_vec((0..2 * 3 * 8 * 6).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect(), Default::default())
}

fn forward(model: &mut Built, x: &Pixels) -> Taped<(Const<2>, Const<8>)> {
    let skip = model.0.forward_mut(x.leaky_trace());
    let low = model.1.forward_mut(skip.with_empty_tape());
    let (skip, tape) = skip.split_tape();
    let (low, own) = low.split_tape();
    let up = model.2.forward_mut((low.put_tape(own.merge(tape)), skip));
    model.3.forward_mut(up)
}

/// The bits of the output, of gradients and of running statistics of a step.
fn step(dev: &Cpu, model: &mut Built, policy: Policy) -> Vec<Vec<u32>> {
    with_policy(policy, || {
        let x = images(dev);
        let y = forward(model, &x);
        let out = y.as_vec();
        let g = y.square().sum().backward();
        let (stem, residual, level, head) = (&model.0.0.0, &model.1.0.1, &model.2.0.0, &model.3.0);
        let all = [
            out,
            g.get(&x).as_vec(),
            g.get(&stem.0.weight).as_vec(),
            g.get(&residual.f.0.weight).as_vec(),
            g.get(&residual.short.1.bias).as_vec(),
            g.get(&level.0.weight).as_vec(),
            g.get(&head.0.weight).as_vec(),
            g.get(&head.2.linear1.weight).as_vec(),
            stem.1.running_var.as_vec(),
            residual.f.1.running_mean.as_vec(),
            residual.short.1.running_mean.as_vec(),
            level.1.running_var.as_vec(),
        ];
        all.into_iter().map(|v| v.into_iter().map(f32::to_bits).collect()).collect()
    })
}

#[test]
fn a_recompute_gives_the_same_bits_and_leaves_nothing() {
    // With the test's own thread alone, what threads keep for themselves is all warm.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
    let run = |policy: Policy| {
        let dev = Cpu::seed_from_u64(1);
        let mut model = dev.build_module::<Model, f32>();
        step(&dev, &mut model, policy.clone());
        // A second step shows what the first has left in the running statistics.
        step(&dev, &mut model, policy)
    };
    let plain = run(Policy::plain());
    assert!(plain.iter().all(|values| values.iter().any(|v| *v != 0)));
    assert!(plain == run(Policy::keep()) && plain == run(Policy::checkpoint()));

    for policy in [Policy::plain(), Policy::keep(), Policy::checkpoint()] {
        let dev = Cpu::seed_from_u64(1);
        let mut model = dev.build_module::<Model, f32>();
        step(&dev, &mut model, policy.clone());
        let before = memory::live_bytes();
        step(&dev, &mut model, policy.clone());
        assert_eq!(memory::live_bytes(), before, "after a step, {policy:?}");
        with_policy(policy.clone(), || {
            let x = images(&dev);
            let y = forward(&mut model, &x);
            assert!(memory::live_bytes() > before);
            drop(y);
        });
        assert_eq!(memory::live_bytes(), before, "after a dropped tape, {policy:?}");
    }
}
