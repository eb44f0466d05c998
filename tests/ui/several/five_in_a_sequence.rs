//! Five different mistakes in a sequence's struct are five messages, and the struct is still there.
use ckpt_runtime::prelude::*;

checkpoint_sequential! {
    segments = 0, bilder = Other, keep, keep, plain;
    #[derive(Clone, Debug, Default)]
    pub struct Net {
        #[checkpoint]
        first: Linear<4, 4>,
        act: ReLU,
    }
}

fn main() {
    let net = Net::default();
    let _ = (net.first.clone(), net.act, format!("{net:?}"));
}
