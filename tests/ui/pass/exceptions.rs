//! What is let through, as narrowly as it is said.
use std::{cell::Cell, rc::Rc};

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom, allow(interior_mutability))]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    #[skip]
    calls: Rc<Cell<usize>>,
}

#[checkpointed(allow(interior_mutability))]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        self.calls.set(self.calls.get() + 1);
        #[checkpoint(allow(io, reading))]
        let h = {
            eprint!("");
            let _seen = x.as_vec().len();
            self.a.forward(x)
        };
        #[checkpoint(allow(unsafe_code, threads, in_place))]
        let y = {
            let n = unsafe { [1usize, 2].get_unchecked(1).to_owned() };
            std::thread::yield_now();
            assert_eq!(n, 2);
            self.a.forward(h)
        };
        #[checkpoint(keep)]
        let z = {
            eprint!("");
            self.a.forward(y)
        };
        z
    }
}

#[checkpointed(allow(whole_model))]
#[derive(Clone, Debug)]
struct Part<E: Dtype, D: Device<E>> {
    #[checkpoint]
    all: (Linear<4, 4, E, D>, ReLU),
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(BlockBuilder, PartBuilder), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
