//! `#[checkpoint] fn`: a function whose body is one region.
//!
//! [`signature`] reads what the parameters are, [`expansion`] writes the function once for each
//! kind of tape, behind a trait that the caller's tape selects from.

mod expansion;
mod signature;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

use crate::{
    diagnostic::Findings,
    flow::{self, Body},
    options::{self, Options},
};
use signature::Signature;

/// The attribute on a function.
pub fn expand(options: TokenStream, item: ItemFn) -> TokenStream {
    let mut findings = Findings::new();
    let options = Options::of_tokens(options, options::FUNCTION, &mut findings);
    let signature = Signature::read(&item, &options, &mut findings);
    let body = signature.as_ref().map(|signature| {
        let cx = flow::Context {
            roles: signature.roles.clone(),
            rt: options.runtime(),
            owner: signature.spoken(),
            twins: Vec::new(),
            plain_methods: Vec::new(),
            allow: Vec::new(),
            replayed: false,
        };
        let parameters = signature.flow_parameters();
        let body = Body::read_region(&item.block, &options, &parameters, signature.returns, &cx, &mut findings);
        (body, cx)
    });
    let sound = findings.is_empty();
    let errors = findings.into_tokens();
    match (signature, body) {
        (Some(signature), Some((body, cx))) => {
            let functions = expansion::write(&item, &signature, sound.then_some(&body), &cx);
            quote!(#errors #functions)
        }
        _ => quote!(#item #errors),
    }
}
