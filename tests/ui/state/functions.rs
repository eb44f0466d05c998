//! Functions that write through the `&mut` that they are given.
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
            std::mem::swap(&mut self.a, &mut self.b);
            swap(&mut self.a, &mut y);
            mem::replace(&mut self.a, y);
            replace(&mut self.a, y);
            core::mem::take(&mut self.rows);
            take(&mut self.rows);
            Arc::make_mut(&mut self.table);
            Rc::make_mut(&mut self.table);
            Arc::get_mut(&mut self.table);
            Rc::get_mut(&mut self.table);
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
