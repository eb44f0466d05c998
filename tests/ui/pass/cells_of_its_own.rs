//! Cells, locks and atomics that a region makes for itself.
use std::{
    cell::{Cell, OnceCell, RefCell},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = {
            let count = Cell::new(0);
            count.set(count.get() + 1);
            count.replace(3);
            let rows = RefCell::new(vec![1]);
            rows.borrow_mut().push(count.take());
            let total = AtomicUsize::new(0);
            total.fetch_add(2, Ordering::Relaxed);
            total.store(total.load(Ordering::Relaxed) + 1, Ordering::SeqCst);
            let guarded = Mutex::new(1);
            *guarded.lock().unwrap() += 1;
            let once = OnceCell::new();
            let rounds = *once.get_or_init(|| rows.borrow().len().min(2));
            let mut h = x;
            for _ in 0..rounds {
                h = self.a.forward(h);
            }
            h
        };
        self.b.forward(h)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
