//! A named sequence's forward, once for each tape.
//!
//! The impls are flat: each value between two layers is a type parameter of its own, so that a
//! hundred layers are checked in a second.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::Sequence;
use crate::{direction::Direction, hygiene::spoken};

impl Sequence<'_> {
    /// The layer before each one, which is named where one does not take what comes before it.
    fn before(&self) -> Vec<TokenStream> {
        std::iter::once(quote!(())).chain(self.parameters().map(ToTokens::into_token_stream)).collect()
    }

    /// The run of an untaped input: the layers and nothing else.
    pub fn plain(&self, direction: Direction) -> TokenStream {
        let (rt, this) = (&self.rt, self.this());
        let (constants, predicates) = (&self.constants, &self.predicates);
        let parameters: Vec<_> = self.parameters().collect();
        let values = self.values();
        let (first, last) = (&values[0], &values[self.layers.len()]);
        let (inputs, outputs) = (&values[..self.layers.len()], &values[1..]);
        let (trait_, run) = (direction.trait_of("Run"), direction.function("run"));
        let (taken, take, borrow) = (direction.trait_of("Taken"), direction.function("taken"), direction.borrow());
        let before = self.before();
        let members = self.layers.iter().map(|l| &l.member);
        quote! {
            #[automatically_derived]
            impl<#(#constants,)* #(#values,)* #(#parameters,)* __CkptError>
                #rt::__private::#trait_<#first, #rt::__private::dfdx::tensor::NoneTape> for #this
            where
                #(#predicates,)*
                #(#inputs: #rt::__private::#taken<#parameters, #before, Output = #outputs, Error = __CkptError>,)*
                __CkptError: ::core::fmt::Debug,
            {
                type Output = #last;
                type Error = __CkptError;

                fn #run(#borrow self, __ckpt_x: #first) -> ::core::result::Result<#last, __CkptError> {
                    #(let __ckpt_x = #rt::__private::#taken::<#parameters, #before>::#take(
                        __ckpt_x,
                        #borrow self.#members
                    )?;)*
                    ::core::result::Result::Ok(__ckpt_x)
                }
            }
        }
    }

    /// The run of a taped input: a table of layers, cut where the policy or the macro says.
    pub fn taped(&self, direction: Direction) -> TokenStream {
        let (rt, this, count) = (&self.rt, self.this(), self.layers.len());
        let (constants, predicates) = (&self.constants, &self.predicates);
        let parameters: Vec<_> = self.parameters().collect();
        let values = self.values();
        let (first, last) = (&values[0], &values[count]);
        let (inputs, outputs) = (&values[..count], &values[1..]);
        let (trait_, run) = (direction.trait_of("Run"), direction.function("run"));
        let (taken, borrow) = (direction.trait_of("Taken"), direction.borrow());
        let before = self.before();
        let layer = direction.function("layer");
        let members = self.layers.iter().map(|l| &l.member);
        let (segments, site) = (&self.segments, self.options.site(rt, &spoken(&self.name)));
        let error = quote!(<__CkptD as #rt::__private::dfdx::tensor::HasErr>::Err);
        quote! {
            #[automatically_derived]
            impl<#(#constants,)* __CkptE, __CkptD, #(#values,)* #(#parameters),*>
                #rt::__private::#trait_<
                    #first,
                    #rt::__private::dfdx::tensor::OwnedTape<__CkptE, __CkptD>,
                > for #this
            where
                __CkptE: #rt::Real,
                __CkptD: #rt::__private::dfdx::tensor_ops::Device<__CkptE>,
                #(#predicates,)*
                #(#values: #rt::__private::Boundary<__CkptE, __CkptD>,)*
                #(#parameters: #rt::__private::dfdx::nn::TensorCollection<__CkptE, __CkptD>
                    + #rt::ReplaySafe
                    + #rt::__private::Owned,)*
                #(#inputs: #rt::__private::#taken<#parameters, #before, Output = #outputs, Error = #error>,)*
            {
                type Output = #last;
                type Error = #error;

                fn #run(#borrow self, __ckpt_x: #first) -> ::core::result::Result<#last, #error> {
                    let mut __ckpt_layers: [&mut dyn #rt::__private::DynLayer<__CkptE, __CkptD>; #count] = [
                        #(&mut #rt::__private::#layer::<#parameters, #before, #inputs, __CkptE, __CkptD>(
                            #borrow self.#members
                        ),)*
                    ];
                    #rt::__private::chain::<__CkptE, __CkptD, #first, #last>(
                        #site,
                        #segments,
                        &mut __ckpt_layers,
                        __ckpt_x,
                    )
                }
            }
        }
    }

    /// dfdx's trait: the input's tape tells which run it is.
    pub fn module(&self, direction: Direction) -> TokenStream {
        let (rt, this) = (&self.rt, self.this());
        let (constants, predicates) = (&self.constants, &self.predicates);
        let parameters = self.parameters();
        let (trait_, run) = (direction.trait_of("Run"), direction.function("run"));
        let (module, borrow) = (direction.module(rt), direction.borrow());
        let (try_forward, forward) = (direction.method("try_forward"), direction.method("forward"));
        let runs = quote!(#rt::__private::#trait_<__CkptX, <__CkptX as #rt::__private::Edge>::Tape>);
        quote! {
            #[automatically_derived]
            impl<#(#constants,)* __CkptX, #(#parameters),*> #module<__CkptX> for #this
            where
                #(#predicates,)*
                __CkptX: #rt::__private::Edge,
                Self: #runs,
            {
                type Output = <Self as #runs>::Output;
                type Error = <Self as #runs>::Error;

                fn #try_forward(#borrow self, __ckpt_x: __CkptX) -> ::core::result::Result<Self::Output, Self::Error> {
                    <Self as #runs>::#run(self, __ckpt_x)
                }

                fn #forward(#borrow self, __ckpt_x: __CkptX) -> Self::Output {
                    #rt::__private::expect(<Self as #runs>::#run(self, __ckpt_x))
                }
            }
        }
    }
}
