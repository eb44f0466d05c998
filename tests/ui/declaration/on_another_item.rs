//! Only structs have fields to run.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
enum Either<E: Dtype, D: Device<E>> {
    #[allow(dead_code)]
    Left(#[checkpoint] Linear<4, 4, E, D>),
}

#[checkpointed]
union Bits {
    #[checkpoint]
    a: u32,
    b: f32,
}

#[checkpointed]
mod model {}

fn main() {
    // The items are still there, so that an editor keeps working.
    let _: Option<Either<f32, Cpu>> = None;
    let _ = Bits { b: 1.0 };
}
