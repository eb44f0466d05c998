//! `#[checkpointed]` stands on a struct and on its impl, and each is another matter.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Item;

use crate::{declare, diagnostic::Findings, flow, unread::unmarked};

/// The attribute on whatever it stands on.
pub fn checkpointed(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(Item::Struct(item)) => declare::attribute(options, item),
        Ok(Item::Impl(item)) => flow::expand_impl(options, item),
        Ok(other) => declare::misplaced(other),
        Err(e) => {
            let mut findings = Findings::new();
            findings.push_unread(&e);
            let (item, errors) = (unmarked(item), findings.into_tokens());
            quote!(#item #errors)
        }
    }
}
