//! The macros as a user meets them: every form of the surface, compiled, run, and held to the bit
//! against the same layers called on dfdx alone.

#![allow(missing_docs, missing_debug_implementations, clippy::redundant_closure_for_method_calls)]

mod builds;
mod fields;
mod first_pass;
mod flow;
mod functions;
mod inputs;
mod kinds;
mod look_alikes;
mod same;
mod saving;
mod sequences;
mod shapes;
