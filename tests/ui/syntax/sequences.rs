//! Sequences of nothing, and of things that are neither types nor values.
use ckpt_runtime::prelude::*;
use dfdx::nn::builders::Linear;

type Empty = checkpoint_sequential!(segments = 1);
type Typo = checkpoint_sequential!(segments = 1, Linear<4, 4> ReLU);

checkpoint_sequential! { segments = 1; struct None {} }
checkpoint_sequential! { segments = 1; enum Net { A(ReLU) } }

fn main() {}
