use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::{declaration::*, derive};
use crate::diagnostic::{Code, Findings, codes};

fn read(item: TokenStream) -> (Option<Declaration>, Vec<Code>) {
    let mut findings = Findings::new();
    let declaration = Declaration::read(syn::parse2(item).unwrap(), &mut findings);
    (declaration, findings.codes())
}

#[test]
fn dtype_device_and_tape_are_found() {
    let table: &[(TokenStream, [&str; 3])] = &[
        (
            quote!(
                struct A<S: Shape, E: Dtype, D: Device<E>, T> {
                    x: Tensor<S, E, D, T>,
                }
            ),
            ["E", "D", "T"],
        ),
        (
            quote!(
                enum A<E, D, T>
                where
                    E: Dtype,
                    D: Storage<E>,
                    T: Tape<E, D>,
                {
                    X(Inner<E, D, T>),
                }
            ),
            ["E", "D", "T"],
        ),
        (
            quote!(
                struct A(Option<Tensor<S, f32, Cpu>>, Tensor<S, usize, Cpu>);
            ),
            ["f32", "Cpu", ""],
        ),
        (
            quote!(
                struct A<D: Device<f64>>(Tensor<S, usize, D>);
            ),
            ["f64", "D", ""],
        ),
        (
            quote!(
                #[boundary(dtype = X, device = Y, tape = Z)]
                struct A<X, Y, Z>(Inner<X, Y, Z>);
            ),
            ["X", "Y", "Z"],
        ),
        (
            quote!(
                struct A<E: Dtype, D: Device<E>>(Tensor<S, E, D, NoneTape>);
            ),
            ["E", "D", ""],
        ),
        (
            quote!(
                struct A<E: Dtype, D: Device<E>>(Tensor<S, E, D, OwnedTape<E, D>>);
            ),
            ["E", "D", "OwnedTape < E , D >"],
        ),
        (
            quote!(
                struct A {
                    n: usize,
                }
            ),
            ["", "", ""],
        ),
        // A plain field is not looked into.
        (
            quote!(
                struct A {
                    #[boundary(plain)]
                    x: Tensor<S, f32, Cpu>,
                }
            ),
            ["", "", ""],
        ),
    ];
    for (item, expected) in table {
        let (declaration, found) = read(item.clone());
        assert!(found.is_empty(), "{item}: {found:?}");
        let declaration = declaration.unwrap();
        let text = |t: Option<TokenStream>| t.map(|t| t.to_string()).unwrap_or_default();
        let tape = declaration.tape.as_ref().map(|t| match t {
            Tape::Parameter(name) => name.to_token_stream(),
            Tape::Fixed(ty) => ty.to_token_stream(),
        });
        let got = [
            text(declaration.dtype.as_ref().map(ToTokens::to_token_stream)),
            text(declaration.device.as_ref().map(ToTokens::to_token_stream)),
            text(tape),
        ];
        assert_eq!(got, *expected, "{item}");
    }
}

#[test]
fn what_cannot_cross_is_reported() {
    let table: &[(TokenStream, Code)] = &[
        (quote!(union A { x: u8 }), codes::MISPLACED_MARK),
        (
            quote!(
                struct A<'a>(&'a u8);
            ),
            codes::SIGNATURE,
        ),
        (
            quote!(
                struct A(#[boundary(plan)] u8);
            ),
            codes::UNKNOWN_OPTION,
        ),
        (
            quote!(
                struct A(#[boundary] u8);
            ),
            codes::SYNTAX,
        ),
        (
            quote!(
                #[boundary = "plain"]
                struct A(u8);
            ),
            codes::SYNTAX,
        ),
        (
            quote!(
                #[boundary(plain)]
                struct A(u8);
            ),
            codes::UNKNOWN_OPTION,
        ),
        (
            quote!(
                #[boundary(dtype = E)]
                #[boundary(dtype = F)]
                struct A<E, F>(E, F);
            ),
            codes::OPTION_TWICE,
        ),
        (
            quote!(
                #[boundary(tape = T)]
                struct A(u8);
            ),
            codes::SIGNATURE,
        ),
        (
            quote!(
                enum A {
                    #[boundary(plain)]
                    X(u8),
                }
            ),
            codes::MISPLACED_MARK,
        ),
    ];
    for (item, code) in table {
        let (_, found) = read(item.clone());
        assert!(found.contains(code), "{item}: {found:?}");
    }
}

#[test]
fn every_shape_of_type_expands_to_rust() {
    for item in [
        quote!(
            struct A;
        ),
        quote!(
            enum A {}
        ),
        quote!(
            enum A {
                X,
                Y(u8, String),
                Z { r#type: bool },
            }
        ),
        quote!(
            struct A<const N: usize, T = u8>([T; N])
            where
                T: Copy;
        ),
        quote!(
            struct A<S: Shape = (), E: Dtype = f32, D: Device<E> = Cpu, T = NoneTape> {
                x: Tensor<S, E, D, T>,
            }
        ),
    ] {
        let out = derive(item.clone());
        assert!(syn::parse2::<syn::File>(out.clone()).is_ok(), "{item}: {out}");
        assert!(!out.to_string().contains("compile_error"), "{item}");
    }
    assert!(
        derive(quote!(
            fn f() {}
        ))
        .to_string()
        .contains("CKPT029")
    );
}
