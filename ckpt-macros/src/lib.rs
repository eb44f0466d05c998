//! The procedural macros of ckpt. Use them through `ckpt-runtime`, which re-exports them.
#![forbid(unsafe_code)]

mod diagnostic;
mod flow;
mod options;
mod roles;

