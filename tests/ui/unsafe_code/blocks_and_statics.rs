//! `unsafe`, and globals that are written.
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
        let x = {
            unsafe { poke() };
            LAST = 1;
            counters::STEPS += 1;
            update(&mut TABLE);
            let p = &raw mut TABLE;
            static mut N: usize = 0;
            static CALLS: AtomicUsize = AtomicUsize::new(0);
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
