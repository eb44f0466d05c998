//! `Option`, `Vec`, arrays and flags over a region's edge and a module's.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(
        &self,
        x: Tensor<(B, Const<4>), E, D>,
        mask: Option<Tensor<(B, Const<4>), bool, D>>,
        rounds: usize,
    ) -> (Tensor<(B, Const<4>), E, D>, Vec<Tensor<(B, Const<4>), E, D>>) {
        let mut seen = Vec::new();
        #[checkpoint]
        {
            let mut h = x;
            for _ in 0..rounds {
                h = self.a.forward(h).tanh();
                seen.push(h);
            }
        }
        let last = seen.last().cloned().unwrap();
        let both = [x, last];
        #[checkpoint]
        let y = {
            let [first, second] = both;
            let sum = first + self.a.forward(second);
            match mask {
                Some(mask) => mask.choose(sum, last),
                None => sum,
            }
        };
        (y, seen)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let (y, seen) = model.forward_mut((x.traced(model.alloc_grads()), None, 2));
    assert_eq!(seen.len(), 2);
    y.square().mean().backward();
}
