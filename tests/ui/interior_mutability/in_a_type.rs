//! A field through which `&self` can write.
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::{Arc, Mutex, atomic::AtomicUsize},
};

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    #[skip]
    calls: Arc<AtomicUsize>,
    #[skip]
    seen: Rc<RefCell<Vec<usize>>>,
    table: Arc<[Mutex<usize>; 2]>,
    // By its own word it is not written in a region.
    #[skip(allow(interior_mutability))]
    cached: Cell<usize>,
}

fn main() {}
