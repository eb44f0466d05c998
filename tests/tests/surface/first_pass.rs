//! `first_pass!`: side effects happen once a step.

use std::cell::Cell;

use ckpt_runtime::prelude::*;
use dfdx::nn::modules;

use crate::same::rows;

thread_local! {
    static FIRST: Cell<usize> = const { Cell::new(0) };
    static EVERY: Cell<usize> = const { Cell::new(0) };
}

fn count(counter: &'static std::thread::LocalKey<Cell<usize>>) {
    counter.set(counter.get() + 1);
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Counted<E: Dtype, D: Device<E>> {
    a: modules::Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Counted<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let y = {
            count(&EVERY);
            #[checkpoint]
            let inner = {
                first_pass! { count(&FIRST); }
                self.a.forward(x)
            };
            first_pass! { count(&FIRST) }
            inner.tanh()
        };
        y
    }
}

#[test]
fn it_runs_in_the_first_pass_of_nested_regions_and_in_inference() {
    let dev = Cpu::default();
    let mut model = dev.build_module::<CountedBuilder, f32>();
    let x = rows::<4, f32>(&dev);
    let loss = model.forward_mut(x.clone().leaky_trace()).mean();
    assert_eq!((FIRST.get(), EVERY.get()), (2, 1));
    loss.backward();
    assert_eq!((FIRST.get(), EVERY.get()), (2, 2));
    let _ = model.forward(x);
    assert_eq!((FIRST.get(), EVERY.get()), (4, 3));
}
