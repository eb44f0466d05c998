//! What a sequence's struct cannot have.
use ckpt_runtime::prelude::*;
use dfdx::nn::builders::Linear;

checkpoint_sequential! {
    segments = 1, builder = Other;
    struct Marked {
        #[checkpoint]
        a: Linear<4, 4>,
        #[cfg(test)]
        b: ReLU,
        c: Tanh,
    }
}

checkpoint_sequential! {
    segments = 1;
    struct Generic<F, E: Dtype, D: Device<E>> { a: F, b: dfdx::nn::modules::Linear<4, 4, E, D> }
}

fn main() {}
