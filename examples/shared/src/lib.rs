//! What the examples' command lines and tables have in common.

#![forbid(unsafe_code)]

pub mod command;
pub mod losses;
pub mod options;
