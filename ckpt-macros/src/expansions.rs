//! What the macros write, one expansion a surface, kept as files that can be read: `snapshots/`.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{declare, sequence};

/// As rustfmt would have it.
fn pretty(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("expansions parse"))
}

#[test]
fn fields() {
    insta::assert_snapshot!(pretty(declare::derive(quote! {
        /// Two layers.
        #[__ckpt()]
        pub struct Mlp<const N: usize, E: Dtype, D: Device<E>> {
            #[checkpoint]
            encode: (Linear<N, N, E, D>, ReLU),
            head: Linear<N, 2, E, D>,
        }
    })));
}

#[test]
fn field_options() {
    insta::assert_snapshot!(pretty(declare::derive(quote! {
        #[__ckpt(crate = ::ck)]
        struct Net<F, E: Dtype, D: Device<E>> {
            #[checkpoint(name = "first", verify(tolerance = 1e-5))]
            a: F,
            #[checkpoint(segments = 2)]
            b: Repeated<Block<E, D>, 3>,
            #[checkpoint(plain)]
            c: ReLU,
            #[policy]
            policy: Policy,
        }
    })));
}

#[test]
fn custom_forward() {
    insta::assert_snapshot!(pretty(declare::derive(quote! {
        #[__ckpt(forward = custom, builder = BuildNorm)]
        struct Norm<const N: usize, E: Dtype, D: Device<E>> {
            #[param(init = ones)]
            gamma: Tensor<Rank1<N>, E, D>,
            #[buffer]
            mean: Tensor<Rank1<N>, E, D>,
            #[scalar(default = 1e-5)]
            epsilon: f64,
            #[skip]
            note: String,
        }
    })));
}

#[test]
fn named_sequence() {
    insta::assert_snapshot!(pretty(sequence::expand(quote! {
        segments = 2;
        /// Two layers.
        pub struct Named { first: Linear<2, 3>, act: ReLU }
    })));
}
