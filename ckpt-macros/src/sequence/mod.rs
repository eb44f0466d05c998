//! `checkpoint_sequential!`: a run of layers cut into segments, as a type, as a struct with named
//! layers, or as an expression.
//!
//! [`position`] tells the three apart, [`layers`] writes the type and the expression, [`named`] the
//! struct.

mod layers;
mod named;
mod position;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Path, Token, parse::ParseStream};

use crate::{
    diagnostic::{Findings, codes},
    options::{self, Kind, Options, Segments},
};
use position::Form;

/// The macro.
pub fn expand(input: TokenStream) -> TokenStream {
    expand_in(input, None)
}

/// The macro, where `krate` is the run time unless its own options name another.
pub fn expand_in(input: TokenStream, krate: Option<&Path>) -> TokenStream {
    let mut findings = Findings::new();
    let mut options = Options::default();
    let mut rest = TokenStream::new();
    let parser = |stream: ParseStream<'_>| -> syn::Result<()> {
        options = Options::parse(stream, options::SEQUENCE, true, &mut findings)?;
        if stream.peek(Token![;]) {
            stream.parse::<Token![;]>()?;
        }
        rest = stream.parse()?;
        Ok(())
    };
    if let Err(e) = syn::parse::Parser::parse2(parser, input) {
        findings.push_syn(&e);
    }
    if options.krate.is_none() {
        options.krate = krate.cloned();
    }
    match position::tell(rest, &mut findings) {
        Some(Form::Type(types)) => layers::as_type(&options, &types, findings),
        Some(Form::Value(input, values)) => layers::as_expression(&options, &input, &values, findings),
        Some(Form::Struct(item)) => named::expand(&options, item, findings),
        None => findings.into_tokens(),
    }
}

/// The segments asked for, held against the number of layers; reports where they do not fit.
fn segments(options: &Options, layers: usize, findings: &mut Findings) -> Segments {
    let whole = || Segments::Count(1, Span::call_site());
    if layers == 0 {
        findings.push_span(
            codes::SYNTAX,
            Span::call_site(),
            "a sequence needs at least one layer",
            "write its layers after the options, separated by commas",
        );
        return whole();
    }
    match &options.segments {
        // Nothing is recomputed, so nothing needs to be cut.
        None if options.kind != Kind::Recompute => whole(),
        None => {
            // One that is written wrongly is reported where it is written.
            if findings.is_empty() {
                findings.push_span(
                    codes::SEGMENTS,
                    Span::call_site(),
                    "this sequence does not say into how many segments it is cut",
                    "begin with `segments = N`, N at most the number of layers, or with `each`",
                );
            }
            whole()
        }
        Some(Segments::Count(n, span)) if *n > layers => {
            too_many(*n, layers, *span, findings);
            whole()
        }
        Some(segments) => segments.clone(),
    }
}

/// Reports more segments than there are layers.
pub fn too_many(segments: usize, layers: usize, at: Span, findings: &mut Findings) {
    let (layers, numbers) = match layers {
        1 => ("1 layer".to_owned(), "1".to_owned()),
        n => (format!("{n} layers"), format!("a number from 1 to {n}")),
    };
    findings.push_span(
        codes::SEGMENTS,
        at,
        format!("{segments} segments cannot be cut out of {layers}"),
        format!("write {numbers}, or `each` for a segment of every layer"),
    );
}

/// A tuple of layers, or a balanced tree of `pair`s of tuples at most `widest` wide, which is what
/// the run time has tuples for.
fn tree(layers: &[TokenStream], widest: usize, pair: &dyn Fn(TokenStream, TokenStream) -> TokenStream) -> TokenStream {
    let tuples = layers.len().div_ceil(widest).max(1);
    let width = layers.len().div_ceil(tuples).max(1);
    let tuples: Vec<_> = layers.chunks(width).map(|chunk| quote!((#(#chunk,)*))).collect();
    joined(&tuples, pair)
}

fn joined(tuples: &[TokenStream], pair: &dyn Fn(TokenStream, TokenStream) -> TokenStream) -> TokenStream {
    match tuples {
        [] => quote!(()),
        [one] => one.to_token_stream(),
        more => {
            let (left, right) = more.split_at(more.len().div_ceil(2));
            pair(joined(left, pair), joined(right, pair))
        }
    }
}
