//! The three forms of a sequence, on tokens.

use proc_macro2::TokenStream;
use quote::quote;

use super::{expand, position};
use crate::diagnostic::Findings;

fn same(left: TokenStream, right: TokenStream) {
    // How `>` and `>` are spaced tells nothing.
    let text = |t: TokenStream| t.to_string().replace(' ', "");
    assert_eq!(text(left), text(right));
}

/// "type", "value", "struct" or "none".
fn form(tokens: TokenStream) -> &'static str {
    let mut findings = Findings::new();
    let form = position::tell(tokens, &mut findings);
    findings.codes();
    match form {
        Some(position::Form::Type(_)) => "type",
        Some(position::Form::Value(..)) => "value",
        Some(position::Form::Struct(_)) => "struct",
        None => "none",
    }
}

#[test]
fn lists_tell_their_position() {
    for (list, expected) in [
        (quote!(Linear<2, 3>, ReLU), "type"),
        (quote!(ReLU, Tanh), "type"),
        (quote!(builders::ReLU, builders::Tanh), "type"),
        (quote!((ReLU, Tanh), Sigmoid), "type"),
        (quote!((ReLU, Tanh)), "type"),
        (quote!(<A as Layers>::First, ReLU), "type"),
        (quote!(Repeated<Linear<2, 2>, 3>), "type"),
        (quote!(checkpoint_sequential!(each, ReLU), Tanh), "type"),
        (quote!(batch!(3), a), "value"),
        (quote!(nn::<3>::Block, ReLU), "type"),
        (quote!(x, self.a, self.b), "value"),
        (quote!(x, a, b), "value"),
        (quote!(x.trace(g), &mut a, &b), "value"),
        (quote!((x, mask), attend, forward), "value"),
        (quote!(self.x, a), "value"),
        (quote!(&x, a), "value"),
        (quote!(inputs::batch, a), "value"),
        (quote!(X.clone(), a), "value"),
        (
            quote!(
                pub struct A {
                    a: ReLU,
                }
            ),
            "struct",
        ),
        (
            quote!(
                #[doc = "x"]
                pub(crate) struct A(ReLU);
            ),
            "struct",
        ),
        (quote!(1 + , a), "none"),
        (quote!(struct), "none"),
    ] {
        assert_eq!(form(list.clone()), expected, "{list}");
    }
}

#[test]
fn a_type_is_a_sequence_of_a_tuple() {
    same(
        expand(quote!(segments = 2, Linear<2, 3>, ReLU, Linear<3, 1>)),
        quote!(::ckpt_runtime::Sequential<2usize, (Linear<2, 3>, ReLU, Linear<3, 1>,)>),
    );
    same(expand(quote!(each, crate = ::ck, ReLU, Tanh)), quote!(::ck::Sequential<0usize, (ReLU, Tanh,)>));
}

#[test]
fn a_long_type_is_a_balanced_tree() {
    let layers = (0..30).map(|_| quote!(ReLU));
    let ten = {
        let ten = (0..10).map(|_| quote!(ReLU));
        quote!((#(#ten,)*))
    };
    same(
        expand(quote!(segments = 5, #(#layers),*)),
        quote!(::ckpt_runtime::Sequential<5usize, ::ckpt_runtime::Concat<::ckpt_runtime::Concat<#ten, #ten>, #ten>>),
    );
}

#[test]
fn a_value_borrows_its_layers() {
    same(
        expand(quote!(segments = 2, name = "tail", x, self.a, &mut b, &c)),
        quote!(::ckpt_runtime::__private::sequence(
            {
                const __CKPT_SITE: ::ckpt_runtime::__private::Site = ::ckpt_runtime::__private::Site::new("tail");
                &__CKPT_SITE
            },
            ::ckpt_runtime::Segments::Count(2usize),
            x,
            (
                ::ckpt_runtime::__private::lent({
                    use ::ckpt_runtime::__private::Reached as _;
                    self.a.reached()
                }),
                ::ckpt_runtime::__private::lent_mut(&mut b),
                ::ckpt_runtime::__private::lent(&c),
            )
        )),
    );
}

#[test]
fn segments_must_fit_and_both_numbers_are_said() {
    for list in [
        quote!(segments = 4, ReLU, Tanh, ReLU),
        quote!(segments = 4, x, a, b, c),
        quote!(segments = 4; struct A { a: ReLU, b: Tanh, c: ReLU }),
    ] {
        let out = expand(list.clone()).to_string();
        assert!(out.contains("CKPT020: 4 segments cannot be cut out of 3 layers"), "{out}");
    }
    for list in [
        quote!(ReLU, Tanh),
        quote!(x, a),
        quote!(
            struct A {
                a: ReLU,
            }
        ),
    ] {
        assert!(expand(list).to_string().contains("does not say into how many"));
    }
    assert!(expand(quote!(segments = 0, ReLU)).to_string().contains("CKPT020"));
}

#[test]
fn errors_of_a_type_are_a_type() {
    let out = expand(quote!(segment = 3, name = "x", keep, ReLU, Tanh));
    let ty: syn::Type = syn::parse2(out).unwrap();
    let syn::Type::Tuple(tuple) = ty else { panic!("a tuple of errors") };
    assert_eq!(tuple.elems.len(), 4);
}

#[test]
fn options_that_have_no_place_are_refused() {
    assert!(expand(quote!(segments = 1, builder = B, x, a)).to_string().contains("CKPT021"));
    assert!(expand(quote!(segments = 1, verify, ReLU)).to_string().contains("CKPT021"));
    let out = expand(quote!(segments = 1, builder = B; struct A { a: ReLU })).to_string();
    assert!(out.contains("CKPT021") && out.contains("TensorCollection"), "{out}");
}

#[test]
fn a_struct_of_a_sequence_is_closed_and_unconditional() {
    let out = expand(quote!(segments = 1; struct A<F> { a: F })).to_string();
    assert!(out.contains("CKPT028") && out.contains("struct A < F >"), "{out}");
    let out = expand(quote!(segments = 1; struct A { #[cfg(x)] a: ReLU, #[checkpoint] b: ReLU })).to_string();
    assert_eq!(out.matches("CKPT026").count(), 2, "{out}");
    assert!(!out.contains("cfg (x)"), "{out}");
}

#[test]
fn nothing_panics() {
    for bad in [
        quote!(),
        quote!(segments = 3),
        quote!(segments = 3;),
        quote!(each,),
        quote!(segments = , ReLU),
        quote!(segments = 2; struct A;),
        quote!(segments = 2; enum A { B }),
        quote!(;;),
        quote!(segments = 1, x),
    ] {
        let out = expand(bad.clone()).to_string();
        assert!(out.contains("CKPT"), "{bad}: {out}");
    }
}

#[test]
fn a_hundred_layers_grow_linearly() {
    let size = |n: usize| {
        let fields = (0..n).map(|i| quote::format_ident!("l{i}"));
        expand(quote!(segments = 10; struct Deep { #(#fields: ReLU),* })).to_string().len()
    };
    let (small, large) = (size(50), size(100));
    assert!(large < small * 5 / 2, "{small} {large}");
}

#[test]
fn a_missing_comma_between_types_is_no_comparison() {
    let out = super::expand(quote!(segments = 1, Linear < 4, 4 > ReLU)).to_string();
    assert!(out.contains("CKPT029") && !out.contains("sequence"), "{out}");
}
