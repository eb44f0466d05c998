//! Every type through which a shared reference writes.
use std::{cell::*, sync::{*, atomic::*}};

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    #[skip]
    field0: AtomicBool,
    #[skip]
    field1: AtomicI8,
    #[skip]
    field2: AtomicI16,
    #[skip]
    field3: AtomicI32,
    #[skip]
    field4: AtomicI64,
    #[skip]
    field5: AtomicIsize,
    #[skip]
    field6: AtomicPtr<u8>,
    #[skip]
    field7: AtomicU8,
    #[skip]
    field8: AtomicU16,
    #[skip]
    field9: AtomicU32,
    #[skip]
    field10: AtomicU64,
    #[skip]
    field11: LazyCell<u8>,
    #[skip]
    field12: LazyLock<u8>,
    #[skip]
    field13: OnceCell<u8>,
    #[skip]
    field14: OnceLock<u8>,
    #[skip]
    field15: RwLock<u8>,
    #[skip]
    field16: UnsafeCell<u8>,
}

fn main() {}
