//! Building, saving, loading and moving: dfdx's `TensorCollection` and `BuildOnDevice`, and the
//! builder that names the model without dtype and device.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{GenericParam, spanned::Spanned};

use super::{
    generics,
    markers::at,
    marks::Init,
    syntax::{Declaration, Field, Role},
};
use crate::hygiene::{call_site, mentions, spoken};

/// dfdx visits tuples of up to this many fields, and tuples of such tuples.
const WIDEST: usize = 6;

/// The builder's name.
fn builder_name(d: &Declaration) -> proc_macro2::Ident {
    d.options.builder.clone().unwrap_or_else(|| {
        let name = format_ident!("{}Builder", spoken(&d.name));
        proc_macro2::Ident::new(&name.to_string(), d.name.span())
    })
}

/// The builder: no values, only the parameters that are neither dtype nor device.
pub fn builder(d: &Declaration) -> TokenStream {
    let (visibility, name) = (&d.visibility, builder_name(d));
    let parameters = d.builder_parameters();
    // A default may name the dtype or the device, which the builder has not; defaults must be
    // trailing, so it is all or none.
    let keep_defaults = !parameters.iter().any(|p| {
        matches!(p, GenericParam::Type(t) if t.default.as_ref().is_some_and(|(_, ty)| {
            mentions(ty, &d.roles.dtype) || mentions(ty, &d.roles.device)
        }))
    });
    let declared = parameters.iter().map(|p| unbounded(p, keep_defaults));
    let bare: Vec<_> = parameters.iter().map(|p| unbounded(p, false)).collect();
    let names: Vec<_> = parameters.iter().map(|p| generics::name(p)).collect();
    let types = parameters.iter().filter_map(|p| match p {
        GenericParam::Type(t) => Some(&t.ident),
        _ => None,
    });
    let summary = format!(
        "Builds [`{}`] on a device and in a dtype of choice, by itself or inside tuples and `Repeated`.",
        d.name
    );
    let text = name.to_string();
    quote! {
        #[doc = #summary]
        #visibility struct #name<#(#declared),*>(
            ::core::marker::PhantomData<fn() -> (#(#types,)*)>,
        );
        #[automatically_derived]
        impl<#(#bare),*> ::core::default::Default for #name<#(#names),*> {
            fn default() -> Self {
                Self(::core::marker::PhantomData)
            }
        }
        #[automatically_derived]
        impl<#(#bare),*> ::core::clone::Clone for #name<#(#names),*> {
            fn clone(&self) -> Self {
                Self(::core::marker::PhantomData)
            }
        }
        #[automatically_derived]
        impl<#(#bare),*> ::core::fmt::Debug for #name<#(#names),*> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Formatter::write_str(f, #text)
            }
        }
    }
}

/// A parameter of the builder, which asks nothing of it.
fn unbounded(parameter: &GenericParam, keep_default: bool) -> TokenStream {
    let mut parameter = parameter.clone();
    if let GenericParam::Type(t) = &mut parameter {
        t.bounds.clear();
        t.colon_token = None;
    }
    if keep_default { parameter.into_token_stream() } else { generics::undefaulted(&parameter) }
}

/// `BuildOnDevice` for the builder.
pub fn build_on_device(d: &Declaration) -> TokenStream {
    let (rt, name) = (&d.rt, builder_name(d));
    let (dtype, device) = (&d.roles.dtype, &d.roles.device);
    let trait_ = quote!(#rt::__private::dfdx::nn::BuildOnDevice<#device, #dtype>);
    let parameters = d.parameters();
    let predicates = d.predicates();
    let children = &d.children;
    let arguments = d.builder_parameters().into_iter().map(generics::name);
    let built = d.applied(|p| children.contains(p).then(|| quote!(<#p as #trait_>::Built)));
    quote! {
        #[automatically_derived]
        impl<#(#parameters),*> #trait_ for #name<#(#arguments),*>
        where
            #(#predicates,)*
            #(#children: #trait_,)*
        {
            type Built = #built;
        }
    }
}

/// `TensorCollection` for the struct; its body only panics unless the declaration is `sound`.
pub fn tensor_collection(d: &Declaration, sound: bool) -> TokenStream {
    let (rt, name, this) = (&d.rt, &d.name, d.this());
    let (dtype, device) = (&d.roles.dtype, &d.roles.device);
    let nn = quote!(#rt::__private::dfdx::nn);
    let trait_ = quote!(#nn::TensorCollection<#dtype, #device>);
    let parameters = d.parameters();
    let predicates = d.predicates();
    let children = &d.children;
    let to = d.applied(|p| {
        if *p == *dtype {
            Some(quote!(__CkptE2))
        } else if *p == *device {
            Some(quote!(__CkptD2))
        } else {
            children.contains(p).then(|| quote!(<#p as #trait_>::To<__CkptE2, __CkptD2>))
        }
    });
    let body = if sound {
        let (visits, locals): (Vec<_>, Vec<_>) =
            d.fields.iter().filter_map(|f| visit(d, f).map(|v| (v, f.local.to_token_stream()))).unzip();
        let (visits, locals) = (nested(&visits), nested(&locals));
        let values = d.fields.iter().map(|f| {
            let (member, local) = (&f.member, &f.local);
            match f.role {
                Role::Skip { .. } | Role::Policy => {
                    quote!(#member: ::core::default::Default::default())
                }
                _ => quote!(#member: #local),
            }
        });
        quote! {
            #nn::ModuleVisitor::visit_fields(
                __ckpt_visitor,
                #visits,
                |#locals| #name { #(#values),* },
            )
        }
    } else {
        quote!(::core::panic!("this declaration has errors"))
    };
    quote! {
        #[automatically_derived]
        #[allow(unused_variables, clippy::redundant_closure, clippy::redundant_closure_for_method_calls)]
        impl<#(#parameters),*> #trait_ for #this
        where
            #(#predicates,)*
            #(#children: #trait_,)*
        {
            type To<
                __CkptE2: #rt::__private::dfdx::shapes::Dtype,
                __CkptD2: #rt::__private::dfdx::tensor_ops::Device<__CkptE2>,
            > = #to;

            fn iter_tensors<__CkptV: #nn::ModuleVisitor<Self, #dtype, #device>>(
                __ckpt_visitor: &mut __CkptV,
            ) -> ::core::result::Result<
                ::core::option::Option<Self::To<__CkptV::E2, __CkptV::D2>>,
                __CkptV::Err,
            > {
                #body
            }
        }
    }
}

/// What dfdx is told about a field; `None` for one that it is not to see.
fn visit(d: &Declaration, field: &Field) -> Option<TokenStream> {
    let rt = &d.rt;
    let nn = quote!(#rt::__private::dfdx::nn);
    // The compiler puts a field that is no module down to the trait's argument, so that stands at
    // the field's type too.
    let here = |name: &proc_macro2::Ident| {
        let mut name = name.clone();
        name.set_span(name.span().located_at(field.ty.span()));
        name
    };
    let (dtype, device) = (here(&d.roles.dtype), here(&d.roles.device));
    let (kind, options) = match &field.role {
        Role::Module { .. } => ("module", None),
        Role::Parameter(init) => (
            "tensor",
            Some(match init {
                Init::Zeros => quote!(#nn::TensorOptions::reset_to_zeros()),
                Init::Ones => quote!(#nn::TensorOptions::reset_to_ones()),
                Init::With(f) => quote!(#nn::TensorOptions::reset_with(#f)),
            }),
        ),
        Role::Buffer(init) => (
            "tensor",
            Some(match init {
                Init::Zeros => {
                    quote!(#nn::TensorOptions::detached(|__ckpt_t| __ckpt_t.try_fill_with_zeros()))
                }
                Init::Ones => {
                    quote!(#nn::TensorOptions::detached(|__ckpt_t| __ckpt_t.try_fill_with_ones()))
                }
                Init::With(f) => quote!(#nn::TensorOptions::detached(#f)),
            }),
        ),
        Role::Scalar(default) => ("scalar", Some(quote!(#nn::ScalarOptions::from_default(#default)))),
        Role::Skip { .. } | Role::Policy => return None,
    };
    let this = call_site("__ckpt_self");
    let (text, member, ty) = (&field.tensor_name, &field.member, &field.ty);
    if matches!(field.role, Role::Module { .. }) {
        // The probe's method, at the type: what is wrong with a field that is no module is said there.
        let visit = proc_macro2::Ident::new("visit", at(ty));
        let visiting = quote_spanned!(at(ty)=> #rt::__private::probe::Visiting::<Self, #ty, #dtype, #device>::new());
        return Some(quote_spanned! {at(ty)=>
            {
                #[allow(unused_imports)]
                use #rt::__private::probe::{VisitModule as _, VisitNot as _};
                (&&#visiting).#visit(#text, |#this| &#this.#member, |#this| &mut #this.#member)
            }
        });
    }
    // Spanned with the type too: an error is underlined from the path's first token to its last.
    let kind = proc_macro2::Ident::new(kind, at(&field.ty));
    let options = options.into_iter();
    Some(quote_spanned! {at(&field.ty)=>
        <Self as #nn::TensorCollection<#dtype, #device>>::#kind(
            #text,
            |#this| &#this.#member,
            |#this| &mut #this.#member
            #(, #options)*
        )
    })
}

/// A tuple of tuples of at most [`WIDEST`].
pub fn nested(items: &[TokenStream]) -> TokenStream {
    if items.len() <= WIDEST {
        return quote!((#(#items,)*));
    }
    let groups = items.chunks(items.len().div_ceil(WIDEST)).map(nested);
    quote!((#(#groups,)*))
}
