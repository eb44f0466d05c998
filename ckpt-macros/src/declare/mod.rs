//! `#[checkpointed]` on a struct.
//!
//! The attribute only hands over to a derive, which sees the fields as the compiler will: after
//! `#[cfg]` and `#[cfg_attr]`. There: [`syntax`] reads the struct and its marks, [`check`] holds
//! the rules, and [`collection`], [`forward`] and [`markers`] write the impls.

mod check;
mod collection;
mod forward;
pub mod generics;
mod markers;
mod marks;
mod syntax;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    DeriveInput, Item, ItemStruct, Path, Type,
    visit_mut::{self, VisitMut},
};

use crate::{
    diagnostic::{Findings, codes},
    options::{self, Options},
    sequence,
};
pub use collection::nested;
pub use markers::at;
use syntax::Declaration;

/// The helper attribute that carries the options from the attribute to the derive.
const CARRIER: &str = "__ckpt";

/// The attribute: the struct, with the derive and the options on it.
pub fn attribute(options: TokenStream, mut item: ItemStruct) -> TokenStream {
    let mut findings = Findings::new();
    if item.attrs.iter().any(|a| a.path().is_ident(CARRIER)) {
        findings.push(
            codes::OPTION_TWICE,
            &item.ident,
            "this struct is marked `#[checkpointed]` twice",
            "keep one `#[checkpointed]`, with the options of both",
        );
        let errors = findings.into_tokens();
        return quote!(#item #errors);
    }
    // Reported here and taken off: to the compiler they are the derive's, and it comes last.
    for mark in item.attrs.extract_if(.., |a| marks::is_mark(a)) {
        findings.push(
            codes::MISPLACED_MARK,
            mark,
            "this mark belongs on a field, not on the struct",
            "mark the fields whose activations are to be computed again",
        );
    }
    let mut errors = findings.into_tokens();
    // The derive reads the options again and reports what is wrong with them.
    let mut unreported = Findings::new();
    let read = Options::of_tokens(options.clone(), options::STRUCT, &mut unreported);
    drop(unreported.into_tokens());
    let rt = read.runtime();
    let mut sequences = Sequences { krate: read.krate.as_ref(), errors: TokenStream::new() };
    sequences.visit_item_struct_mut(&mut item);
    errors.extend(sequences.errors);

    // Last, so that the derive sees what other attributes of the user's have made of the struct.
    item.attrs.push(syn::parse_quote!(#[derive(#rt::__private::__CheckpointedStruct)]));
    item.attrs.push(syn::parse_quote!(#[__ckpt(#options)]));
    quote!(#item #errors)
}

/// Writes out the sequences among the fields' types: the compiler's own derives refuse a struct
/// with macros in its types.
struct Sequences<'a> {
    krate: Option<&'a Path>,
    /// What is wrong with them, which cannot stand in a type of such a struct either.
    errors: TokenStream,
}

impl VisitMut for Sequences<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Macro(m) = ty
            && m.mac.path.segments.last().is_some_and(|s| s.ident == "checkpoint_sequential")
        {
            let sequence = sequence::expand_in(m.mac.tokens.clone(), self.krate);
            *ty = match syn::parse2(sequence.clone()) {
                Ok(Type::Tuple(mut parts)) if matches!(parts.elems.first(), Some(Type::Macro(_))) => {
                    let last = parts.elems.pop();
                    self.errors.extend(parts.elems.into_iter().map(ToTokens::into_token_stream));
                    last.unwrap_or_else(|| syn::parse_quote!(()))
                }
                Ok(Type::Macro(error)) => {
                    self.errors.extend(error.into_token_stream());
                    syn::parse_quote!(())
                }
                Ok(sequence) => sequence,
                Err(_) => {
                    self.errors.extend(sequence);
                    syn::parse_quote!(())
                }
            };
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// The attribute on something that has no fields to run, which is given back without its marks.
pub fn misplaced(mut item: Item) -> TokenStream {
    let mut findings = Findings::new();
    let (what, at, fields) = match &mut item {
        Item::Enum(e) => ("an enum", e.ident.to_token_stream(), e.variants.iter_mut().map(|v| &mut v.fields).collect()),
        Item::Union(u) => {
            for field in &mut u.fields.named {
                field.attrs.retain(|a| !marks::is_mark(a));
            }
            ("a union", u.ident.to_token_stream(), Vec::new())
        }
        other => ("this item", other.to_token_stream(), Vec::new()),
    };
    for field in fields.into_iter().flat_map(syn::Fields::iter_mut) {
        field.attrs.retain(|a| !marks::is_mark(a));
    }
    findings.push(
        codes::MISPLACED_MARK,
        at,
        format!("`#[checkpointed]` cannot stand on {what}, which has no fields to run in order"),
        "put it on a struct of layers, on the impl of one with `forward = custom`, or write `#[checkpoint]` on a function",
    );
    let errors = findings.into_tokens();
    quote!(#item #errors)
}

/// The derive: everything but the struct itself.
pub fn derive(item: TokenStream) -> TokenStream {
    let mut findings = Findings::new();
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(e) => {
            findings.push_syn(&e);
            return findings.into_tokens();
        }
    };
    let declaration = Declaration::read(input, &mut findings);
    if let Some(declaration) = &declaration {
        check::check(declaration, &mut findings);
    }
    // Beside errors the impls are still written, with bodies that only panic: one mistake then
    // gives one message, and not another at each use of the struct.
    let sound = findings.is_empty();
    let mut out = findings.into_tokens();
    if let Some(declaration) = &declaration {
        out.extend(collection::builder(declaration));
        if !declaration.rebuildable {
            return out;
        }
        let impls = [
            collection::tensor_collection(declaration, sound),
            collection::build_on_device(declaration),
            forward::modules(declaration, sound),
            markers::markers(declaration),
        ];
        let requirements = sound.then(|| markers::requirements(declaration));
        let policy = forward::held_policy(declaration);
        out.extend(quote!(const _: () = { #requirements #(#impls)* #policy };));
    }
    out
}
