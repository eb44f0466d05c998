//! Misuse inside a region or a checkpointed forward: the codes 001 to 011.
//!
//! One file a family. A rule is a table of the forms that it knows, and what to look at where a
//! table does not do; adding a form is adding a row. One [`walk`] goes through a body and shows each
//! expression to every rule, with where it stands ([`At`]): in a region, in one that recomputes, in
//! a `first_pass!`. Nothing returns early, so all findings of a body come out together.
//!
//! A name alone proves little: `set` may be a cell's method or a map's. [`values`] knows as much of
//! a value as its declaration tells, and where that is not enough a rule stays silent and leaves
//! the rest to the type system and to `verify`.

mod captures;
mod conversion;
mod forms;
mod helpers;
mod in_place;
mod interior_mutability;
mod io;
mod leaving;
mod not_replayable;
mod state;
#[cfg(test)]
mod tables;
mod tape;
#[cfg(test)]
mod tests;
mod threads;
mod unsafe_code;
mod values;
mod walk;

use syn::{Attribute, Expr, Item, Macro};

pub use helpers::replayed;
pub use interior_mutability::in_type as interior_mutability_in;
pub use walk::{Subject, body};

use crate::diagnostic::Code;
use forms::Found;
use walk::At;

/// A family of misuse. Each method is shown one kind of node.
trait Rule: Sync {
    /// The family's code.
    fn code(&self) -> Code;

    /// The word in `allow(..)` that turns it off.
    fn allowed_by(&self) -> Option<&'static str> {
        None
    }

    /// Whether `first_pass! { .. }` is the place for it.
    fn once_in_first_pass(&self) -> bool {
        false
    }

    /// The rows of its tables.
    #[cfg(test)]
    fn rows(&self) -> Vec<tables::Row> {
        Vec::new()
    }

    /// Looks at an expression.
    fn expr(&self, _: &Expr, _: &At<'_>, _: &mut Found<'_>) {}

    /// Looks at the invocation of a macro.
    fn invocation(&self, _: &Macro, _: &At<'_>, _: &mut Found<'_>) {}

    /// Looks at an attribute.
    fn attribute(&self, _: &Attribute, _: &At<'_>, _: &mut Found<'_>) {}

    /// Looks at an item declared among statements.
    fn item(&self, _: &Item, _: &At<'_>, _: &mut Found<'_>) {}
}

/// All families but the one of what leaves a region, which follows jumps.
const RULES: &[&dyn Rule] = &[
    &in_place::InPlace,
    &state::State,
    &interior_mutability::InteriorMutability,
    &io::Io,
    &unsafe_code::UnsafeCode,
    &not_replayable::NotReplayable,
    &tape::Tape,
    &tape::Reading,
    &conversion::Conversion,
    &threads::Threads,
    &captures::Captures,
];
