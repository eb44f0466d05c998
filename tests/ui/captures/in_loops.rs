//! Loops that are regions, and what they would borrow from around them.
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
        let mut seen = Vec::new();
        let list = &mut seen;
        let scale = 2;
        let scaled = |t: Tensor<Rank1<4>, E, D>| t * scale;
        let mut h = x;
        #[checkpoint]
        for layer in &self.layers {
            list.push(1);
            h = scaled(layer.forward(h));
        }
        #[checkpoint]
        for layer in &self.layers {
            #[cfg(debug_assertions)]
            assert!(h.shape().num_elements() > 0);
            h = layer.forward(h);
        }
        h
    }
}

fn main() {}
