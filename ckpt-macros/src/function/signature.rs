//! The signature of a checkpointed function: which parameters are modules, which follow the
//! caller's tape, and which are constants.
//!
//! - `&M` and `&mut M` are modules, lent to the region.
//! - `Tensor<S, E, D>` follows the caller's tape. The first that is a parameter by itself says
//!   whose tape it is; further ones may come on any tape or untaped where that one is taped. A
//!   tensor inside an `Option`, a tuple or the like is on the first one's tape.
//! - Where there is no float tensor, the first `Tensor<S, usize, D>` is on the caller's tape.
//! - `_` as the last argument of a type of the user's (`Qkv<S, E, D, _>`) is the tape likewise.
//! - All else is a constant.
//!
//! The tape of each type is written as a [placeholder](tape_name) and replaced for each version.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    FnArg, GenericArgument, GenericParam, ItemFn, Pat, PatType, PathArguments, ReturnType, Type, TypeParamBound,
    TypePath, parse_quote,
    punctuated::Punctuated,
    visit::{self, Visit},
    visit_mut::{self, VisitMut},
};

use crate::{
    diagnostic::{Findings, codes},
    flow::{
        self, Access, Returns,
        types::{self, Tensor},
    },
    hygiene::spoken,
    options::Options,
    roles::{DEVICE_BOUNDS, DTYPE_BOUNDS, Roles, bounded},
    tensor_type::{TensorType, is, name_of, tensors},
};

/// A checkpointed function's signature, read.
#[derive(Debug)]
pub struct Signature {
    /// Its name.
    pub name: Ident,
    /// The dtype and the device.
    pub roles: Roles,
    /// Its lifetimes.
    pub lifetimes: Vec<TokenStream>,
    /// Its other generic parameters, those that stand for `impl Trait` arguments included.
    pub generics: Vec<GenericParam>,
    /// Its where-clause.
    pub predicates: Vec<TokenStream>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it returns; of a `Result`, the value. Placeholders for tapes.
    pub output: TokenStream,
    /// Whether that is in a `Result`.
    pub returns: Returns,
    /// How many tapes its parameters may come on.
    pub tapes: usize,
}

/// A parameter.
#[derive(Debug)]
pub enum Parameter {
    /// `&M` or `&mut M`.
    Module {
        /// Its name.
        name: Ident,
        /// How it is borrowed.
        access: Access,
        /// The lifetime of the borrow, if one is written.
        lifetime: Option<syn::Lifetime>,
        /// `M`.
        ty: Type,
    },
    /// A value.
    Value {
        /// As the user binds it.
        pat: Pat,
        /// As the user writes it.
        written: Type,
        /// With placeholders for tapes.
        ty: TokenStream,
        /// Whether a part of it is on a tape.
        taped: bool,
    },
}

/// The placeholder of the `i`th tape.
pub fn tape_name(i: usize) -> Ident {
    format_ident!("__CkptTape{i}")
}

impl Signature {
    /// Reads the signature; `None`, and a finding, where no version of it could be written.
    pub fn read(item: &ItemFn, options: &Options, findings: &mut Findings) -> Option<Self> {
        qualifiers(item, findings);
        let sig = &item.sig;
        // A method's are its impl's.
        let roles = sig.receiver().is_none().then(|| roles(item, options, findings)).flatten();
        let output = output(item, findings);
        let mut generics: Vec<GenericParam> = Vec::new();
        let mut lifetimes = Vec::new();
        for parameter in &sig.generics.params {
            match parameter {
                GenericParam::Lifetime(l) => lifetimes.push(l.to_token_stream()),
                other => generics.push(other.clone()),
            }
        }
        let mut arguments: Vec<PatType> = Vec::new();
        for input in &sig.inputs {
            match input {
                FnArg::Receiver(receiver) => findings.push(
                    codes::MISPLACED_MARK,
                    receiver,
                    "a method is not a checkpointed function: `self` is a module whose fields it would have to know",
                    "mark the impl `#[checkpointed]` and the parts of its forward `#[checkpoint]`, or take the modules as parameters",
                ),
                FnArg::Typed(argument) => arguments.push(argument.clone()),
            }
        }
        for argument in &mut arguments {
            findings_of_attributes(argument, findings);
            let mut named = ImplTraits(&mut generics);
            named.visit_type_mut(&mut argument.ty);
        }
        // Without them nothing can be said of the tapes.
        let roles = roles?;
        let mut tapes = Tapes::plan(&arguments, &roles);
        let parameters =
            arguments.into_iter().filter_map(|a| Parameter::read(a, &roles, &mut tapes, findings)).collect::<Vec<_>>();
        if !parameters.iter().any(|p| matches!(p, Parameter::Value { taped: true, .. })) {
            findings.push(
                codes::SIGNATURE,
                &sig.ident,
                "no parameter of this function can carry a tape, so no gradient could flow through it",
                "take a `Tensor<S, E, D>` by value (or a `Tensor<S, usize, D>`, where the modules embed it)",
            );
        }
        let (mut output, returns) = output?;
        write_tape(&mut output, &tape_name(0), &roles);
        let output = output.into_token_stream();
        let predicates =
            sig.generics.where_clause.iter().flat_map(|w| &w.predicates).map(ToTokens::to_token_stream).collect();
        let name = sig.ident.clone();
        let tapes = tapes.count.max(1);
        Some(Self { name, roles, lifetimes, generics, predicates, parameters, output, returns, tapes })
    }

    /// Its name, as users say it.
    pub fn spoken(&self) -> String {
        spoken(&self.name)
    }

    /// Whether `tokens` name one of its lifetimes.
    pub fn has_lifetime(&self, tokens: &TokenStream) -> bool {
        let text = tokens.to_string();
        self.lifetimes.iter().any(|l| text.contains(l.to_string().split(':').next().unwrap_or_default().trim()))
    }

    /// What the flow needs to know of the parameters.
    pub fn flow_parameters(&self) -> flow::Parameters {
        let mut parameters = flow::Parameters::default();
        for parameter in &self.parameters {
            match parameter {
                Parameter::Module { name, access, .. } => parameters.modules.push((name.clone(), *access)),
                Parameter::Value { pat, written, .. } => parameters.values.push((pat.clone(), written.clone())),
            }
        }
        parameters
    }
}

impl Parameter {
    fn read(argument: PatType, roles: &Roles, tapes: &mut Tapes, findings: &mut Findings) -> Option<Self> {
        let ty = match *argument.ty {
            Type::Group(group) => *group.elem,
            ty => ty,
        };
        if let Type::Reference(reference) = &ty
            && reference.lifetime.as_ref().is_none_or(|l| l.ident != "static")
        {
            return Self::module(*argument.pat, reference, roles, findings);
        }
        borrows(&ty, findings);
        written_tapes(&ty, findings);
        let direct = types::tensor_type(&ty, roles);
        let mut mapped = ty.clone();
        let taped = tapes.write(&mut mapped, direct, roles);
        Some(Self::Value { pat: *argument.pat, written: ty, ty: mapped.into_token_stream(), taped })
    }

    fn module(pat: Pat, reference: &syn::TypeReference, roles: &Roles, findings: &mut Findings) -> Option<Self> {
        let Pat::Ident(name) = &pat else {
            findings.push(
                codes::SIGNATURE,
                &pat,
                "a borrowed module is a parameter of one name: the region owns a clone of it as a whole",
                "name it here and take it apart in the body",
            );
            return None;
        };
        let ty = (*reference.elem).clone();
        if types::tensor_type(&ty, roles) == Some(Tensor::Float) && reference.mutability.is_some() {
            findings.push(
                codes::SIGNATURE,
                reference,
                "a tensor changed in place would be changed again when the region is recomputed",
                "take the tensor by value and return the new one",
            );
        }
        if is(&ty, "str") {
            findings.push(
                codes::SIGNATURE,
                reference,
                "a borrowed text cannot be kept until the region is recomputed",
                "take a `String` or a `&'static str`",
            );
        }
        Some(Self::Module {
            name: name.ident.clone(),
            access: if reference.mutability.is_some() { Access::Exclusive } else { Access::Shared },
            lifetime: reference.lifetime.clone(),
            ty,
        })
    }
}

/// Hands out the tapes of a signature's types.
struct Tapes {
    /// Whether an index tensor that is a parameter by itself takes the tape: nothing else can.
    by_index: bool,
    count: usize,
    direct: usize,
}

impl Tapes {
    fn plan(arguments: &[PatType], roles: &Roles) -> Self {
        let by_value = || arguments.iter().map(|a| &*a.ty).filter(|ty| !matches!(ty, Type::Reference(_)));
        let float = by_value().any(|ty| types::has_float(ty, roles) || has_placeholder(ty));
        Self { by_index: !float, count: 0, direct: 0 }
    }

    /// Writes placeholders into `ty`; whether there was room for any.
    fn write(&mut self, ty: &mut Type, direct: Option<Tensor>, roles: &Roles) -> bool {
        let takes = direct == Some(Tensor::Float) || (direct == Some(Tensor::Index) && self.by_index);
        let number = match takes {
            // A second index tensor is untaped, as everywhere.
            true if self.by_index => {
                if self.direct > 0 {
                    return false;
                }
                0
            }
            true => self.direct,
            false => 0,
        };
        self.direct += usize::from(takes);
        self.count = self.count.max(number + 1);
        let tape = tape_name(number);
        if takes && self.by_index {
            if let Type::Path(p) = ty {
                types::push_tape(&mut p.path, &tape.to_token_stream());
            }
            return true;
        }
        write_tape(ty, &tape, roles)
    }
}

/// Writes `tape` into every float tensor of `ty`, and where a `_` stands for it.
fn write_tape(ty: &mut Type, tape: &Ident, roles: &Roles) -> bool {
    struct Write<'a>(&'a Ident, &'a Roles, bool);
    impl VisitMut for Write<'_> {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            match ty {
                // What a function takes and gives is its own affair.
                Type::FnPtr(_) | Type::ImplTrait(_) | Type::TraitObject(_) => {}
                Type::Infer(_) => {
                    let tape = self.0;
                    *ty = parse_quote!(#tape);
                    self.2 = true;
                }
                _ => visit_mut::visit_type_mut(self, ty),
            }
        }
        fn visit_type_path_mut(&mut self, path: &mut TypePath) {
            visit_mut::visit_type_path_mut(self, path);
            if types::tensor(&path.path, self.1) == Some(Tensor::Float) {
                types::push_tape(&mut path.path, &self.0.to_token_stream());
                self.2 = true;
            }
        }
    }
    let mut write = Write(tape, roles, false);
    write.visit_type_mut(ty);
    write.2
}

fn has_placeholder(ty: &Type) -> bool {
    struct Find(bool);
    impl<'ast> Visit<'ast> for Find {
        fn visit_type_infer(&mut self, _: &'ast syn::TypeInfer) {
            self.0 = true;
        }
    }
    let mut find = Find(false);
    find.visit_type(ty);
    find.0
}

/// Gives each `impl Trait` argument a name, and asks what a constant of a region must be.
struct ImplTraits<'a>(&'a mut Vec<GenericParam>);

impl VisitMut for ImplTraits<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::ImplTrait(anonymous) = ty {
            let name = format_ident!("__CkptImpl{}", self.0.len());
            let mut bounds: Punctuated<TypeParamBound, syn::Token![+]> = anonymous.bounds.clone();
            bounds.push(parse_quote!(::core::clone::Clone));
            bounds.push(parse_quote!('static));
            self.0.push(parse_quote!(#name: #bounds));
            *ty = parse_quote!(#name);
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

fn qualifiers(item: &ItemFn, findings: &mut Findings) {
    let sig = &item.sig;
    let mut refuse = |at: TokenStream, what: &str, help: &str| {
        if !at.is_empty() {
            findings.push(codes::SIGNATURE, at, format!("a checkpointed function cannot be {what}"), help);
        }
    };
    refuse(
        sig.asyncness.to_token_stream(),
        "`async`: its body runs again in the backward pass, where nothing can wait",
        "remove `async`",
    );
    refuse(
        sig.safety.to_token_stream(),
        "`unsafe`: its caller's promises would have to hold in the backward pass too",
        "remove `unsafe`, and do what is unsafe outside of the region",
    );
    refuse(sig.constness.to_token_stream(), "`const`: it records on a tape", "remove `const`");
    refuse(sig.abi.to_token_stream(), "`extern`: it is generic over the caller's tape", "remove `extern`");
    refuse(sig.variadic.to_token_stream(), "variadic", "name its parameters");
    if let Some(again) = item.attrs.iter().find(|a| a.path().segments.last().is_some_and(|s| s.ident == "checkpoint")) {
        findings.push(
            codes::OPTION_TWICE,
            again,
            "this function is marked `#[checkpoint]` twice",
            "keep one `#[checkpoint]`, with the options of both",
        );
    }
}

/// Attributes of parameters that could not be kept in every version.
fn findings_of_attributes(argument: &PatType, findings: &mut Findings) {
    for attr in argument.attrs.iter().filter(|a| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr")) {
        findings.push(
            codes::SIGNATURE,
            attr,
            "a parameter of a checkpointed function cannot be there by configuration",
            "put the `#[cfg]` on two versions of the function",
        );
    }
}

/// A borrow inside a value.
fn borrows(ty: &Type, findings: &mut Findings) {
    struct Borrows<'a>(&'a mut Findings);
    impl<'ast> Visit<'ast> for Borrows<'_> {
        fn visit_type(&mut self, ty: &'ast Type) {
            if !matches!(ty, Type::FnPtr(_) | Type::ImplTrait(_) | Type::TraitObject(_)) {
                visit::visit_type(self, ty);
            }
        }
        fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
            if reference.lifetime.as_ref().is_none_or(|l| l.ident != "static") {
                self.0.push(
                    codes::SIGNATURE,
                    reference,
                    "a borrow inside a value cannot be kept until the region is recomputed",
                    "take modules as parameters by `&` or `&mut`, and other values by value",
                );
            }
        }
    }
    Borrows(findings).visit_type(ty);
}

/// A tape that the user wrote out.
fn written_tapes(ty: &Type, findings: &mut Findings) {
    for tape in tensors(ty).into_iter().filter_map(|t| t.tape) {
        let untaped = name_of(tape).is_some_and(|n| n == "NoneTape") || matches!(tape, Type::Infer(_));
        if !untaped && !tape.to_token_stream().to_string().ends_with("NoneTape") {
            findings.push(
                codes::SIGNATURE,
                tape,
                "the signature of a checkpointed function carries no tape: it follows the caller's",
                "write `Tensor<S, E, D>`",
            );
        }
    }
}

/// The dtype and device: generic, or those of the first float tensor.
fn roles(item: &ItemFn, options: &Options, findings: &mut Findings) -> Option<Roles> {
    let generics = &item.sig.generics;
    let generic = |named: &Option<Ident>, bounds| named.is_some() || bounded(generics, bounds).is_some();
    if !generic(&options.dtype, DTYPE_BOUNDS) || !generic(&options.device, DEVICE_BOUNDS) {
        let types = item.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(argument) => Some(&*argument.ty),
            FnArg::Receiver(_) => None,
        });
        let found: Vec<TensorType<'_>> = types.flat_map(tensors).collect();
        if let Some(float) = found.iter().find(|t| t.is_float())
            && let (Some(dtype), Some(device)) = (name_of(float.dtype), name_of(float.device))
        {
            return Some(Roles { dtype: dtype.clone(), device: device.clone() });
        }
    }
    Roles::find(generics, options, &item.sig.ident, findings)
}

/// What is returned, and whether in a `Result`.
fn output(item: &ItemFn, findings: &mut Findings) -> Option<(Type, Returns)> {
    let ReturnType::Type(_, written) = &item.sig.output else {
        findings.push(
            codes::SIGNATURE,
            &item.sig.ident,
            "this function returns nothing, so no gradient could flow through it",
            "return a `Tensor<S, E, D>`",
        );
        return None;
    };
    let (ty, returns) = match value_of_result(written) {
        Some(value) => (value, Returns::Result),
        None => ((**written).clone(), Returns::Value),
    };
    if let Some(anonymous) = first_impl_trait(&ty) {
        findings.push(
            codes::SIGNATURE,
            anonymous,
            "what a region returns is a type with a name: it crosses its edge",
            "write the type out",
        );
    }
    borrows(&ty, findings);
    written_tapes(&ty, findings);
    Some((ty, returns))
}

/// The `T` of a `Result<T, _>`.
fn value_of_result(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    }
}

fn first_impl_trait(ty: &Type) -> Option<TokenStream> {
    struct Find(Option<TokenStream>);
    impl<'ast> Visit<'ast> for Find {
        fn visit_type_impl_trait(&mut self, ty: &'ast syn::TypeImplTrait) {
            self.0.get_or_insert_with(|| ty.to_token_stream());
        }
    }
    let mut find = Find(None);
    find.visit_type(ty);
    find.0
}

/// `tokens` with every placeholder replaced by its tape.
pub fn with_tapes(tokens: &TokenStream, tape: &impl Fn(usize) -> TokenStream) -> TokenStream {
    let token = |token: TokenTree| -> TokenStream {
        match token {
            TokenTree::Ident(i) => match i.to_string().strip_prefix("__CkptTape").and_then(|n| n.parse().ok()) {
                Some(n) => tape(n),
                None => quote!(#i),
            },
            TokenTree::Group(g) => {
                let mut inner = Group::new(g.delimiter(), with_tapes(&g.stream(), tape));
                inner.set_span(g.span());
                TokenTree::Group(inner).into()
            }
            other => other.into(),
        }
    };
    tokens.clone().into_iter().map(token).collect()
}
