//! Every macro once, where nothing is called what the macros would guess: the run time is `other`,
//! dfdx is `tensors`, and the module has no prelude, so that emitted code can rely on no name. What
//! is emitted must give no warning either.

#![forbid(unsafe_code)]
#![deny(warnings)]

pub mod bare;

#[cfg(test)]
mod tests;
