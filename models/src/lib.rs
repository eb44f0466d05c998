//! Models declared with the checkpointing macros, at the shapes that the benches measure.

#![forbid(unsafe_code)]

pub mod gpt;
pub mod loss;
pub mod mode;
