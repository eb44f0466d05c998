//! What a struct passes on from its fields, and what it asks of them.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Type, spanned::Spanned};

use super::syntax::{Declaration, Role};

/// `ReplaySafe` and `Stateless`, where all layers are.
pub fn markers(d: &Declaration) -> TokenStream {
    let (rt, this) = (&d.rt, d.this());
    let parameters = d.parameters();
    let predicates = d.predicates();
    let layers = distinct(d, |_| true);
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
    let (replay_safe, stateless) = (
        marker(quote!(#rt::ReplaySafe)),
        marker(quote!(#rt::Stateless)),
    );
    quote!(#replay_safe #stateless)
}

/// Calls that hold each layer to what its region asks, at the layer's own tokens. Layers that
/// mention a generic child are held to it where the child is known.
pub fn requirements(d: &Declaration) -> TokenStream {
    let rt = &d.rt;
    let (dtype, device) = (&d.roles.dtype, &d.roles.device);
    let parameters = d.parameters();
    let predicates = d.predicates();
    let known = |ty: &Type| !d.mentions_child(ty);
    let modules = distinct(d, known)
        .into_iter()
        .map(|ty| quote_spanned!(at(ty)=> #rt::__private::require_module_field::<#ty, #dtype, #device>();));
    // With a custom forward the impl's macro knows which layers are in a region.
    let steps = if d.options.custom_forward {
        Vec::new()
    } else {
        d.steps()
    };
    let regions = steps
        .iter()
        .filter(|s| s.is_region() && known(&s.field.ty))
        .map(|s| {
            let ty = &s.field.ty;
            let replay = s
                .recomputes()
                .then(|| quote_spanned!(at(ty)=> #rt::__private::require_replay_safe::<#ty>();));
            quote_spanned!(at(ty)=> #rt::__private::require_cloneable::<#ty>(); #replay)
        });
    quote! {
        #[allow(dead_code, clippy::extra_unused_type_parameters)]
        fn __ckpt_requirements<#(#parameters),*>()
        where
            #(#predicates,)*
        {
            #(#modules)*
            #(#regions)*
        }
    }
}

fn at(ty: &Type) -> proc_macro2::Span {
    ty.span().resolved_at(proc_macro2::Span::call_site())
}

/// The layers' types, each once.
fn distinct(d: &Declaration, keep: impl Fn(&Type) -> bool) -> Vec<&Type> {
    let mut seen = Vec::new();
    d.fields
        .iter()
        .filter(|f| matches!(f.role, Role::Module { .. }))
        .map(|f| &f.ty)
        .filter(|ty| keep(ty))
        .filter(|ty| {
            let text = ty.to_token_stream().to_string();
            let new = !seen.contains(&text);
            seen.push(text);
            new
        })
        .collect()
}
