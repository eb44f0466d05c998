//! The procedural macros of ckpt. Use them through `ckpt-runtime`, which re-exports them.
#![forbid(unsafe_code)]

mod diagnostic;
mod flow;
mod options;
mod roles;

use proc_macro::TokenStream;

/// Makes a model of a struct, or of an impl the forward of one.
#[proc_macro_attribute]
pub fn checkpointed(options: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse::<syn::Item>(item.clone()) {
        Ok(syn::Item::Impl(item)) => flow::expand_impl(options.into(), item).into(),
        _ => item,
    }
}
