//! What is given back of an item that cannot be read.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The item without the marks in it, each of which would be an error of its own.
pub fn unmarked(item: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(p) if p.as_char() == '#' && tokens.peek().is_some_and(is_mark) => {
                tokens.next();
            }
            TokenTree::Group(g) => {
                let mut inner = Group::new(g.delimiter(), unmarked(g.stream()));
                inner.set_span(g.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other => out.extend([other]),
        }
    }
    out
}

fn is_mark(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(g) if g.delimiter() == Delimiter::Bracket => {
            matches!(g.stream().into_iter().next(), Some(TokenTree::Ident(i)) if i == "checkpoint")
        }
        _ => false,
    }
}

/// Whether an item is a function as far as its own tokens tell.
pub fn is_function(item: &TokenStream) -> bool {
    let tokens: Vec<_> = item.clone().into_iter().collect();
    let says_fn = tokens.iter().any(|t| matches!(t, TokenTree::Ident(i) if i == "fn"));
    says_fn && matches!(tokens.last(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Brace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn marks_are_taken_off_at_any_depth_and_nothing_else() {
        let item = quote!(impl A { #[inline] fn f() { #[checkpoint(keep)] let x = { #[checkpoint] { 1 } }; let = ; } });
        let left = quote!(impl A { #[inline] fn f() { let x = { { 1 } }; let = ; } });
        assert_eq!(unmarked(item).to_string(), left.to_string());
    }

    #[test]
    fn functions_are_told_from_other_items() {
        assert!(is_function(&quote!(pub fn f(x: X) { let = ; })));
        assert!(!is_function(&quote!(struct A { f: fn() };)));
        assert!(!is_function(&quote!(
            static A: usize = 1;
        )));
    }
}
