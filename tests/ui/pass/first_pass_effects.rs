//! Side effects where they happen once.
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

static STEPS: AtomicUsize = AtomicUsize::new(0);

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    #[skip(allow(interior_mutability))]
    calls: Arc<AtomicUsize>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let start = Instant::now();
        #[checkpoint]
        let h = {
            first_pass! {
                self.calls.fetch_add(1, Ordering::Relaxed);
                STEPS.fetch_add(1, Ordering::Relaxed);
                assert!(start.elapsed().as_secs() < 3600, "{:?}", std::thread::current().id());
            }
            self.a.forward(x)
        };
        h
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let loss = model.forward_mut(x.traced(model.alloc_grads())).mean();
    let before = model.calls.load(Ordering::Relaxed);
    loss.backward();
    assert_eq!(model.calls.load(Ordering::Relaxed), before);
}
