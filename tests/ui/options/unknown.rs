//! A word that is no option, with the nearest that is.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(bulder = Other)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(segment = 2)]
    a: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(verify(tolerence = 1e-5))]
    b: Linear<4, 4, E, D>,
    #[checkpoint(allow(everything))]
    c: Linear<4, 4, E, D>,
    #[checkpoint(crate = ::ckpt_runtime)]
    d: Linear<4, 4, E, D>,
}

#[checkpointed(forward = costum)]
struct Custom<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

fn main() {}
