//! The bounds of an impl and of its methods, for each pass. A generic child is bounded once, as a
//! module of untaped tensors; training asks the same of it on a tape, and what regions need.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    GenericArgument, GenericParam, Generics, PathArguments, TypeParamBound, WherePredicate, parse_quote,
    punctuated::Punctuated,
};

use super::{Context, signature};

/// Which bounds a generic child gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// A module of untaped tensors.
    Inference,
    /// A module that trains; `replayed` where regions recompute it.
    Training {
        /// Whether it must be replay-safe.
        replayed: bool,
    },
}

/// `generics` with the bounds of children for a pass.
pub fn bounded(generics: &Generics, bounds: Bounds, cx: &Context) -> Generics {
    let mut generics = generics.clone();
    for parameter in &mut generics.params {
        if let GenericParam::Type(t) = parameter {
            rewrite(&mut t.bounds, bounds, cx);
        }
    }
    if let Some(clause) = &mut generics.where_clause {
        for predicate in &mut clause.predicates {
            if let WherePredicate::Type(t) = predicate {
                rewrite(&mut t.bounds, bounds, cx);
            }
        }
    }
    generics
}

type BoundList = Punctuated<TypeParamBound, syn::Token![+]>;

fn rewrite(list: &mut BoundList, bounds: Bounds, cx: &Context) {
    let mut trained = false;
    for bound in list.iter_mut() {
        if let TypeParamBound::Trait(t) = bound
            && let Some(new) = module_bound(&t.path, bounds, cx)
        {
            trained = true;
            t.path = new;
        }
    }
    if let (true, Bounds::Training { replayed }) = (trained, bounds) {
        let (rt, e, d) = (&cx.rt, &cx.roles.dtype, &cx.roles.device);
        list.push(parse_quote!(#rt::__private::dfdx::nn::TensorCollection<#e, #d>));
        list.push(parse_quote!(::core::clone::Clone));
        list.push(parse_quote!('static));
        if replayed {
            list.push(parse_quote!(#rt::ReplaySafe));
        }
    }
}

/// `Module<X, Output = Y>` for a pass, if `path` is that.
fn module_bound(path: &syn::Path, bounds: Bounds, cx: &Context) -> Option<syn::Path> {
    let last = path.segments.last()?;
    if last.ident != "Module" && last.ident != "ModuleMut" {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let (roles, rt) = (&cx.roles, &cx.rt);
    let training = bounds != Bounds::Inference;
    let mut out: Vec<TokenStream> = Vec::new();
    let mut has_error = false;
    for argument in &arguments.args {
        out.push(match argument {
            GenericArgument::Type(input) if training => signature::fed(input, roles, rt),
            GenericArgument::AssocType(a) if a.ident == "Output" && training => {
                let output = signature::owned(&a.ty, roles, rt);
                quote!(Output = #output)
            }
            other => {
                has_error |= matches!(other, GenericArgument::AssocType(a) if a.ident == "Error");
                other.to_token_stream()
            }
        });
    }
    if !has_error {
        let d = &roles.device;
        out.push(quote!(Error = <#d as #rt::__private::dfdx::tensor::HasErr>::Err));
    }
    let name = if training { quote!(ModuleMut) } else { quote!(Module) };
    Some(parse_quote!(#rt::__private::dfdx::nn::#name<#(#out),*>))
}
