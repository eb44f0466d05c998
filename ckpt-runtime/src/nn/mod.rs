//! Layers beyond dfdx's.

mod dropout;
mod gelu;
mod heap;
mod philox;

pub use dropout::{Dropout, DropoutOneIn};
pub use gelu::Gelu;
