//! The run time against plain dfdx.

// Closures read alike beside each other; inputs are generic over the dtype for the macro that calls them.
#![allow(clippy::redundant_closure_for_method_calls, clippy::extra_unused_type_parameters)]

mod costs;
mod edges;
mod equivalence;
mod failures;
mod kinds;
mod random_models;
