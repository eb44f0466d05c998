//! There are no more segments than layers; where the number is known, the compiler says so.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 4)]
    repeated: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(segments = 3)]
    tuple: (Linear<4, 4, E, D>, ReLU),
}

type Sequence = checkpoint_sequential!(segments = 3, dfdx::nn::builders::Linear<4, 4>, ReLU);

checkpoint_sequential! {
    segments = 9;
    struct Named { first: dfdx::nn::builders::Linear<4, 4>, act: ReLU }
}

fn main() {}
