//! The run time against plain dfdx.

mod costs;
mod edges;
mod equivalence;
mod failures;
mod kinds;
mod random_models;
