//! What the tests of the workspace share: models written by hand on dfdx alone, against which the
//! checkpointed ones are held, and what a comparison needs.

#![forbid(unsafe_code)]

pub mod compare;
pub mod gradients;
pub mod layers;
pub mod plain_gpt;
