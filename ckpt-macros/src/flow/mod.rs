//! A forward written as ordinary Rust, turned into its training and its inference version.
//!
//! [`Body::read`] looks at a user's block once: it tells the locals apart (`scope`), reads the marks
//! (`regions`) and reports what is wrong. [`Body::emit`] writes the block for one [`Pass`]:
//! `liveness` finds the last use of each local, so clones where a value is used again and the
//! inputs and outputs of each region, and `rewrite` turns module calls, `self` and regions into
//! calls of the run time.
//!
//! `#[checkpointed] impl` (`emit`) and `#[checkpoint] fn` both stand on this. A checkpointed
//! function is a body whose whole block is marked: see [`Body::read_region`].

mod aliases;
pub mod arguments;
pub mod assigned;
mod bounds;
mod calls;
mod crossing;
mod emit;
mod helpers;
mod liveness;
pub mod names;
pub mod places;
pub mod regions;
mod rewrite;
pub mod scope;
mod selfuse;
pub mod signature;
mod sources;
pub mod tensor_methods;
pub mod types;

use proc_macro2::{Ident, TokenStream};
use syn::{Block, ExprMethodCall, Pat, Type};

pub use calls::twin_name;
pub use emit::expand_impl;

use crate::{check, diagnostic::Findings, options::Options, roles::Roles};

/// Which version of the body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// On the shared tape, which is in scope as `__ckpt_tape: &SharedTape<E, D>`. `replayed` where
    /// a region around the body may run it again, so that its layers must be replay-safe.
    Training {
        /// Whether the body stands in a region that recomputes.
        replayed: bool,
    },
    /// Untaped: regions dissolve and modules are only read.
    Inference,
}

/// How a failing call leaves the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// By `?`: the emitted block is a `Result<_, D::Err>`.
    Returned,
    /// By a panic that names the region: the emitted block has the user's own type.
    Panic,
}

/// How training borrows a module that is not a field of `self`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `&M`: through `Module` in both passes.
    Shared,
    /// `&mut M` in training, `&M` in inference.
    Exclusive,
}

/// What a body may name besides its own locals.
#[derive(Debug, Default)]
pub struct Parameters {
    /// Parameters that are modules, as the user's signature borrows them.
    pub modules: Vec<(Ident, Access)>,
    /// All others: they cross into regions by value.
    pub values: Vec<(Pat, Type)>,
}

/// A method of the user's impl that has a version of its own for each pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// Its name in the user's code.
    pub name: Ident,
    /// Whether it takes `self`.
    pub receiver: bool,
    /// Whether the user's signature returns a `Result`, so that calls are written with `?`.
    pub returns_result: bool,
}

/// What surrounds a body.
#[derive(Clone, Debug)]
pub struct Context {
    /// The dtype's and the device's generic parameters.
    pub roles: Roles,
    /// The path to the run-time crate.
    pub rt: TokenStream,
    /// The prefix of region names: `Block`, or `Block.helper`.
    pub owner: String,
    /// Methods of the impl that `self.name(..)` and `Self::name(..)` reach through a twin.
    pub twins: Vec<Twin>,
    /// Methods of the impl that are called as they are.
    pub plain_methods: Vec<Ident>,
    /// What `allow(..)` on the whole item lets through.
    pub allow: Vec<Ident>,
    /// Whether a region elsewhere calls the body, and so runs it again.
    pub replayed: bool,
}

impl Context {
    /// The twin of this name.
    fn twin(&self, name: &Ident) -> Option<&Twin> {
        self.twins.iter().find(|t| t.name == *name)
    }

    /// Whether `m` is `self.field(x)`: no method of the impl, and something to put in.
    pub fn calls_field(&self, m: &ExprMethodCall) -> bool {
        places::is_self(places::bare(&m.receiver))
            && !m.args.is_empty()
            && m.turbofish.is_none()
            && !places::is_forward(&m.method)
            && self.twin(&m.method).is_none()
            && !self.plain_methods.contains(&m.method)
    }
}

/// A block of the user's, read.
#[derive(Clone, Debug)]
pub struct Body {
    block: Block,
    /// `self` as the user's code says it: it is hygienic.
    itself: Ident,
    returns: Returns,
    locals: names::Locals,
    regions: Vec<regions::Region>,
}

/// What the user's block evaluates to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// A value.
    Value,
    /// `()`, from a signature without a return type.
    Unit,
    /// A `Result` with `D::Err`.
    Result,
}

impl Body {
    /// Reads `block`; everything wrong goes to `findings`.
    pub fn read(
        block: &Block,
        parameters: &Parameters,
        returns: Returns,
        cx: &Context,
        findings: &mut Findings,
    ) -> Self {
        Self::read_marked(block, None, parameters, returns, cx, findings)
    }

    /// As [`read`](Self::read), with all of `block` as one region, described by `options` and named
    /// after the context's owner.
    pub fn read_region(
        block: &Block,
        options: &Options,
        parameters: &Parameters,
        returns: Returns,
        cx: &Context,
        findings: &mut Findings,
    ) -> Self {
        Self::read_marked(block, Some(options), parameters, returns, cx, findings)
    }

    fn read_marked(
        block: &Block,
        whole: Option<&Options>,
        parameters: &Parameters,
        returns: Returns,
        cx: &Context,
        findings: &mut Findings,
    ) -> Self {
        let mut block = block.clone();
        let regions = regions::read(&mut block, whole, returns, cx, findings);
        let mut locals = scope::resolve(&mut block, parameters, &cx.roles.dtype);
        check::body(&check::Subject { block: &block, locals: &locals, regions: &regions, parameters, cx }, findings);
        aliases::expand(&mut block, &mut locals, &regions, cx);
        scope::lend(&block, &mut locals);
        Self { itself: places::itself(&block), block, returns, locals, regions }
    }

    /// How many regions are marked in it.
    pub fn regions(&self) -> usize {
        self.regions.len()
    }

    /// Whether one of its regions recomputes, so that layers in it must be replay-safe.
    pub fn recomputes(&self) -> bool {
        self.regions.iter().any(regions::Region::recomputes)
    }

    /// The block for one pass, braces included. With [`Failure::Returned`] it evaluates to a
    /// `Result<_, D::Err>`, with [`Failure::Panic`] to what the user's block does.
    pub fn emit(&self, pass: Pass, failure: Failure, cx: &Context) -> TokenStream {
        let mut block = self.block.clone();
        let dissolve = pass == Pass::Inference;
        let edges = liveness::analyse(&mut block, &self.locals, &self.regions, dissolve);
        rewrite::write(block, self, &edges, pass, failure, cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;
    use syn::parse_quote;

    /// A context with one helper, `helper`, that has versions of its own.
    pub fn context() -> Context {
        Context {
            roles: Roles { dtype: parse_quote!(E), device: parse_quote!(D) },
            rt: quote!(rt),
            owner: "Net".to_owned(),
            twins: vec![Twin { name: parse_quote!(helper), receiver: true, returns_result: false }],
            plain_methods: Vec::new(),
            allow: Vec::new(),
            replayed: false,
        }
    }
}
