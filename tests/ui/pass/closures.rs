//! Closures that are called at once, kept, and handed to iterators.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let double = |n: usize| 2 * n;
        let k = double(1);
        #[checkpoint]
        let h = {
            let act = |t: Tensor<(B, Const<4>), E, D>| t.relu();
            let rounds: Vec<usize> = (0..k).map(|i| i + 1).filter(|i| i % 2 == 0 || *i < 9).collect();
            let scale = rounds.iter().fold(0.0, |sum, r| sum + 1.0 / *r as f64);
            act(self.a.forward(x)) * E::from_f64(scale).unwrap()
        };
        let head = |t| self.b.forward(t);
        head(h)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
