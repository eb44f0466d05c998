//! What a type cannot carry, a struct or an expression can.
use ckpt_runtime::prelude::*;
use dfdx::nn::builders::Linear;

type Named = checkpoint_sequential!(segments = 1, name = "net", Linear<4, 4>, ReLU);
type Verified = checkpoint_sequential!(segments = 1, verify, Linear<4, 4>, ReLU);
type Kept = checkpoint_sequential!(keep, Linear<4, 4>, ReLU);

fn main() {}
