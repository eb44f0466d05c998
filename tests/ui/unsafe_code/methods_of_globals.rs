//! Globals that are written behind a shared reference.
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
            GLOBAL.set(1);
            GLOBAL.store(1, Relaxed);
            GLOBAL.swap(1, Relaxed);
            GLOBAL.replace(1);
            GLOBAL.take();
            GLOBAL.fetch_add(1, Relaxed);
            GLOBAL.fetch_sub(1, Relaxed);
            GLOBAL.fetch_or(1, Relaxed);
            GLOBAL.fetch_and(1, Relaxed);
            GLOBAL.fetch_max(1, Relaxed);
            GLOBAL.fetch_min(1, Relaxed);
            GLOBAL.compare_exchange(0, 1, Relaxed, Relaxed);
            GLOBAL.lock();
            GLOBAL.write();
            GLOBAL.borrow_mut();
            GLOBAL.with_borrow_mut(|v| v.push(1));
            GLOBAL.with(|v| v.get());
            GLOBAL.get_or_init(|| 1);
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
