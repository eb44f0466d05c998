//! What only looks like a mistake is none, and what is let through runs.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt::Write,
    mem,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

const SCALES: [usize; 2] = [1, 2];

/// A map with the methods of a cell.
#[derive(Clone, Debug, Default)]
struct Settings(HashMap<String, usize>);

impl Settings {
    fn set(&mut self, key: &str, value: usize) {
        self.0.insert(key.to_owned(), value);
    }

    fn trace(&self) -> usize {
        self.0.len()
    }

    fn sample(&self, k: usize) -> usize {
        self.trace() + k
    }
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct LookAlikes<E: Dtype, D: Device<E>> {
    log: Linear<4, 4, E, D>,
    store: Linear<4, 4, E, D>,
    #[skip]
    name: String,
    #[skip]
    settings: Settings,
    #[skip(allow(interior_mutability))]
    calls: Arc<AtomicUsize>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> LookAlikes<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let mut total = 0;
        #[checkpoint]
        let h = {
            let mut text = String::new();
            write!(text, "{}", self.name.replace('a', "b")).unwrap();
            writeln!(&mut text, " of {}", SCALES[1]).unwrap();
            text += "more";
            text.push('!');
            let mut settings = Settings::default();
            settings.set("width", 4);
            let mut n = self.settings.sample(settings.trace());
            n += text.len();
            let cell = Cell::new(n);
            cell.set(cell.get() + 1);
            cell.replace(2);
            let rows = RefCell::new(vec![1]);
            rows.borrow_mut().push(cell.take());
            let mut grid = [[0; 2]; 2];
            grid[1][0] = SCALES.len();
            mem::swap(&mut n, &mut grid[0][1]);
            total += grid[1][0];
            first_pass! { self.calls.fetch_add(1, Ordering::Relaxed); }
            let shared = Rc::new(3usize);
            let log = self.log.forward(x);
            let store = if *shared > 2 { log.relu() } else { log };
            self.store.forward(store)
        };
        assert_eq!(total, 2);
        #[checkpoint(allow(io, interior_mutability))]
        let h = {
            self.calls.fetch_add(0, Ordering::Relaxed);
            eprint!("");
            self.log.forward(h)
        };
        h
    }
}

#[test]
fn look_alikes_run() {
    let dev = Cpu::default();
    let mut model = dev.build_module::<LookAlikesBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let untrained = model.forward(x.clone());
    let y = model.forward_mut(x.leaky_trace());
    assert_eq!(y.array(), untrained.array());
    let before = model.calls.load(Ordering::Relaxed);
    let gradients = y.square().mean().backward();
    assert_eq!(model.calls.load(Ordering::Relaxed), before);
    assert!(gradients.get(&model.log.weight).as_vec().iter().any(|g| *g != 0.0));
}
