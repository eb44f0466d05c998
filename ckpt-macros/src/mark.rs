//! `#[checkpoint]` where the compiler sees it: on an item. Marks on fields, statements and loops are
//! read, and taken away, by the macro around them; one that is left over stands in the wrong place.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Item, ItemFn};

use crate::{
    diagnostic::{Findings, codes},
    function,
    unread::{is_function, unmarked},
};

/// The attribute.
pub fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut findings = Findings::new();
    match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => return function::expand(options, function),
        Err(e) if is_function(&item) => {
            findings.push_unread(&e);
            let (item, errors) = (unmarked(item), findings.into_tokens());
            return quote!(#item #errors);
        }
        Err(_) => {}
    }
    let what = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Struct(_)) => Some(("a struct", "write `#[checkpointed]` on it and `#[checkpoint]` on its fields")),
        Ok(Item::Impl(_)) => Some((
            "an impl",
            "write `#[checkpointed]` on the impl, and `#[checkpoint]` on the `let`s, blocks and loops of its forward",
        )),
        Ok(Item::Trait(_) | Item::Mod(_)) => Some(("this item", ANYWHERE)),
        Ok(Item::Enum(_) | Item::Union(_)) => {
            Some(("this type", "a region runs modules: mark a field of a `#[checkpointed]` struct, or a function"))
        }
        _ if syn::parse::Parser::parse2(syn::Block::parse_within, item.clone())
            .is_ok_and(|stmts| !stmts.is_empty() && !stmts.iter().any(|s| matches!(s, syn::Stmt::Item(_)))) =>
        {
            Some((
                "a statement",
                "a region stands in the forward of a `#[checkpointed]` impl: write that attribute on the impl around it, or make it a function that is marked",
            ))
        }
        _ => None,
    };
    let (what, help) = what.unwrap_or(("this", ANYWHERE));
    let at = if options.is_empty() { item.clone() } else { options };
    findings.push(codes::MISPLACED_MARK, at, format!("`#[checkpoint]` on {what} marks nothing that could run"), help);
    let errors = findings.into_tokens();
    quote!(#item #errors)
}

const ANYWHERE: &str = "`#[checkpoint]` belongs on a function with a body, on a field of a `#[checkpointed]` struct, \
    or on a `let`, block or `for` in the forward of a `#[checkpointed]` impl";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_is_left_over_says_where_it_belongs() {
        for item in [
            quote!(
                struct A {
                    a: B,
                }
            ),
            quote!(
                enum A {
                    B,
                }
            ),
            quote!(impl A { fn f() {} }),
            quote!(
                fn f(x: X) -> X;
            ),
            quote!(
                static A: usize = 1;
            ),
            quote!(),
            quote!(let x = 1;),
        ] {
            let out = attribute(quote!(), item.clone()).to_string();
            assert!(out.contains("CKPT026"), "{out}");
            assert!(out.starts_with(&item.to_string()), "{out}");
        }
    }
}
