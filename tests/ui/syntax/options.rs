//! Options that are not written as options.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint = 4]
    a: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(verify(tolerance = -1.0))]
    b: Linear<4, 4, E, D>,
    #[checkpoint(segments 2)]
    c: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(verify = true, keep = 1)]
    e: Linear<4, 4, E, D>,
    #[checkpoint(name = encoder)]
    d: Linear<4, 4, E, D>,
}

#[checkpointed(forward = custom)]
struct Parameter<E: Dtype, D: Device<E>> {
    #[param]
    weight: Tensor<Rank1<4>, E, D>,
    #[scalar(defalt = 1.0)]
    scale: f64,
}

fn main() {}
