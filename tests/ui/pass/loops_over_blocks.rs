//! Loops that are regions: cut, one a block, zipped, numbered, over a `Vec` inside a tuple.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Stack<E: Dtype, D: Device<E>> {
    blocks: Repeated<Linear<4, 4, E, D>, 4>,
    head: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Stack<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let mut h = x;
        #[checkpoint(segments = 2)]
        for block in &self.blocks {
            h = block.forward(h) + x;
        }
        #[checkpoint(each)]
        for block in &self.blocks {
            if h.shape().num_elements() == 0 {
                continue;
            }
            h = block.forward(h).tanh();
        }
        #[checkpoint]
        for (n, block) in self.blocks.iter().enumerate() {
            if n == 2 {
                break;
            }
            h = block.forward(h);
        }
        for (block, scale) in self.blocks.iter().zip([0.5, 1.0, 1.5, 2.0]) {
            h = block.forward(h) * E::from_f64(scale).unwrap();
        }
        self.head.forward(h)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<StackBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
