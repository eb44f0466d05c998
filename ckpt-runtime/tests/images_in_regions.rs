//! The image layers of `nn` in regions: the same bits and running statistics in every mode, and
//! nothing left behind.

use ckpt_runtime::{
    memory::{self, CountingAllocator},
    nn,
    prelude::*,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

/// The parts of a small U-Net.
type Model = (
    Checkpoint<nn::Fused<(nn::BatchNorm2d<4>, nn::Relu, nn::GroupNorm<2, 4>)>>,
    Checkpoint<(nn::MaxPool2d<3, 2, 1>, nn::BatchNorm2dAct<4, nn::Silu>)>,
    Checkpoint<nn::UpsampleBilinear2d<2>>,
    Checkpoint<nn::Fused<(nn::GroupNorm<2, 8>, nn::Gelu, nn::AvgPool2d<2>, nn::UpsampleNearest2d<2>, nn::Relu)>>,
    Checkpoint<(nn::BatchNorm2d<8>, nn::GlobalAvgPool2d, nn::Linear<8, 3>)>,
);
type Built = <Model as BuildOnDevice<Cpu, f32>>::Built;

/// The bits of the output, of gradients and of running statistics of a step.
fn step(dev: &Cpu, model: &mut Built, policy: Policy) -> Vec<Vec<u32>> {
    with_policy(policy, || {
        let values = (0..2 * 4 * 8 * 6).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
        let x = dev.tensor_from_vec(values, (2, Const::<4>, 8, 6));
        let skip = model.0.forward_mut(x.leaky_trace());
        let low = model.1.forward_mut(skip.with_empty_tape());
        let up = model.2.forward_mut(low);
        let mixed = model.3.forward_mut(nn::concat_channels(up, skip));
        let y = model.4.forward_mut(mixed);
        let out = y.as_vec();
        let g = y.square().sum().backward();
        let (first, second, last) = (&model.0.0.0, &model.1.0.1, &model.4.0);
        let all = [
            out,
            g.get(&x).as_vec(),
            g.get(&first.0.weight).as_vec(),
            g.get(&first.2.bias).as_vec(),
            g.get(&second.weight).as_vec(),
            g.get(&model.3.0.0.0.weight).as_vec(),
            g.get(&last.2.weight).as_vec(),
            first.0.running_var.as_vec(),
            second.running_mean.as_vec(),
            last.0.running_var.as_vec(),
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
    assert!(plain[7].iter().all(|v| *v != 1.0f32.to_bits()));
    assert!(plain == run(Policy::keep()) && plain == run(Policy::checkpoint()));

    let dev = Cpu::seed_from_u64(1);
    let mut model = dev.build_module::<Model, f32>();
    step(&dev, &mut model, Policy::checkpoint());
    let before = memory::live_bytes();
    step(&dev, &mut model, Policy::checkpoint());
    assert_eq!(memory::live_bytes(), before);
}
