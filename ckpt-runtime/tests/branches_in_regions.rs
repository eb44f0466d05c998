//! Transformer branches in regions of a forward: the same bits in every mode, dropout included, and
//! nothing left behind, after a step and after a tape that is dropped without one.

use ckpt_runtime::{
    memory::{self, CountingAllocator},
    nn,
    prelude::*,
};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    norm1: nn::LayerNorm<8, E, D>,
    attn: nn::MultiHeadAttention<8, 2, E, D, true>,
    norm2: nn::RmsNorm<8, E, D>,
    ff: nn::FeedForward<8, 24, nn::Silu, E, D>,
    #[scalar(default = 0.2)]
    dropout: f64,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim, S: Dim>(&self, x: Tensor<(B, S, Const<8>), E, D>) -> Tensor<(B, S, Const<8>), E, D> {
        #[checkpoint]
        let h = nn::pre_norm(x, &self.norm1, &self.attn, self.dropout);
        #[checkpoint]
        let y = {
            let wide = nn::pre_norm(h.clone(), &self.norm2, &self.ff, self.dropout);
            nn::add(wide, h)
        };
        y
    }
}

type Sequences<T = NoneTape> = Tensor<(usize, usize, Const<8>), f32, Cpu, T>;

fn sequences(dev: &Cpu) -> Sequences {
    // More positions than a tile of attention has.
    let values = (0..2 * 70 * 8).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
    dev.tensor_from_vec(values, (2, 70, Const))
}

/// The bits of the output and of gradients of a step.
fn step(dev: &Cpu, model: &mut Block<f32, Cpu>, policy: &Policy) -> Vec<u32> {
    with_policy(policy.clone(), || {
        let x = sequences(dev);
        let y = model.forward_mut(x.leaky_trace());
        let out = y.as_vec();
        let g = y.square().mean().backward();
        let all = [
            out,
            g.get(&x).as_vec(),
            g.get(&model.norm1.bias).as_vec(),
            g.get(&model.attn.in_proj_weight).as_vec(),
            g.get(&model.norm2.weight).as_vec(),
            g.get(&model.ff.linear1.weight).as_vec(),
            g.get(&model.ff.linear2.bias).as_vec(),
        ];
        assert!(all.iter().all(|values| values.iter().any(|v| *v != 0.0)));
        all.into_iter().flatten().map(f32::to_bits).collect()
    })
}

#[test]
fn a_recompute_gives_the_same_bits_and_leaves_nothing() {
    // With the test's own thread alone, what threads keep for themselves is all warm.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
    let modes = [Policy::plain(), Policy::keep(), Policy::checkpoint(), Policy::checkpoint().verify(0.0)];
    let mut plain = None;
    for policy in modes {
        let dev = Cpu::seed_from_u64(1);
        let mut model = Block::<f32, Cpu>::build(&dev);
        let bits = step(&dev, &mut model, &policy);
        assert!(*plain.get_or_insert(bits.clone()) == bits, "{policy:?}");
        drop(bits);
        let before = memory::live_bytes();
        step(&dev, &mut model, &policy);
        assert_eq!(memory::live_bytes(), before, "after a step, {policy:?}");
        with_policy(policy.clone(), || {
            let y = model.forward_mut(sequences(&dev).leaky_trace());
            assert!(memory::live_bytes() > before);
            drop(y);
        });
        assert_eq!(memory::live_bytes(), before, "after a dropped tape, {policy:?}");
    }
}
