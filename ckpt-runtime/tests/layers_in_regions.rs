//! The layers of `nn` in a region: recomputed to the bit, dropout inside of attention included, and
//! nothing left behind.

use ckpt_runtime::{
    memory::{self, CountingAllocator},
    nn,
    prelude::*,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

/// Heads that drop one weight in four.
type Heads = nn::MultiHeadAttention<16, 2, f32, Cpu, true, 4>;
type Block = (
    Residual<(nn::LayerNorm<16>, Heads)>,
    Residual<(nn::RmsNorm<16>, nn::Linear<16, 32>, nn::ActLinear<nn::Gelu, 32, 16>)>,
    (nn::LinearAct<16, 16, nn::Silu>, nn::Relu),
);
type Model = (nn::Embedding<11, 16>, Repeated<Checkpoint<Block>, 3>, nn::LinearAct<16, 11, nn::Gelu>);
type Built = <Model as BuildOnDevice<Cpu, f32>>::Built;

fn tokens(dev: &Cpu) -> Tensor<(usize, usize), usize, Cpu> {
    dev.tensor_from_vec((0..2 * 70).map(|i| (i * 7) % 11).collect(), (2, 70))
}

/// The bits of the loss and of some gradients of a step.
fn step(dev: &Cpu, model: &Built, policy: Policy) -> Vec<Vec<u32>> {
    with_policy(policy, || {
        let logits = model.forward(tokens(dev).put_tape(OwnedTape::default()));
        let loss = nn::cross_entropy(logits, tokens(dev));
        let value = loss.as_vec();
        let gradients = loss.backward();
        let block = &model.1.modules[0].0;
        let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect();
        vec![
            bits(value),
            bits(gradients.get(&model.0.weight).as_vec()),
            bits(gradients.get(&block.0.0.0.weight).as_vec()),
            bits(gradients.get(&block.0.0.1.in_proj_weight).as_vec()),
            bits(gradients.get(&block.1.0.2.weight).as_vec()),
            bits(gradients.get(&block.2.0.bias).as_vec()),
        ]
    })
}

#[test]
fn a_recompute_gives_the_same_bits_and_leaves_nothing() {
    // Kernels keep packing buffers a thread; with the test's own thread alone they are all warm.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
    let run = |policy: Policy| {
        let dev = Cpu::seed_from_u64(1);
        let model = dev.build_module::<Model, f32>();
        step(&dev, &model, policy)
    };
    let plain = run(Policy::plain());
    assert!(plain[1].iter().any(|v| *v != 0));
    assert!(plain == run(Policy::keep()) && plain == run(Policy::checkpoint()));

    let dev = Cpu::seed_from_u64(1);
    let model = dev.build_module::<Model, f32>();
    step(&dev, &model, Policy::checkpoint());
    let before = memory::live_bytes();
    step(&dev, &model, Policy::checkpoint());
    assert_eq!(memory::live_bytes(), before);
}
