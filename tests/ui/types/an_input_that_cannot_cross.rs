//! A type of one's own among the inputs of a forward.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[derive(Clone, Debug)]
enum Mode {
    Off,
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>, mode: Mode) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = match mode {
            Mode::Off => self.a.forward(x),
        };
        h
    }
}

fn main() {}
