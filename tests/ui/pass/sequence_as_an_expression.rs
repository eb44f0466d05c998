//! A sequence as an expression: in an impl written by hand, in a checkpointed forward.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

#[checkpointed(allow(nothing_marked))]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let y = checkpoint_sequential!(segments = 2, x, self.a, self.b, self.a)?;
        checkpoint_sequential!(each, verify, y + x, self.b, self.a)
    }
}

type Taped = Tensor<(usize, Const<4>), f32, Cpu, OwnedTape<f32, Cpu>>;

fn by_hand(a: &Linear<4, 4, f32, Cpu>, b: &mut Linear<4, 4, f32, Cpu>, x: Taped) -> Taped {
    checkpoint_sequential!(segments = 1, x, a, ReLU, &mut *b).unwrap()
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<(usize, Const<4>), f32, _> = dev.sample_normal_like(&(3, Const));
    model.forward_mut(x.clone().traced(model.alloc_grads())).square().mean().backward();
    by_hand(&model.a, &mut model.b, x.leaky_trace()).mean().backward();
}
