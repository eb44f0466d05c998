//! dfdx's prelude has the builders' names: as fields they are no modules.
use ckpt_runtime::prelude::*;

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 8>,
    b: dfdx::nn::modules::Linear<8, 2, E, D>,
}

fn main() {}
