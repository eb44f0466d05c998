//! A sequence as a struct with named layers.
//!
//! The struct is generic over its layers, with the builders that the user wrote as defaults:
//! `Named` builds, and what it builds is `Named<F0::Built, F1::Built, ..>`. [`collection`] writes how
//! it is built and saved, [`run`] its forward.

mod collection;
mod run;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{GenericParam, ItemStruct};

use super::segments;
use crate::{
    declare::{at, generics},
    diagnostic::{Findings, codes},
    direction::Direction,
    hygiene::{numbered, spoken},
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

/// The struct, read.
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
        let ty = crate::hygiene::as_operand(std::mem::replace(&mut field.ty, syn::parse_quote!(#parameter)));
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

    /// The struct's type.
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
}
