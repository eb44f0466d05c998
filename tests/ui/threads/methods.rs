//! Iterators that run in parallel, messages, tasks.
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
            rows.par_iter().sum();
            rows.par_iter_mut();
            rows.into_par_iter();
            rows.par_chunks(2);
            rows.par_bridge();
            self.sender.send(1);
            self.sender.try_send(1);
            self.receiver.recv();
            self.receiver.try_recv();
            self.receiver.recv_timeout(t);
            self.pool.spawn(f);
            let f = async { 1 };
            let f = async move { x };
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
