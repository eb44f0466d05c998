//! Five different mistakes are five messages.
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
        #[checkpoint]
        let h = {
            println!("{x:?}");
            self.calls += 1;
            let h = self.a.forward(x).dropout(0.1);
            h.fill_with_zeros();
            return h;
        };
        x
    }
}

fn main() {}
