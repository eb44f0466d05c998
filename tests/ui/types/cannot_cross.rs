//! A value that is neither made of tensors nor `Clone + 'static` cannot go into a region, and
//! such a field cannot be lent to one.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[derive(Debug, Default)]
struct Plan {
    steps: usize,
}

#[checkpointed(forward = custom)]
#[derive(Debug)]
struct Block<E: Dtype, D: Device<E>> {
    up: Linear<4, 4, E, D>,
    #[skip]
    plan: Plan,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward(&self, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
        let plan = Plan { steps: 2 };
        #[checkpoint]
        let h = {
            assert!(plan.steps == 2);
            self.up.forward(x)
        };
        #[checkpoint]
        let h = {
            assert!(self.plan.steps == 0);
            self.up.forward(h)
        };
        h
    }
}

fn main() {}
