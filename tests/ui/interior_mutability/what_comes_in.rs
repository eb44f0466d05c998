//! A cell from outside of the region, and one in a field outside of it.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward(&self, x: Tensor<Rank1<4>, E, D>, log: Shared) -> Tensor<Rank1<4>, E, D> {
        let cell = Rc::new(Cell::new(0));
        cell.set(1);
        #[checkpoint]
        let x = {
            cell.set(2);
            cell.update(|n| n + 1);
            cell.replace(3);
            cell.take();
            log.borrow_mut().push(1);
            self.a.forward(x)
        };
        self.calls.fetch_add(1, Ordering::Relaxed);
        x
    }
}

fn main() {}
