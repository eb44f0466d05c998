//! The tape taken off, replaced or run, in a region and outside.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward(&self, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
        let (y, tape) = x.split_tape();
        let loss = x.backward();
        #[checkpoint]
        let x = {
            x.put_tape(tape);
            x.retaped::<NoneTape>();
            x.trace(grads);
            x.traced(grads);
            self.w.leaky_trace();
            x.leaky_traced();
            x.try_backward()?;
            OwnedTape::default();
            Gradients::leaky();
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
