//! What a struct passes on from its fields, and what it asks of them.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Type, spanned::Spanned};

use super::syntax::{Declaration, Role};

/// `ReplaySafe` and `Stateless`, where all layers are.
pub fn markers(d: &Declaration) -> TokenStream {
    let (rt, this) = (&d.rt, d.this());
    let parameters = d.parameters();
    let predicates = d.predicates();
    let layers = distinct(d);
    let marker = |name: TokenStream| {
        quote! {
            #[automatically_derived]
            impl<#(#parameters),*> #name for #this
            where
                #(#predicates,)*
                // A bound without a parameter that does not hold would be an error by itself; under
                // a binder it only makes the impl void.
                #(for<'__ckpt> #layers: #name,)*
            {
            }
        }
    };
    let (replay_safe, stateless) = (marker(quote!(#rt::ReplaySafe)), marker(quote!(#rt::Stateless)));
    quote!(#replay_safe #stateless)
}

/// Calls that hold each recomputed layer to being replay-safe, at the layer's own tokens. Layers
/// that mention a generic child are held to it where the child is known, and those of a custom
/// forward by the macro that sees which of them are in a region.
pub fn requirements(d: &Declaration) -> TokenStream {
    if d.options.custom_forward {
        return TokenStream::new();
    }
    let rt = &d.rt;
    let parameters = d.parameters();
    let predicates = d.predicates();
    let steps = d.steps();
    let layers = steps.iter().filter(|s| s.recomputes() && !d.mentions_child(&s.field.ty)).map(|s| {
        let ty = &s.field.ty;
        quote_spanned!(at(ty)=> #rt::__private::require_replay_safe::<#ty>();)
    });
    quote! {
        #[allow(dead_code, clippy::extra_unused_type_parameters)]
        fn __ckpt_replay_safe<#(#parameters),*>()
        where
            #(#predicates,)*
        {
            #(#layers)*
        }
    }
}

/// A type's place, for tokens whose names are looked up where the macro stands.
pub fn at(ty: &Type) -> Span {
    ty.span().resolved_at(Span::call_site())
}

/// The layers' types, each once.
fn distinct(d: &Declaration) -> Vec<&Type> {
    let mut seen = Vec::new();
    d.fields
        .iter()
        .filter(|f| matches!(f.role, Role::Module { .. }))
        .map(|f| &f.ty)
        .filter(|ty| {
            let text = ty.to_token_stream().to_string();
            let new = !seen.contains(&text);
            seen.push(text);
            new
        })
        .collect()
}
