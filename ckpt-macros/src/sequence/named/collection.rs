//! How a named sequence is built, saved and moved.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::Sequence;
use crate::{
    declare::nested,
    hygiene::{call_site, numbered},
};

impl Sequence<'_> {
    /// `TensorCollection`: its tensors have the layers' names.
    pub fn tensor_collection(&self) -> TokenStream {
        let (rt, name, this) = (&self.rt, &self.name, self.this());
        let (constants, predicates) = (&self.constants, &self.predicates);
        let parameters: Vec<_> = self.parameters().collect();
        let nn = quote!(#rt::__private::dfdx::nn);
        let trait_ = quote!(#nn::TensorCollection<__CkptE, __CkptD>);
        let to = self.with(parameters.iter().map(|p| quote!(<#p as #trait_>::To<__CkptE2, __CkptD2>)));
        let visits: Vec<_> = self
            .layers
            .iter()
            .map(|l| {
                let (text, member) = (&l.tensor_name, &l.member);
                quote! {
                    <Self as #trait_>::module(
                        #text,
                        |__ckpt_s| &__ckpt_s.#member,
                        |__ckpt_s| &mut __ckpt_s.#member
                    )
                }
            })
            .collect();
        let locals: Vec<_> = (0..self.layers.len()).map(|n| numbered("__ckpt_layer", n).to_token_stream()).collect();
        let members = self.layers.iter().map(|l| &l.member);
        let (visits, pattern) = (nested(&visits), nested(&locals));
        quote! {
            #[automatically_derived]
            impl<
                #(#constants,)*
                __CkptE: #rt::Real,
                __CkptD: #rt::__private::dfdx::tensor_ops::Device<__CkptE>,
                #(#parameters: #trait_),*
            > #trait_ for #this
            where
                #(#predicates,)*
            {
                type To<
                    __CkptE2: #rt::__private::dfdx::shapes::Dtype,
                    __CkptD2: #rt::__private::dfdx::tensor_ops::Device<__CkptE2>,
                > = #to;

                fn iter_tensors<__CkptV: #nn::ModuleVisitor<Self, __CkptE, __CkptD>>(
                    __ckpt_visitor: &mut __CkptV,
                ) -> ::core::result::Result<
                    ::core::option::Option<Self::To<__CkptV::E2, __CkptV::D2>>,
                    __CkptV::Err,
                > {
                    #nn::ModuleVisitor::visit_fields(
                        __ckpt_visitor,
                        #visits,
                        |#pattern| #name { #(#members: #locals),* },
                    )
                }
            }
        }
    }

    /// `BuildOnDevice`.
    pub fn build_on_device(&self) -> TokenStream {
        let (rt, this) = (&self.rt, self.this());
        let (constants, predicates) = (&self.constants, &self.predicates);
        let parameters: Vec<_> = self.parameters().collect();
        let trait_ = quote!(#rt::__private::dfdx::nn::BuildOnDevice<__CkptD, __CkptE>);
        let built = self.with(parameters.iter().map(|p| quote!(<#p as #trait_>::Built)));
        quote! {
            #[automatically_derived]
            impl<
                #(#constants,)*
                __CkptE: #rt::Real,
                __CkptD: #rt::__private::dfdx::tensor_ops::Device<__CkptE>,
                #(#parameters: #trait_),*
            > #trait_ for #this
            where
                #(#predicates,)*
            {
                type Built = #built;
            }
        }
    }

    /// A marker that it has where all layers have it.
    pub fn marker(&self, name: &str) -> TokenStream {
        let (rt, this, name) = (&self.rt, self.this(), call_site(name));
        let (constants, predicates) = (&self.constants, &self.predicates);
        let parameters: Vec<_> = self.parameters().collect();
        quote! {
            #[automatically_derived]
            impl<#(#constants,)* #(#parameters: #rt::#name),*> #rt::#name for #this
            where
                #(#predicates,)*
            {
            }
        }
    }
}
