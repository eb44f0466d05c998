//! Layers beyond dfdx's.

mod dropout;
mod philox;

pub use dropout::{Dropout, DropoutOneIn};
