//! Five different mistakes in a declaration are five messages, and the model can still be used.
use std::cell::Cell;

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(bilder = Net)]
#[derive(Clone, Debug)]
pub struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 0)]
    a: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(keep, plain)]
    b: Linear<4, 4, E, D>,
    #[checkpoint]
    count: usize,
    #[skip]
    calls: Cell<usize>,
}

impl<E: Dtype, D: Device<E>> Model<E, D> {
    fn calls(&self) -> usize {
        self.calls.get() + self.count
    }
}

fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<ModelBuilder, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    let _ = model.forward(x.clone());
    let _ = model.forward_mut(x.leaky_trace());
    let _ = (model.calls(), &model.b.weight, model.clone());
}
