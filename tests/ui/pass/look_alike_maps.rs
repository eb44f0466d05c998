//! Maps, sets and queues of the region's own, with methods that a cell has too.
use std::collections::{BTreeMap, VecDeque};

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

/// Not a cell, a lock or an atomic, whatever its methods are called.
#[derive(Clone, Debug, Default)]
struct Settings(BTreeMap<String, usize>);

impl Settings {
    fn set(&mut self, key: &str, value: usize) {
        self.0.insert(key.to_owned(), value);
    }

    fn store(&mut self, key: &str, value: usize) {
        self.set(key, value);
    }

    fn lock(&self) -> &BTreeMap<String, usize> {
        &self.0
    }
}

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
            let mut settings = Settings::default();
            settings.set("width", 4);
            settings.store("rounds", 2);
            let mut map = BTreeMap::new();
            map.insert(1, "a");
            map.entry(2).or_insert("b");
            let old = map.remove(&1).unwrap_or("none");
            map.retain(|k, _| *k > 0);
            let mut queue = VecDeque::from(vec![1, 2, 3]);
            queue.push_back(4);
            queue.push_front(0);
            let last = queue.pop_back().or(queue.pop_front());
            let mut list: Vec<usize> = queue.drain(..).collect();
            list.sort();
            list.extend([7, 8]);
            list.append(&mut vec![9]);
            let mut cached = Some(3);
            let taken = cached.take().unwrap_or(1) + cached.replace(2).unwrap_or(0);
            assert!(old.len() + list.len() + taken + last.unwrap_or(0) > 0);
            let mut h = x;
            for _ in 0..settings.lock().len() {
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
