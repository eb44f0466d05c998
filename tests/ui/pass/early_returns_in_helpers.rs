//! Helpers that return early and use `?`, in a region and outside.
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
        if self.off() {
            return x;
        }
        #[checkpoint]
        let h = self.rounds(x, 2);
        match self.tried(h) {
            Ok(y) => y,
            Err(e) => panic!("{e:?}"),
        }
    }

    /// As often as asked.
    fn rounds<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>, n: usize) -> Tensor<(B, Const<4>), E, D> {
        if n == 0 {
            return x;
        }
        let h = self.a.forward(x);
        self.rounds(h, n - 1)
    }

    fn tried<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let h = self.b.try_forward(x)?;
        if self.off() {
            return Ok(h);
        }
        h.try_relu()
    }

    fn off(&self) -> bool {
        for n in [1, 2, 3] {
            if n == 4 {
                return true;
            }
        }
        false
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
