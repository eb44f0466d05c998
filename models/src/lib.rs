//! Models declared with the checkpointing macros, at the shapes that the benches measure.

#![forbid(unsafe_code)]

pub mod gpt;
pub mod mode;
pub mod resnet;
pub mod unet;
