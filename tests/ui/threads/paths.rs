//! Threads, channels and runtimes.
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
            std::thread::spawn(f);
            thread::scope(f);
            rayon::join(f, g);
            crossbeam::scope(f);
            thread::sleep(t);
            thread::park();
            thread::yield_now();
            Barrier::new(2);
            Condvar::new();
            mpsc::channel();
            mpsc::sync_channel(1);
            crossbeam_channel::bounded(1);
            tokio::spawn(f);
            async_std::task::spawn(f);
            smol::block_on(f);
            executor::block_on(f);
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
