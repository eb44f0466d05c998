//! Models declared with the checkpointing macros, at the shapes that the benches measure.

#![forbid(unsafe_code)]

pub mod loss;
pub mod mode;
