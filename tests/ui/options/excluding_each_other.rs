//! Options of which only one can hold.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 2, each)]
    a: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(keep, plain)]
    b: Linear<4, 4, E, D>,
    #[checkpoint(segments = 2, keep)]
    c: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(each, plain)]
    d: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(verify, keep)]
    e: Linear<4, 4, E, D>,
    #[checkpoint]
    #[skip]
    f: Linear<4, 4, E, D>,
}

fn main() {}
