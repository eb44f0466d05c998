//! What a field changes behind `&self`.
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
            self.field.borrow_mut();
            self.field.try_borrow_mut();
            self.field.lock();
            self.field.try_lock();
            self.field.write();
            self.field.try_write();
            self.field.store(1, Ordering::Relaxed);
            self.field.swap(1, Ordering::Relaxed);
            self.field.fetch_add(1, Ordering::Relaxed);
            self.field.fetch_sub(1, Ordering::Relaxed);
            self.field.fetch_and(1, Ordering::Relaxed);
            self.field.fetch_or(1, Ordering::Relaxed);
            self.field.fetch_xor(1, Ordering::Relaxed);
            self.field.fetch_nand(1, Ordering::Relaxed);
            self.field.fetch_max(1, Ordering::Relaxed);
            self.field.fetch_min(1, Ordering::Relaxed);
            self.field.fetch_update(Relaxed, Relaxed, f);
            self.field.compare_exchange(0, 1, AcqRel, Acquire);
            self.field.compare_exchange_weak(0, 1, AcqRel, Acquire);
            self.field.set(1);
            self.field.replace_with(f);
            self.field.get_or_init(f);
            self.field.get_or_try_init(f);
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
