//! A number of segments is written out, and is at least one.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

const N: usize = 2;

#[checkpointed]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 0)]
    a: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(segments = N)]
    b: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(segments = "2")]
    c: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(segments)]
    d: Repeated<Linear<4, 4, E, D>, 3>,
}

type Uncut = checkpoint_sequential!(dfdx::nn::builders::Linear<4, 4>, ReLU);

fn main() {}
