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

/// Calls that hold each layer to what is asked of it, at the layer's own tokens: one in a region to
/// being `Clone`, a recomputed one to being replay-safe, one that is cut to being a run of layers.
/// (That it is a module, its visit asks.) Layers that
/// mention a generic child are held to it where the child is known, and in a custom forward the
/// macro that sees which layers are in a region asks for replay-safety.
pub fn requirements(d: &Declaration) -> TokenStream {
    let rt = &d.rt;
    let parameters = d.parameters();
    let predicates = d.predicates();
    let steps = d.steps();
    let known = steps.iter().filter(|s| !d.mentions_child(&s.field.ty));
    let layers = known.map(|step| {
        let ty = &step.field.ty;
        let span = at(ty);
        if d.options.custom_forward {
            return TokenStream::new();
        }
        let replay_safe =
            step.recomputes().then(|| quote_spanned!(span=> #rt::__private::require_replay_safe::<#ty>();));
        let cut =
            step.options.segments.is_some().then(|| quote_spanned!(span=> #rt::__private::require_segments::<#ty>();));
        let owned = step.is_region().then(|| quote_spanned!(span=> #rt::__private::require_owned::<#ty>();));
        quote!(#owned #replay_safe #cut)
    });
    quote! {
        #[allow(dead_code, clippy::extra_unused_type_parameters)]
        fn __ckpt_requirements<#(#parameters),*>()
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
