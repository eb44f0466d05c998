//! A model of indices alone, and one of indices, positions and a mask.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::{Embedding, Linear};

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Words<E: Dtype, D: Device<E>> {
    words: Embedding<7, 4, E, D>,
    places: Embedding<5, 4, E, D>,
    head: Linear<4, 7, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Words<E, D> {
    fn forward<S: Dim>(
        &self,
        words: Tensor<(S,), usize, D>,
        places: Tensor<(S,), usize, D>,
        mask: Option<Tensor<(S, Const<4>), bool, D>>,
    ) -> Tensor<(S, Const<7>), E, D> {
        let x = self.words.forward(words) + self.places.forward(places);
        #[checkpoint]
        let y = match mask {
            Some(mask) => mask.choose(x.relu(), x),
            None => x,
        };
        self.head.forward(y)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<WordsBuilder, f32>();
    let words: Tensor<Rank1<3>, usize, _> = dev.tensor([1, 6, 1]);
    let places: Tensor<Rank1<3>, usize, _> = dev.tensor([0, 1, 2]);
    let y = model.forward_mut((words.traced(model.alloc_grads()), places, None));
    y.square().mean().backward();
}
