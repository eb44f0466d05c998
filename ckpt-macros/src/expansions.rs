//! What the macros write, one expansion a surface, kept as files that can be read: `snapshots/`.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{boundary, declare, flow, function, sequence};

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

fn forward(tokens: TokenStream) -> String {
    pretty(flow::expand_impl(quote!(), syn::parse2(tokens).expect("an impl")))
}

#[test]
fn forward_of_a_block() {
    insta::assert_snapshot!(forward(quote! {
        impl<const M: usize, E: Dtype, D: Device<E>> Block<M, E, D> {
            fn forward<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
                #[checkpoint]
                let h = x + self.attn.forward(self.norm.forward(x));
                h + self.ff(h)
            }
        }
    }));
}

#[test]
fn forward_with_a_helper_a_child_and_loops() {
    insta::assert_snapshot!(forward(quote! {
        impl<F, const M: usize, E: Dtype, D: Device<E>> Net<F, M, E, D> {
            fn forward(
                &self,
                x: Tensor<Rank1<M>, E, D>,
                mask: Option<Tensor<Rank1<M>, bool, D>>,
            ) -> Result<Tensor<Rank1<M>, E, D>, D::Err>
            where
                F: Module<Tensor<Rank1<M>, E, D>, Output = Tensor<Rank1<M>, E, D>>,
            {
                let mut h = self.child.try_forward(x)?;
                #[checkpoint(segments = 2)]
                for block in &self.blocks {
                    h = block.forward(h) + x;
                }
                #[checkpoint(keep, name = "mixed")]
                {
                    h = self.mix(h, mask);
                }
                for block in &self.blocks {
                    h = self.mix(block.forward(h), None);
                }
                Ok(h)
            }

            fn mix(&self, h: Tensor<Rank1<M>, E, D>, mask: Option<Tensor<Rank1<M>, bool, D>>) -> Tensor<Rank1<M>, E, D> {
                match mask {
                    Some(mask) => mask.choose(self.mixer.forward(h), h),
                    None => h,
                }
            }
        }
    }));
}

#[test]
fn forward_with_findings() {
    insta::assert_snapshot!(forward(quote! {
        impl<E: Dtype, D: Device<E>> Net<E, D> {
            fn forward(&self, x: Tensor<Rank1<2>, E, D>) -> Tensor<Rank1<2>, E, D> {
                #[checkpoint(kep)]
                {
                    return self.a.forward(x);
                }
            }
        }
    }));
}

#[test]
fn boundary_of_a_struct() {
    insta::assert_snapshot!(pretty(boundary::derive(quote! {
        pub struct Qkv<S: Shape, E: Dtype, D: Device<E>, T> {
            q: Tensor<S, E, D, T>,
            #[boundary(plain)]
            config: Config,
        }
    })));
}

#[test]
fn function() {
    insta::assert_snapshot!(pretty(function::expand(
        quote!(verify),
        syn::parse_quote! {
            /// A feed-forward layer.
            pub fn ffn<B: Dim, const M: usize, E: Dtype, D: Device<E>>(
                l: &Linear<M, M, E, D>,
                bn: &mut BatchNorm1D<M, E, D>,
                x: Tensor<(B, Const<M>), E, D>,
                residual: Tensor<(B, Const<M>), E, D>,
                flag: bool,
            ) -> Tensor<(B, Const<M>), E, D> {
                let y = l.forward(bn.forward(x));
                if flag { y + residual } else { y }
            }
        },
    )));
}
