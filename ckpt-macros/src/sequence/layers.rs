//! A sequence as a type, and as an expression.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprReference, Type, spanned::Spanned};

use super::{segments, tree};
use crate::{
    call,
    diagnostic::{Findings, codes},
    options::{Kind, Options, Segments},
};

/// `Sequential<K, (..)>`.
pub fn as_type(options: &Options, types: &[Type], mut findings: Findings) -> TokenStream {
    only_in_a_value(options, types, &mut findings);
    let rt = options.runtime();
    let count = match segments(options, types.len(), &mut findings) {
        Segments::Count(n, _) => n,
        // The run time's word for `each`.
        Segments::Each(_) => 0,
    };
    let layers: Vec<_> = types.iter().map(ToTokens::to_token_stream).collect();
    let layers = tree(&layers, 12, &|a, b| quote!(#rt::Concat<#a, #b>));
    let sequential = quote!(#rt::Sequential<#count, #layers>);
    if findings.is_empty() {
        return sequential;
    }
    // One type is expected here: a tuple holds an error each and what was asked for.
    let errors = each_error(findings.into_tokens());
    quote!((#(#errors,)* #sequential))
}

/// `sequence(site, segments, x, (..))`, a `Result`.
pub fn as_expression(options: &Options, input: &Expr, values: &[Expr], mut findings: Findings) -> TokenStream {
    if let Some(builder) = &options.builder {
        findings.push(codes::UNKNOWN_OPTION, builder, "there is no type here for `builder` to name", "remove it");
    }
    let rt = options.runtime();
    let segments = segments(options, values.len(), &mut findings).to_value(&rt);
    let site = options.site(&rt, "checkpoint_sequential");
    let layers: Vec<_> = values.iter().map(|v| lent(&rt, v)).collect();
    let layers = tree(&layers, 8, &|a, b| quote!(#rt::Concat(#a, #b)));
    let call = quote!(#rt::__private::sequence(#site, #segments, #input, #layers));
    let errors = findings.into_tokens();
    if errors.is_empty() { call } else { quote!({ #errors #call }) }
}

/// A layer of an expression: `&mut layer` trains through `ModuleMut`, anything else through
/// `Module`.
fn lent(rt: &TokenStream, value: &Expr) -> TokenStream {
    let at = value.span().resolved_at(proc_macro2::Span::call_site());
    match value {
        Expr::Reference(ExprReference { mutability: Some(_), .. }) => {
            quote_spanned!(at=> #rt::__private::lent_mut(#value))
        }
        Expr::Reference(_) => quote_spanned!(at=> #rt::__private::lent(#value)),
        _ => {
            let borrow = call::borrow(rt, value);
            quote_spanned!(at=> #rt::__private::lent(#borrow))
        }
    }
}

/// Options that a type has no place for.
fn only_in_a_value(options: &Options, types: &[Type], findings: &mut Findings) {
    let mut refuse = |at: TokenStream, what: &str| {
        findings.push(
            codes::UNKNOWN_OPTION,
            at,
            format!("a type cannot carry `{what}`"),
            "declare the sequence as a struct: `checkpoint_sequential! { segments = N; struct Name { .. } }`",
        );
    };
    let somewhere = types.first().map(ToTokens::to_token_stream).unwrap_or_default();
    if let Some(name) = &options.name {
        refuse(name.to_token_stream(), "name");
    }
    if let Some(builder) = &options.builder {
        refuse(builder.to_token_stream(), "builder");
    }
    match options.kind {
        Kind::Recompute => {}
        Kind::Keep => refuse(somewhere.clone(), "keep"),
        Kind::Plain => refuse(somewhere.clone(), "plain"),
    }
    if options.verify.is_some() {
        refuse(somewhere, "verify");
    }
}

/// The `compile_error! { .. }`s of a stream, one by one.
fn each_error(errors: TokenStream) -> Vec<TokenStream> {
    let mut all = Vec::new();
    let mut one = TokenStream::new();
    for token in errors {
        let ends = matches!(token, TokenTree::Group(_));
        one.extend([token]);
        if ends {
            all.push(std::mem::take(&mut one));
        }
    }
    all
}
