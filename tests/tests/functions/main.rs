//! `#[checkpoint] fn`, `checkpoint!` and `#[derive(Boundary)]`.

mod boundary;
mod calls;
mod tracked;
mod without_a_prelude;
