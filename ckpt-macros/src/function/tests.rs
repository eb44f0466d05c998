use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::{expand, signature::*};
use crate::{
    diagnostic::{Code, Findings, codes},
    flow::{Access, Returns},
    options::Options,
};

fn read(item: TokenStream) -> (Option<Signature>, Vec<Code>) {
    let mut findings = Findings::new();
    let signature = Signature::read(&syn::parse2(item).unwrap(), &Options::default(), &mut findings);
    (signature, findings.codes())
}

fn signature(parameters: TokenStream, output: TokenStream) -> (Option<Signature>, Vec<Code>) {
    read(quote!(fn f<S: Shape, E: Dtype, D: Device<E>>(#parameters) -> #output { x }))
}

/// Each value's type with its tapes numbered.
fn types(signature: &Signature) -> Vec<String> {
    let values = signature.parameters.iter().filter_map(|p| match p {
        Parameter::Value { ty, .. } => Some(with_tapes(ty, &|i| format!("T{i}").parse().unwrap()).to_string()),
        Parameter::Module { .. } => None,
    });
    values.map(|t| t.replace(' ', "")).collect()
}

#[test]
fn each_tensor_is_on_its_tape() {
    let float = quote!(Tensor<S, E, D>);
    let index = quote!(Tensor<S, usize, D>);
    let table: &[(TokenStream, &[&str])] = &[
        (quote!(x: #float, y: #float), &["Tensor<S,E,D,T0>", "Tensor<S,E,D,T1>"]),
        (quote!(m: Option<#float>, x: #float), &["Option<Tensor<S,E,D,T0>>", "Tensor<S,E,D,T0>"]),
        (quote!((a, b): (#float, usize), i: #index), &["(Tensor<S,E,D,T0>,usize)", "Tensor<S,usize,D>"]),
        (quote!(i: #index, j: #index), &["Tensor<S,usize,D,T0>", "Tensor<S,usize,D>"]),
        (quote!(i: #index, x: #float), &["Tensor<S,usize,D>", "Tensor<S,E,D,T0>"]),
        (
            quote!(x: dfdx::tensor::Tensor<S, E, D>, m: Tensor<S, bool, D>),
            &["dfdx::tensor::Tensor<S,E,D,T0>", "Tensor<S,bool,D>"],
        ),
        (quote!(q: Qkv<S, E, D, _>, c: Cfg<E, D>), &["Qkv<S,E,D,T0>", "Cfg<E,D>"]),
        (quote!(x: #float, w: Tensor<S, E, D, NoneTape>), &["Tensor<S,E,D,T0>", "Tensor<S,E,D,NoneTape>"]),
        (quote!(x: #float, f: fn(#float) -> #float), &["Tensor<S,E,D,T0>", "fn(Tensor<S,E,D>)->Tensor<S,E,D>"]),
        (quote!(x: #float, f: impl Fn(usize) -> usize), &["Tensor<S,E,D,T0>", "__CkptImpl3"]),
    ];
    for (parameters, expected) in table {
        let (signature, found) = signature(parameters.clone(), quote!(Tensor<S, E, D>));
        assert!(found.is_empty(), "{parameters}: {found:?}");
        assert_eq!(types(&signature.unwrap()), *expected, "{parameters}");
    }
}

#[test]
fn modules_are_told_from_values_by_their_borrow() {
    let (signature, found) =
        signature(quote!(a: &L<E, D>, b: &mut [L<E, D>], s: &'static str, x: Tensor<S, E, D>), quote!(Tensor<S, E, D>));
    assert!(found.is_empty());
    let accesses: Vec<_> = signature
        .unwrap()
        .parameters
        .iter()
        .map(|p| match p {
            Parameter::Module { access, .. } => Some(*access),
            Parameter::Value { .. } => None,
        })
        .collect();
    assert_eq!(accesses, [Some(Access::Shared), Some(Access::Exclusive), None, None]);
}

#[test]
fn a_result_is_seen_through() {
    let (with, _) = signature(quote!(x: Tensor<S, E, D>), quote!(Result<(Tensor<S, E, D>, usize), D::Err>));
    let with = with.unwrap();
    assert_eq!(with.returns, Returns::Result);
    assert_eq!(with.output.to_string().replace(' ', ""), "(Tensor<S,E,D,__CkptTape0>,usize)");
    let (without, _) = signature(quote!(x: Tensor<S, E, D>), quote!(Vec<Tensor<S, E, D>>));
    assert_eq!(without.unwrap().returns, Returns::Value);
}

#[test]
fn a_fixed_dtype_and_device_are_those_of_the_first_tensor() {
    let (signature, found) = read(quote!(
        fn f(i: Tensor<S, usize, Cpu>, x: Tensor<S, f32, Cpu>) -> Tensor<S, f32, Cpu> {
            x
        }
    ));
    assert!(found.is_empty());
    let roles = signature.unwrap().roles;
    assert_eq!((roles.dtype.to_string(), roles.device.to_string()), ("f32".into(), "Cpu".into()));
}

#[test]
fn what_no_version_could_be_written_of_is_reported() {
    let x = quote!(x: Tensor<S, E, D>);
    let y = quote!(Tensor<S, E, D>);
    let g = quote!(<S: Shape, E: Dtype, D: Device<E>>);
    let table: &[(TokenStream, Code)] = &[
        (quote!(async fn f #g(#x) -> #y { x }), codes::SIGNATURE),
        (quote!(unsafe fn f #g(#x) -> #y { x }), codes::SIGNATURE),
        (quote!(const fn f #g(#x) -> #y { x }), codes::SIGNATURE),
        (quote!(extern "C" fn f #g(#x) -> #y { x }), codes::SIGNATURE),
        (quote!(fn f #g(&self, #x) -> #y { x }), codes::MISPLACED_MARK),
        (quote!(fn f #g(#x) { x }), codes::SIGNATURE),
        (quote!(fn f #g(#x) -> impl Tape { x }), codes::SIGNATURE),
        (quote!(fn f #g(l: &L<E, D>, n: usize) -> #y { x }), codes::SIGNATURE),
        (quote!(fn f #g(x: &mut #y, #x) -> #y { x }), codes::SIGNATURE),
        (quote!(fn f #g(s: &str, #x) -> #y { x }), codes::SIGNATURE),
        (quote!(fn f #g(l: Option<&L<E, D>>, #x) -> #y { x }), codes::SIGNATURE),
        (quote!(fn f #g(L { a, b }: &L<E, D>, #x) -> #y { x }), codes::SIGNATURE),
        (quote!(fn f #g(x: Tensor<S, E, D, OwnedTape<E, D>>, #x) -> #y { x }), codes::SIGNATURE),
        (quote!(fn f #g(#[cfg(test)] n: usize, #x) -> #y { x }), codes::SIGNATURE),
        (quote!(#[checkpoint] fn f #g(#x) -> #y { x }), codes::OPTION_TWICE),
        (
            quote!(
                fn f<S: Shape>(x: X) -> Y {
                    x
                }
            ),
            codes::FIXED_DTYPE_OR_DEVICE,
        ),
    ];
    for (item, code) in table {
        let (_, found) = read(item.clone());
        assert!(found.contains(code), "{item}: {found:?}");
    }
}

#[test]
fn the_users_function_stands_beside_the_errors() {
    let item = quote!(
        async fn f(&self) {}
    );
    let out = expand(quote!(segments = 2, frobnicate), syn::parse2(item.clone()).unwrap()).to_string();
    assert!(out.starts_with(&item.to_string()), "{out}");
    for code in ["CKPT021", "CKPT026", "CKPT028"] {
        assert!(out.contains(code), "{code} in {out}");
    }
}

#[test]
fn attributes_go_where_they_mean_something() {
    let item = quote!(
        /// Doc.
        #[cfg(feature = "a")]
        #[expect(unused)]
        #[inline]
        pub(crate) fn f<S: Shape, E: Dtype, D: Device<E>>(x: Tensor<S, E, D>) -> Tensor<S, E, D> {
            x
        }
    );
    let out = expand(quote!(), syn::parse2(item).unwrap());
    let file: syn::File = syn::parse2(out).unwrap();
    let has = |item: &syn::Item, text: &str| item.to_token_stream().to_string().contains(text);
    assert_eq!(file.items.len(), 4);
    assert!(file.items.iter().all(|i| has(i, "# [cfg (feature = \"a\")]")));
    assert!(file.items.iter().all(|i| !has(i, "expect (unused)")));
    assert!(file.items[2..].iter().all(|i| has(i, "# [inline]") && has(i, "Doc.") && has(i, "pub (crate) fn")));
    assert!(!has(&file.items[0], "inline") && !has(&file.items[1], "inline"));
}
