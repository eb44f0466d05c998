//! A sequence as a struct with named layers.
//!
//! The struct is generic over its layers, with the builders that the user wrote as defaults:
//! `Named` builds, and what it builds is `Named<F0::Built, F1::Built, ..>`. Its impls are flat: each
//! value between two layers is a type parameter of its own, so that a hundred layers are checked in
//! a second.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{GenericParam, ItemStruct};

use super::segments;
use crate::{
    declare::{at, generics, nested},
    diagnostic::{Findings, codes},
    direction::Direction,
    hygiene::{call_site, numbered, spoken},
    options::{Kind, Options},
};

/// One layer.
struct Layer {
    /// How it is reached: a name, or a number in a tuple struct.
    member: syn::Member,
    tensor_name: String,
    /// The parameter that stands for its type.
    parameter: Ident,
}

struct Sequence<'a> {
    options: &'a Options,
    rt: TokenStream,
    name: Ident,
    /// The user's constants, as an impl declares them, and their names.
    constants: Vec<TokenStream>,
    arguments: Vec<TokenStream>,
    predicates: Vec<TokenStream>,
    layers: Vec<Layer>,
    segments: TokenStream,
}

/// The struct and its impls. They are written beside errors too, so that one mistake does not give
/// another message at each use, unless the struct cannot be made generic over its layers.
pub fn expand(options: &Options, item: ItemStruct, mut findings: Findings) -> TokenStream {
    let item = checked(options, item, &mut findings);
    let segments = segments(options, item.fields.len(), &mut findings).to_value(&options.runtime());
    let errors = findings.into_tokens();
    let foreign = |p: &GenericParam| !matches!(p, GenericParam::Const(_));
    if item.fields.is_empty() || item.generics.params.iter().any(foreign) {
        return quote!(#item #errors);
    }
    let debug_and_clone = derives(&item);
    let requirements = requirements(options, &item);
    let (item, layers) = generalise(item);
    let sequence = Sequence {
        options,
        rt: options.runtime(),
        name: item.ident.clone(),
        constants: constants(&item, true),
        arguments: constants(&item, false),
        predicates: predicates(&item),
        layers,
        segments,
    };
    let impls = [
        sequence.tensor_collection(),
        sequence.build_on_device(),
        sequence.marker("ReplaySafe"),
        sequence.marker("Stateless"),
    ];
    let runs = Direction::BOTH.map(|d| {
        let (plain, taped, module) = (sequence.plain(d), sequence.taped(d), sequence.module(d));
        quote!(#plain #taped #module)
    });
    quote! {
        #debug_and_clone
        #item
        const _: () = { #(#impls)* #(#runs)* #requirements };
        #errors
    }
}

/// The struct without the attributes that have no place in a sequence, which are reported.
fn checked(options: &Options, mut item: ItemStruct, findings: &mut Findings) -> ItemStruct {
    if let Some(builder) = &options.builder {
        findings.push(
            codes::UNKNOWN_OPTION,
            builder,
            "a sequence is its own builder",
            format!("remove it, and build `{}`", item.ident),
        );
    }
    for parameter in &item.generics.params {
        if !matches!(parameter, GenericParam::Const(_)) {
            findings.push(
                codes::SIGNATURE,
                parameter,
                "a sequence is declared with builders, which need neither dtype, device nor lifetime, and has no layer left open",
                "write the layers as in `dev.build_module::<..>()`, or use `#[checkpointed]` on a struct for generic ones",
            );
        }
    }
    for field in &mut item.fields {
        field.attrs.retain(|attribute| {
            let path = attribute.path();
            let (message, help) = if path.is_ident("cfg") || path.is_ident("cfg_attr") {
                (
                    "a sequence is cut before conditions are known",
                    "use `#[checkpointed]` on a struct, whose fields may be conditional",
                )
            } else if path.is_ident("checkpoint") {
                (
                    "the layers of a sequence are not marked one by one",
                    "say at its head how it is cut: `segments = N;` or `each;`",
                )
            } else {
                return true;
            };
            findings.push(codes::MISPLACED_MARK, attribute, message, help);
            false
        });
    }
    item
}

/// Makes the struct generic over its layers.
fn generalise(mut item: ItemStruct) -> (ItemStruct, Vec<Layer>) {
    let mut layers = Vec::new();
    for (n, field) in item.fields.iter_mut().enumerate() {
        let parameter = numbered("__CkptLayer", n);
        let ty = std::mem::replace(&mut field.ty, syn::parse_quote!(#parameter));
        item.generics.params.push(syn::parse_quote!(#parameter = #ty));
        let (member, tensor_name) = match &field.ident {
            Some(name) => (syn::Member::Named(name.clone()), spoken(name)),
            None => (syn::Member::Unnamed(n.into()), n.to_string()),
        };
        layers.push(Layer { member, tensor_name, parameter });
    }
    (item, layers)
}

/// The user's constants: as an impl declares them, or their names.
fn constants(item: &ItemStruct, declared: bool) -> Vec<TokenStream> {
    item.generics
        .params
        .iter()
        .filter(|p| matches!(p, GenericParam::Const(_)))
        .map(|p| if declared { generics::undefaulted(p) } else { generics::name(p) })
        .collect()
}

/// The user's where-clause.
fn predicates(item: &ItemStruct) -> Vec<TokenStream> {
    item.generics.where_clause.iter().flat_map(|w| &w.predicates).map(ToTokens::to_token_stream).collect()
}

/// Calls that hold each layer to being replay-safe, at its own tokens. A layer is written as its
/// builder, and what it builds is the same whatever the dtype and the device.
fn requirements(options: &Options, item: &ItemStruct) -> TokenStream {
    if options.kind != Kind::Recompute {
        return TokenStream::new();
    }
    let rt = options.runtime();
    let constants = constants(item, true);
    let predicates = predicates(item);
    let layers = item.fields.iter().map(|f| {
        let ty = &f.ty;
        quote_spanned! {at(ty)=>
            #rt::__private::require_replay_safe::<
                <#ty as #rt::__private::dfdx::nn::BuildOnDevice<#rt::__private::dfdx::tensor::Cpu, ::core::primitive::f32>>::Built,
            >();
        }
    });
    quote! {
        #[allow(dead_code)]
        fn __ckpt_replay_safe<#(#constants),*>()
        where
            #(#predicates,)*
        {
            #(#layers)*
        }
    }
}

/// `Clone` and `Debug`, as dfdx's modules have them, where the user derives nothing.
fn derives(item: &ItemStruct) -> TokenStream {
    if item.attrs.iter().any(|a| a.path().is_ident("derive")) {
        TokenStream::new()
    } else {
        quote!(#[derive(::core::clone::Clone, ::core::fmt::Debug)])
    }
}

impl Sequence<'_> {
    /// The struct's type with these layers.
    fn with<T: ToTokens>(&self, layers: impl Iterator<Item = T>) -> TokenStream {
        let (name, arguments) = (&self.name, &self.arguments);
        quote!(#name<#(#arguments,)* #(#layers),*>)
    }

    fn this(&self) -> TokenStream {
        self.with(self.parameters())
    }

    fn parameters(&self) -> impl Iterator<Item = &Ident> {
        self.layers.iter().map(|l| &l.parameter)
    }

    /// A type parameter for each value between two layers, and at both ends.
    fn values(&self) -> Vec<Ident> {
        (0..=self.layers.len()).map(|n| numbered("__CkptX", n)).collect()
    }

    fn tensor_collection(&self) -> TokenStream {
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

    fn build_on_device(&self) -> TokenStream {
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

    fn marker(&self, name: &str) -> TokenStream {
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

    /// The run of an untaped input: the layers and nothing else.
    fn plain(&self, direction: Direction) -> TokenStream {
        let (rt, this) = (&self.rt, self.this());
        let (constants, predicates) = (&self.constants, &self.predicates);
        let parameters: Vec<_> = self.parameters().collect();
        let values = self.values();
        let (first, last) = (&values[0], &values[self.layers.len()]);
        let (inputs, outputs) = (&values[..self.layers.len()], &values[1..]);
        let (trait_, run) = (direction.trait_of("Run"), direction.function("run"));
        let (module, borrow) = (direction.module(rt), direction.borrow());
        let forward = direction.method("try_forward");
        let members = self.layers.iter().map(|l| &l.member);
        quote! {
            #[automatically_derived]
            impl<#(#constants,)* #(#values,)* #(#parameters,)* __CkptError>
                #rt::__private::#trait_<#first, #rt::__private::dfdx::tensor::NoneTape> for #this
            where
                #(#predicates,)*
                #(#parameters: #module<#inputs, Output = #outputs, Error = __CkptError>,)*
                __CkptError: ::core::fmt::Debug,
            {
                type Output = #last;
                type Error = __CkptError;

                fn #run(#borrow self, __ckpt_x: #first) -> ::core::result::Result<#last, __CkptError> {
                    #(let __ckpt_x = #module::#forward(#borrow self.#members, __ckpt_x)?;)*
                    ::core::result::Result::Ok(__ckpt_x)
                }
            }
        }
    }

    /// The run of a taped input: a table of layers, cut where the policy or the macro says.
    fn taped(&self, direction: Direction) -> TokenStream {
        let (rt, this, count) = (&self.rt, self.this(), self.layers.len());
        let (constants, predicates) = (&self.constants, &self.predicates);
        let parameters: Vec<_> = self.parameters().collect();
        let values = self.values();
        let (first, last) = (&values[0], &values[count]);
        let (inputs, outputs) = (&values[..count], &values[1..]);
        let (trait_, run) = (direction.trait_of("Run"), direction.function("run"));
        let (module, borrow) = (direction.module(rt), direction.borrow());
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
                #(#parameters: #module<#inputs, Output = #outputs, Error = #error>
                    + #rt::__private::dfdx::nn::TensorCollection<__CkptE, __CkptD>
                    + #rt::ReplaySafe
                    + ::core::clone::Clone
                    + 'static,)*
            {
                type Output = #last;
                type Error = #error;

                fn #run(#borrow self, __ckpt_x: #first) -> ::core::result::Result<#last, #error> {
                    let mut __ckpt_layers: [&mut dyn #rt::__private::DynLayer<__CkptE, __CkptD>; #count] = [
                        #(&mut #rt::__private::#layer::<#parameters, #inputs, __CkptE, __CkptD>(
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
    fn module(&self, direction: Direction) -> TokenStream {
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
