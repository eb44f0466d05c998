//! What a checkpointed function becomes: a hidden trait with the body for each kind of tape, and
//! the two functions that users call, generic over the caller's tape.
//!
//! - `NoneTape`: inference. No region, and modules are only read.
//! - `SharedTape`: the body as a region, in a checkpointed forward or in another region.
//! - `OwnedTape`: a shared tape is opened around the version before.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, GenericParam, ItemFn, Pat};

use super::signature::{Parameter, Signature, tape_name, with_tapes};
use crate::flow::{Access, Body, Context, Failure, Pass, Returns};
use crate::options::Options;

/// Writes everything. Without a body, beside findings, the functions have their types and nothing in
/// them, so that what calls them has no errors of its own.
pub fn write(item: &ItemFn, signature: &Signature, body: Option<&Body>, cx: &Context) -> TokenStream {
    let writer = Writer { item, signature, cx, name: format_ident!("__Ckpt_{}", signature.spoken()) };
    let attributes = Attributes::of(&item.attrs);
    let (cfgs, lints) = (&attributes.cfgs, &attributes.lints);
    let hidden = writer.hidden_trait();
    let versions = match body {
        Some(body) => {
            [writer.inference(body.emit(Pass::Inference, Failure::Returned, cx)), writer.shared(body), writer.owned()]
        }
        None => {
            let nothing = quote!({ ::core::unreachable!() });
            [writer.none_tape(), writer.shared_tape(), writer.owned_tape()]
                .map(|tape| writer.version(&tape, nothing.clone()))
        }
    };
    let unused = body.is_none().then(|| quote!(#[allow(unused_variables)]));
    let functions = [writer.function(&attributes, false), writer.function(&attributes, true)];
    quote! {
        #(#cfgs)* #hidden
        #(#cfgs)* #(#lints)* #unused
        #[allow(
            clippy::borrow_deref_ref, clippy::multiple_bound_locations, clippy::needless_pass_by_value,
            clippy::too_many_arguments, clippy::type_complexity, clippy::unnecessary_wraps
        )]
        const _: () = { #(#versions)* };
        #(#functions)*
    }
}

/// The user's attributes, by where they go.
struct Attributes {
    /// On everything.
    cfgs: Vec<TokenStream>,
    /// On everything with code in it.
    lints: Vec<TokenStream>,
    /// On the functions.
    others: Vec<TokenStream>,
    tracks_caller: bool,
}

impl Attributes {
    fn of(attrs: &[Attribute]) -> Self {
        let mut sorted = Self { cfgs: Vec::new(), lints: Vec::new(), others: Vec::new(), tracks_caller: false };
        for attr in attrs {
            let name = attr.path().get_ident().map(Ident::to_string).unwrap_or_default();
            match (name.as_str(), &attr.meta) {
                ("cfg", _) => sorted.cfgs.push(attr.to_token_stream()),
                // Of several versions of a body not every one need have what is expected.
                ("expect", syn::Meta::List(list)) => {
                    let lints = &list.tokens;
                    sorted.lints.push(quote!(#[allow(#lints)]));
                }
                ("allow" | "warn" | "deny" | "forbid", _) => sorted.lints.push(attr.to_token_stream()),
                _ => {
                    sorted.tracks_caller |= name == "track_caller";
                    sorted.others.push(attr.to_token_stream());
                }
            }
        }
        sorted
    }
}

struct Writer<'a> {
    item: &'a ItemFn,
    signature: &'a Signature,
    cx: &'a Context,
    /// The hidden trait's.
    name: Ident,
}

impl Writer<'_> {
    fn error(&self) -> TokenStream {
        let (rt, device) = (&self.cx.rt, &self.signature.roles.device);
        quote!(<#device as #rt::__private::dfdx::tensor::HasErr>::Err)
    }

    fn none_tape(&self) -> TokenStream {
        let rt = &self.cx.rt;
        quote!(#rt::__private::dfdx::tensor::NoneTape)
    }

    fn shared_tape(&self) -> TokenStream {
        let (rt, dtype, device) = (&self.cx.rt, &self.signature.roles.dtype, &self.signature.roles.device);
        quote!(#rt::SharedTape<#dtype, #device>)
    }

    fn owned_tape(&self) -> TokenStream {
        let (rt, dtype, device) = (&self.cx.rt, &self.signature.roles.dtype, &self.signature.roles.device);
        quote!(#rt::__private::dfdx::tensor::OwnedTape<#dtype, #device>)
    }

    /// `Result<value, D::Err>`.
    fn result(&self, value: &TokenStream) -> TokenStream {
        let error = self.error();
        quote!(::core::result::Result<#value, #error>)
    }

    /// The tapes after the first, as generic parameters.
    fn further(&self) -> Vec<Ident> {
        (1..self.signature.tapes).map(tape_name).collect()
    }

    /// The hidden trait with its arguments, the further tapes given.
    fn applied(&self, further: &[TokenStream]) -> TokenStream {
        let name = &self.name;
        let own = self.signature.generics.iter().map(|p| match p {
            GenericParam::Type(p) => p.ident.to_token_stream(),
            GenericParam::Const(p) => p.ident.to_token_stream(),
            GenericParam::Lifetime(p) => p.lifetime.to_token_stream(),
        });
        quote!(#name<#(#own,)* #(#further),*>)
    }

    /// The where-clause: of the trait and its impls without, of functions with lifetimes.
    fn predicates(&self, with_lifetimes: bool) -> TokenStream {
        let (rt, dtype) = (&self.cx.rt, &self.signature.roles.dtype);
        let own = self.signature.predicates.iter().filter(|p| with_lifetimes || !self.signature.has_lifetime(p));
        quote!(where #(#own,)* #dtype: #rt::Real)
    }

    /// What of the where-clause names a lifetime.
    fn lifetime_predicates(&self) -> TokenStream {
        let mut own = self.signature.predicates.iter().filter(|p| self.signature.has_lifetime(p)).peekable();
        if own.peek().is_none() {
            return TokenStream::new();
        }
        quote!(where #(#own),*)
    }

    /// The parameters, for a first tape and for those after it.
    fn parameters(&self, first: &TokenStream, further: &dyn Fn(usize) -> TokenStream) -> Vec<TokenStream> {
        let rt = &self.cx.rt;
        let tape = |i: usize| if i == 0 { first.clone() } else { further(i) };
        self.signature
            .parameters
            .iter()
            .enumerate()
            .map(|(i, parameter)| {
                let name = argument(i, parameter);
                match parameter {
                    Parameter::Module { access: Access::Shared, lifetime, ty, .. } => quote!(#name: & #lifetime #ty),
                    Parameter::Module { access: Access::Exclusive, lifetime, ty, .. } => {
                        let lifetime = lifetime.as_ref().map_or_else(|| quote!('_), ToTokens::to_token_stream);
                        quote!(#name: <#first as #rt::__private::CallerTape>::RefMut<#lifetime, #ty>)
                    }
                    Parameter::Value { ty, .. } => {
                        let ty = with_tapes(ty, &tape);
                        quote!(#name: #ty)
                    }
                }
            })
            .collect()
    }

    fn arguments(&self) -> impl Iterator<Item = Ident> {
        self.signature.parameters.iter().enumerate().map(|(i, p)| argument(i, p))
    }

    /// The head of the trait's method.
    fn run(&self, first: &TokenStream, further: &dyn Fn(usize) -> TokenStream) -> TokenStream {
        let lifetimes = &self.signature.lifetimes;
        let parameters = self.parameters(first, further);
        let output = self.result(&with_tapes(&self.signature.output, &|_| first.clone()));
        let predicates = self.lifetime_predicates();
        quote!(fn run<#(#lifetimes),*>(#(#parameters),*) -> #output #predicates)
    }

    fn hidden_trait(&self) -> TokenStream {
        let (rt, vis, name) = (&self.cx.rt, &self.item.vis, &self.name);
        let (generics, further, predicates) = (&self.signature.generics, self.further(), self.predicates(false));
        let run = self.run(&quote!(Self), &|i| tape_name(i).into_token_stream());
        quote! {
            #[doc(hidden)]
            #[allow(
                missing_docs, non_camel_case_types, private_interfaces, clippy::multiple_bound_locations,
                clippy::too_many_arguments, clippy::type_complexity
            )]
            #vis trait #name<#(#generics,)* #(#further),*>: #rt::__private::CallerTape + ::core::marker::Sized #predicates {
                #run;
            }
        }
    }

    /// An impl of the hidden trait.
    fn version(&self, tape: &TokenStream, body: TokenStream) -> TokenStream {
        let (rt, roles) = (&self.cx.rt, &self.signature.roles);
        let (dtype, device) = (&roles.dtype, &roles.device);
        let (generics, predicates) = (&self.signature.generics, self.predicates(false));
        let inference = tape.to_string() == self.none_tape().to_string();
        // In inference no tensor has a tape; elsewhere the further ones may come on any.
        let (own, given) = if inference {
            (Vec::new(), vec![tape.clone(); self.signature.tapes - 1])
        } else {
            let names = self.further();
            (
                names.iter().map(|t| quote!(#t: #rt::InputTape<#dtype, #device>)).collect(),
                names.into_iter().map(|t| t.to_token_stream()).collect(),
            )
        };
        let applied = self.applied(&given);
        let run = self.run(tape, &|i| given[i - 1].clone());
        quote! {
            #[automatically_derived]
            impl<#(#generics,)* #(#own),*> #applied for #tape #predicates {
                #run #body
            }
        }
    }

    fn inference(&self, block: TokenStream) -> TokenStream {
        let bindings = self.bindings(&|_, name| name.to_token_stream());
        let (rt, device) = (&self.cx.rt, &self.signature.roles.device);
        let site = Options::default().site(rt, &self.signature.spoken());
        let refuse = quote!(#rt::__private::refuse_untracked::<#device>(#site)?;);
        self.version(&self.none_tape(), quote!({ #refuse #bindings #block }))
    }

    fn shared(&self, body: &Body) -> TokenStream {
        let rt = &self.cx.rt;
        // It may be called in a region of the caller's, which runs it again whatever it is itself.
        let block = body.emit(Pass::Training { replayed: true }, Failure::Returned, self.cx);
        let shared = self.shared_tape();
        let bindings = self.bindings(&|taped, name| {
            if taped { quote!(#rt::__private::enter(#name, __ckpt_tape)) } else { name.to_token_stream() }
        });
        self.version(&shared, quote!({ let __ckpt_tape = &<#shared>::floating(); #bindings #block }))
    }

    fn owned(&self) -> TokenStream {
        let rt = &self.cx.rt;
        let shared = self.shared_tape();
        let applied = self.applied(&vec![shared.clone(); self.signature.tapes - 1]);
        let entered = self.signature.parameters.iter().enumerate().map(|(i, parameter)| {
            let name = argument(i, parameter);
            match parameter {
                Parameter::Value { taped: true, .. } => quote!(#rt::__private::hand_over(#name, &__ckpt_tape)),
                _ => name.into_token_stream(),
            }
        });
        self.version(
            &self.owned_tape(),
            quote!({
                let __ckpt_tape = <#shared>::open();
                let __ckpt_output = <#shared as #applied>::run(#(#entered),*)?;
                #rt::__private::leave(__ckpt_output, __ckpt_tape)
            }),
        )
    }

    /// Binds the values as the user's patterns do.
    fn bindings(&self, value: &dyn Fn(bool, &Ident) -> TokenStream) -> TokenStream {
        let mut lets = TokenStream::new();
        for (i, parameter) in self.signature.parameters.iter().enumerate() {
            let Parameter::Value { pat, taped, .. } = parameter else { continue };
            let name = argument(i, parameter);
            let value = value(*taped, &name);
            let as_it_is = matches!(pat, Pat::Ident(p) if p.mutability.is_none() && p.subpat.is_none());
            if as_it_is && name == value.to_string() {
                continue;
            }
            // In a region `mut` belongs to the binding inside.
            lets.extend(quote!(#[allow(unused_mut)] let #pat = #value;));
        }
        lets
    }

    fn function(&self, attributes: &Attributes, fallible: bool) -> TokenStream {
        let (rt, vis, signature) = (&self.cx.rt, &self.item.vis, self.signature);
        let Attributes { cfgs, lints, others, tracks_caller } = attributes;
        let (lifetimes, generics, further) = (&signature.lifetimes, &signature.generics, self.further());
        let first = tape_name(0);
        let names: Vec<_> = further.iter().map(ToTokens::to_token_stream).collect();
        let applied = self.applied(&names);
        let parameters = self.parameters(&first.to_token_stream(), &|i| tape_name(i).into_token_stream());
        let arguments = self.arguments();
        let value = with_tapes(&signature.output, &|i| tape_name(i).into_token_stream());
        let call = quote!(<#first as #applied>::run(#(#arguments),*));
        let returns_result = fallible || signature.returns == Returns::Result;
        let output = if returns_result { self.result(&value) } else { value };
        let body = if returns_result { call } else { quote!(#rt::__private::expect(#call)) };
        let name = if fallible { format_ident!("try_{}", signature.spoken()) } else { signature.name.clone() };
        let errors = fallible.then(|| {
            quote! {
                #[doc = "# Errors"]
                #[doc = "The device's, or a module's; `last_failure` names the region."]
            }
        });
        let track_caller = (!tracks_caller && !returns_result).then(|| quote!(#[track_caller]));
        let predicates = self.predicates(true);
        let admitted = further.iter().map(|t| quote!(, #first: #rt::__private::Admits<#t>));
        quote! {
            #(#cfgs)* #(#lints)* #(#others)* #errors #track_caller
            #[allow(
                dead_code, private_bounds, clippy::multiple_bound_locations, clippy::too_many_arguments,
                clippy::type_complexity
            )]
            #vis fn #name<#(#lifetimes,)* #(#generics,)* #first: #applied, #(#further),*>(#(#parameters),*) -> #output
            #predicates #(#admitted)*
            { #body }
        }
    }
}

/// What a parameter is called outside of the body.
fn argument(i: usize, parameter: &Parameter) -> Ident {
    match parameter {
        Parameter::Module { name, .. } => name.clone(),
        Parameter::Value { pat: Pat::Ident(p), .. } => p.ident.clone(),
        Parameter::Value { .. } => format_ident!("__ckpt_{i}"),
    }
}
