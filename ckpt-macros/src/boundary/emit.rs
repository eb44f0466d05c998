//! The impls that `#[derive(Boundary)]` writes.
//!
//! What is stored of a value is a hidden enum; a struct is an enum of one variant there. It is
//! generic over what is stored of each field that a type parameter decides, the tape's among them,
//! so that one type serves for all tapes. What is stored of the others is written out: a private
//! type may stand in a field, but not in the arguments of a public trait's associated type.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{GenericParam, Type};

use super::declaration::{Case, Declaration, Part, Tape, binding};
use crate::hygiene::mentions;

/// Everything, hidden in a constant.
pub fn impls(declaration: &Declaration) -> TokenStream {
    let writer = Writer::new(declaration);
    let parts = [writer.stored(), writer.boundary(), writer.retape(), writer.edge()];
    quote! {
        #[allow(
            missing_docs, missing_debug_implementations, non_camel_case_types, non_snake_case, unused_variables,
            unreachable_code, private_interfaces, clippy::all, clippy::pedantic
        )]
        const _: () = { #(#parts)* };
    }
}

struct Writer<'a> {
    declaration: &'a Declaration,
    dtype: TokenStream,
    device: TokenStream,
    /// The parameters that the impl adds where the type has no dtype or device of its own.
    added: Vec<TokenStream>,
}

impl<'a> Writer<'a> {
    fn new(declaration: &'a Declaration) -> Self {
        let rt = &declaration.rt;
        let mut added = Vec::new();
        let mut role = |ty: &Option<Type>, name: &str, bound: TokenStream| match ty {
            Some(ty) => ty.to_token_stream(),
            None => {
                let name = format_ident!("{name}");
                added.push(quote!(#name: #bound));
                name.into_token_stream()
            }
        };
        let dtype = role(&declaration.dtype, "__CkptE", quote!(#rt::Real));
        let device = role(&declaration.device, "__CkptD", quote!(#rt::__private::dfdx::tensor_ops::Device<#dtype>));
        Self { declaration, dtype, device, added }
    }

    fn cases(&self) -> &'a [Case] {
        &self.declaration.variants
    }

    /// `Self { .. }` or `Self::Variant { .. }` with each field bound to, or made of, `values`.
    fn value(&self, case: &Case, values: &[TokenStream]) -> TokenStream {
        let members = case.parts.iter().map(|p| &p.member);
        let path = if self.declaration.is_enum {
            let name = &case.name;
            quote!(Self::#name)
        } else {
            quote!(Self)
        };
        quote!(#path { #(#members: #values),* })
    }

    /// A stored value's pattern, or the value.
    fn stored_value(case: &Case, values: &[TokenStream]) -> TokenStream {
        let name = &case.name;
        quote!(__CkptStored::#name(#(#values),*))
    }

    /// `<Part as Boundary<E, D>>`.
    fn crossing(&self, part: &Part) -> TokenStream {
        let (rt, dtype, device) = (&self.declaration.rt, &self.dtype, &self.device);
        let ty = self.part_type(part);
        quote!(<#ty as #rt::Boundary<#dtype, #device>>)
    }

    fn part_type(&self, part: &Part) -> TokenStream {
        let (rt, ty) = (&self.declaration.rt, &part.ty);
        if part.plain { quote!(#rt::Plain<#ty>) } else { ty.to_token_stream() }
    }

    /// The parameters that fields written out in the stored type need.
    fn stored_parameters(&self) -> Vec<GenericParam> {
        let d = self.declaration;
        let parts = || d.variants.iter().flat_map(|c| &c.parts);
        let written: Vec<_> = parts().filter(|p| d.is_written_out(p)).collect();
        let crosses = written.iter().any(|p| !p.plain);
        let needed = |name: &Ident| {
            let role = [&self.dtype, &self.device].into_iter().any(|role| mentions(role, name));
            (crosses && role) || written.iter().any(|p| mentions(&p.ty, name))
        };
        let own = d.generics.params.iter().map(undefaulted);
        let added = self.added.iter().cloned();
        let parameters = own.chain(added).filter_map(|p| syn::parse2::<GenericParam>(p).ok());
        let parameters = parameters.filter(|p| match p {
            GenericParam::Type(p) => needed(&p.ident),
            GenericParam::Const(p) => needed(&p.ident),
            GenericParam::Lifetime(_) => false,
        });
        parameters.collect()
    }

    fn stored(&self) -> TokenStream {
        let d = self.declaration;
        let (rt, dtype, device) = (&d.rt, &self.dtype, &self.device);
        let parameters = self.stored_parameters();
        let mut arguments = Vec::new();
        let mut variants = Vec::new();
        for case in self.cases() {
            let parts: Vec<_> = case
                .parts
                .iter()
                .map(|part| {
                    if d.is_written_out(part) {
                        let crossing = self.crossing(part);
                        return if part.plain { self.part_type(part) } else { quote!(#crossing::Stored) };
                    }
                    let argument = format_ident!("__CkptS{}", arguments.len());
                    arguments.push(argument.clone());
                    argument.into_token_stream()
                })
                .collect();
            let name = &case.name;
            variants.push(quote!(#name(#(#parts),*)));
        }
        let names: Vec<_> = parameters.iter().map(parameter_name).collect();
        let has = |name: &TokenStream| names.iter().any(|n| n.to_string() == name.to_string());
        let own = d.generics.where_clause.iter().flat_map(|w| &w.predicates).filter(|predicate| {
            let absent = d.generics.type_params().filter(|p| !has(&p.ident.to_token_stream()));
            absent.into_iter().all(|p| !mentions(predicate, &p.ident))
        });
        let real = has(dtype).then(|| quote!(#dtype: #rt::Real,));
        let device = has(device).then(|| quote!(#device: #rt::__private::dfdx::tensor_ops::Device<#dtype>,));
        let predicates = quote!(where #(#own,)* #real #device);
        let variant = (self.cases().len() > 1).then(|| {
            let arms = self.cases().iter().enumerate().map(|(i, case)| {
                let (name, number) = (&case.name, i as f64);
                quote!(Self::#name(..) => #number)
            });
            quote! {
                impl<#(#parameters,)* #(#arguments),*> __CkptStored<#(#names,)* #(#arguments),*> #predicates {
                    fn __ckpt_variant(&self) -> f64 {
                        match self { #(#arms,)* }
                    }
                }
            }
        });
        quote! {
            #[derive(::core::clone::Clone)]
            pub enum __CkptStored<#(#parameters,)* #(#arguments),*> #predicates { #(#variants),* }
            #variant
        }
    }

    fn boundary(&self) -> TokenStream {
        let (rt, dtype, device) = (&self.declaration.rt, &self.dtype, &self.device);
        let parts = || self.cases().iter().flat_map(|c| &c.parts);
        let taped = parts().map(|p| self.crossing(p)).map(|p| quote!(|| #p::TAPED));
        let arguments = self.stored_parameters();
        let arguments = arguments.iter().map(parameter_name);
        let stored = parts().filter(|p| !self.declaration.is_written_out(p)).map(|p| self.crossing(p));
        let stored = arguments.chain(stored.map(|p| quote!(#p::Stored)));
        let (parameters, this, predicates) = self.header(None);
        let store = self.store();
        let load = self.load();
        let gradients = self.by_reference(|part, value| {
            let crossing = self.crossing(part);
            quote!(#crossing::gradients(#value, __ckpt_out))
        });
        let gradients = gradients.map(|(pattern, calls)| quote!(#pattern => { #(#calls;)* }));
        let devices = self.by_reference(|part, value| {
            let crossing = self.crossing(part);
            quote!(#crossing::device(#value))
        });
        let devices = devices.map(|(pattern, calls)| {
            let first = first_of(&calls);
            quote!(#pattern => #first)
        });
        let (gradients, devices) = (self.matched(gradients), self.matched(devices));
        let compare = self.compare();
        let option = quote!(::core::option::Option);
        quote! {
            #[automatically_derived]
            impl<#(#parameters),*> #rt::Boundary<#dtype, #device> for #this where #(#predicates,)* {
                const TAPED: bool = false #(#taped)*;
                type Stored = __CkptStored<#(#stored),*>;
                fn store(self, __ckpt_tape: &#rt::SharedTape<#dtype, #device>) -> Self::Stored { #store }
                fn load(__ckpt_stored: Self::Stored, __ckpt_tape: &#rt::SharedTape<#dtype, #device>) -> Self { #load }
                fn gradients(
                    __ckpt_stored: &Self::Stored,
                    __ckpt_out: &mut ::std::vec::Vec<#rt::GradientHandle<#dtype, #device>>,
                ) { #gradients }
                fn compare(
                    __ckpt_first: &Self::Stored,
                    __ckpt_again: &Self::Stored,
                    __ckpt_tolerance: f64,
                ) -> #option<#rt::Difference> { #compare }
                fn device(__ckpt_stored: &Self::Stored) -> #option<#device> { #devices }
            }
        }
    }

    fn store(&self) -> TokenStream {
        let rt = &self.declaration.rt;
        let arms = self.cases().iter().map(|case| {
            let names = names(case);
            let pattern = self.value(case, &names);
            let stored: Vec<_> = case
                .parts
                .iter()
                .zip(&names)
                .map(|(part, name)| {
                    let crossing = self.crossing(part);
                    let value = if part.plain { quote!(#rt::Plain(#name)) } else { name.clone() };
                    quote!(#crossing::store(#value, __ckpt_tape))
                })
                .collect();
            let stored = Self::stored_value(case, &stored);
            quote!(#pattern => #stored)
        });
        quote!(match self { #(#arms,)* })
    }

    fn load(&self) -> TokenStream {
        let arms = self.cases().iter().map(|case| {
            let names = names(case);
            let pattern = Self::stored_value(case, &names);
            let loaded: Vec<_> = case
                .parts
                .iter()
                .zip(&names)
                .map(|(part, name)| {
                    let crossing = self.crossing(part);
                    let unwrap = part.plain.then(|| quote!(.0));
                    quote!(#crossing::load(#name, __ckpt_tape) #unwrap)
                })
                .collect();
            let value = self.value(case, &loaded);
            quote!(#pattern => #value)
        });
        quote!(match __ckpt_stored { #(#arms,)* })
    }

    /// For each variant, the pattern of what is stored of it, and a call for each part.
    fn by_reference(
        &self,
        call: impl Fn(&Part, &TokenStream) -> TokenStream,
    ) -> impl Iterator<Item = (TokenStream, Vec<TokenStream>)> {
        self.cases().iter().map(move |case| {
            let names = names(case);
            let calls = case.parts.iter().zip(&names).map(|(part, name)| call(part, name)).collect();
            (Self::stored_value(case, &names), calls)
        })
    }

    /// A match on what is stored, which of an enum without variants is nothing.
    fn matched(&self, arms: impl Iterator<Item = TokenStream>) -> TokenStream {
        let stored = if self.cases().is_empty() { quote!(*__ckpt_stored) } else { quote!(__ckpt_stored) };
        quote!(match #stored { #(#arms,)* })
    }

    fn compare(&self) -> TokenStream {
        if self.cases().is_empty() {
            return quote!(match *__ckpt_first {});
        }
        let rt = &self.declaration.rt;
        let arms = self.cases().iter().map(|case| {
            let first = names(case);
            let again: Vec<_> =
                (0..first.len()).map(|i| format_ident!("__ckpt_again_{i}").into_token_stream()).collect();
            let calls: Vec<_> = case
                .parts
                .iter()
                .enumerate()
                .map(|(i, part)| {
                    let (crossing, a, b) = (self.crossing(part), &first[i], &again[i]);
                    quote!(#crossing::compare(#a, #b, __ckpt_tolerance))
                })
                .collect();
            let same = first_of(&calls);
            let (first, again) = (Self::stored_value(case, &first), Self::stored_value(case, &again));
            quote!((#first, #again) => #same)
        });
        let differ = (self.cases().len() > 1).then(|| {
            quote! {
                _ => ::core::option::Option::Some(#rt::Difference {
                    element: 0,
                    first: __ckpt_first.__ckpt_variant(),
                    again: __ckpt_again.__ckpt_variant(),
                }),
            }
        });
        quote!(match (__ckpt_first, __ckpt_again) { #(#arms,)* #differ })
    }

    /// The same value on other tapes: where the tape is a parameter, the type with another one.
    fn retape(&self) -> TokenStream {
        let (rt, dtype, device) = (&self.declaration.rt, &self.dtype, &self.device);
        let head = |tape: Option<&TokenStream>, forms: [TokenStream; 2]| {
            let (parameters, this, predicates) = self.header(tape);
            let [shared, owned] = forms;
            quote! {
                #[automatically_derived]
                impl<#(#parameters),*> #rt::Retape<#dtype, #device> for #this where #(#predicates,)* {
                    type Shared = #shared;
                    type Owned = #owned;
                    type Fed = #owned;
                }
            }
        };
        match &self.declaration.tape {
            Some(Tape::Fixed(_)) => TokenStream::new(),
            None => head(None, [quote!(Self), quote!(Self)]),
            // What is stored must be seen to be the same for each tape, which it is not of a type
            // of which nothing is known.
            Some(Tape::Parameter(_)) if self.tape_is_obscure() => TokenStream::new(),
            Some(Tape::Parameter(_)) => {
                let dfdx = quote!(#rt::__private::dfdx::tensor);
                let shared = quote!(#rt::SharedTape<#dtype, #device>);
                let owned = quote!(#dfdx::OwnedTape<#dtype, #device>);
                let forms = || [self.on(&shared), self.on(&owned)];
                let none = quote!(#dfdx::NoneTape);
                [&none, &owned, &shared].map(|tape| head(Some(tape), forms())).into_iter().collect()
            }
        }
    }

    fn tape_is_obscure(&self) -> bool {
        let d = self.declaration;
        d.variants.iter().flat_map(|c| &c.parts).any(|p| d.follows_tape(p) && d.depends_on_unbounded(p))
    }

    fn edge(&self) -> TokenStream {
        let rt = &self.declaration.rt;
        let tape = match &self.declaration.tape {
            Some(Tape::Parameter(name)) => name.to_token_stream(),
            Some(Tape::Fixed(ty)) => ty.to_token_stream(),
            None => quote!(#rt::__private::dfdx::tensor::NoneTape),
        };
        let parameters = self.declaration.generics.params.iter().map(undefaulted);
        let predicates = self.declaration.generics.where_clause.iter().flat_map(|w| &w.predicates);
        let this = self.this();
        quote! {
            #[automatically_derived]
            impl<#(#parameters),*> #rt::Edge for #this where #(#predicates,)* {
                type Tape = #tape;
            }
        }
    }

    fn this(&self) -> TokenStream {
        let name = &self.declaration.name;
        let arguments = self.declaration.generics.params.iter().map(parameter_name);
        quote!(#name<#(#arguments),*>)
    }

    /// The type on another tape.
    fn on(&self, tape: &TokenStream) -> TokenStream {
        match &self.declaration.tape {
            Some(Tape::Parameter(name)) => replaced(self.this(), name, tape),
            _ => self.this(),
        }
    }

    /// An impl's parameters, type and predicates; with `tape`, for that tape only.
    fn header(&self, tape: Option<&TokenStream>) -> (Vec<TokenStream>, TokenStream, Vec<TokenStream>) {
        let d = self.declaration;
        let (rt, dtype, device) = (&d.rt, &self.dtype, &self.device);
        let parameter = match &d.tape {
            Some(Tape::Parameter(name)) => Some(name),
            _ => None,
        };
        let fixed = |name: &Ident| tape.is_some() && parameter == Some(name);
        let own = d.generics.params.iter().filter(|p| !matches!(p, GenericParam::Type(p) if fixed(&p.ident)));
        let parameters = own.map(undefaulted).chain(self.added.iter().cloned());

        let mut predicates: Vec<TokenStream> =
            d.generics.where_clause.iter().flat_map(|w| &w.predicates).map(ToTokens::to_token_stream).collect();
        predicates.extend(d.generics.type_params().filter(|p| !fixed(&p.ident)).map(|p| {
            let name = &p.ident;
            quote!(#name: 'static)
        }));
        predicates.push(quote!(#dtype: #rt::Real));
        predicates.push(quote!(#device: #rt::__private::dfdx::tensor_ops::Device<#dtype>));
        if let Some(name) = parameter.filter(|_| tape.is_none()) {
            predicates.push(quote!(#name: #rt::InputTape<#dtype, #device>));
        }
        let asked = d.variants.iter().flat_map(|c| &c.parts).filter(|p| d.depends(p));
        predicates.extend(asked.filter(|p| tape.is_none() || !d.follows_tape(p)).map(|p| {
            let ty = self.part_type(p);
            quote!(#ty: #rt::Boundary<#dtype, #device>)
        }));
        let this = self.this();
        match (parameter, tape) {
            (Some(name), Some(tape)) => (
                parameters.map(|p| replaced(p, name, tape)).collect(),
                replaced(this, name, tape),
                predicates.into_iter().map(|p| replaced(p, name, tape)).collect(),
            ),
            _ => (parameters.collect(), this, predicates),
        }
    }
}

fn parameter_name(parameter: &GenericParam) -> TokenStream {
    match parameter {
        GenericParam::Type(p) => p.ident.to_token_stream(),
        GenericParam::Const(p) => p.ident.to_token_stream(),
        GenericParam::Lifetime(p) => p.lifetime.to_token_stream(),
    }
}

fn names(case: &Case) -> Vec<TokenStream> {
    (0..case.parts.len()).map(|i| binding(i).into_token_stream()).collect()
}

/// The first of several `Option`s that is there.
fn first_of(options: &[TokenStream]) -> TokenStream {
    match options {
        [] => quote!(::core::option::Option::None),
        [first, rest @ ..] => quote!(#first #(.or_else(|| #rest))*),
    }
}

/// A parameter as an impl declares it, without its default.
fn undefaulted(parameter: &GenericParam) -> TokenStream {
    let mut parameter = parameter.clone();
    match &mut parameter {
        GenericParam::Type(p) => p.default = None,
        GenericParam::Const(p) => p.default = None,
        GenericParam::Lifetime(_) => {}
    }
    parameter.into_token_stream()
}

/// `tokens` with `name` replaced by `by`.
fn replaced(tokens: TokenStream, name: &Ident, by: &TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(i) if i == *name => by.clone(),
            TokenTree::Group(g) => {
                let mut inner = Group::new(g.delimiter(), replaced(g.stream(), name, by));
                inner.set_span(g.span());
                TokenTree::Group(inner).into()
            }
            other => other.into(),
        })
        .collect()
}
