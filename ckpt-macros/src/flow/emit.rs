//! `#[checkpointed] impl`: the methods of each pass, and the module traits over them.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Attribute, FnArg, GenericParam, Generics, ImplItem, ImplItemFn, ItemImpl, ReceiverKind, ReturnType, Type,
    WhereClause, parse_quote, visit_mut::VisitMut,
};

use super::{
    Body, Context, Failure, Parameters, Pass, Returns, Twin,
    bounds::{Bounds, bounded},
    helpers, regions,
    signature::{self, Edge, Takes},
    twin_name,
};
use crate::{
    check,
    declare::at,
    diagnostic::{Findings, codes},
    options::{self, Options},
    roles::Roles,
};

/// Expands `#[checkpointed(options)]` on an impl.
pub fn expand_impl(options: TokenStream, item: ItemImpl) -> TokenStream {
    let mut findings = Findings::new();
    let options = Options::of_tokens(options, options::IMPL, &mut findings);
    let expansion = Expansion::read(&options, &item, &mut findings);
    let out = match &expansion {
        Some(e) if findings.is_empty() => e.all(),
        Some(e) => e.in_place_of_a_faulty_body(&item),
        None => fallback(&item),
    };
    let errors = findings.into_tokens();
    quote!(#errors #out)
}

/// A method, read.
struct Method {
    item: ImplItemFn,
    body: Body,
    cx: Context,
    returns: Returns,
    output: Type,
}

struct Expansion {
    cx: Context,
    generics: Generics,
    self_ty: Type,
    forward: Method,
    edge: Edge,
    /// Methods that have a version for each pass.
    twins: Vec<Method>,
    /// Everything else in the impl, as it is.
    rest: Vec<ImplItem>,
}

impl Expansion {
    fn read(options: &Options, item: &ItemImpl, findings: &mut Findings) -> Option<Self> {
        if let Some((path, _)) = &item.trait_ {
            findings.push(
                codes::MISPLACED_MARK,
                path,
                "the macro implements the module traits itself",
                "write the forward in an impl of the type's own: `impl<..> Block<..> { fn forward(&self, ..) }`",
            );
            return None;
        }
        let rt = options.runtime();
        let owner = type_name(&item.self_ty);
        let roles = Roles::find(&item.generics, options, &item.self_ty, findings)?;
        let methods: Vec<&ImplItemFn> = item
            .items
            .iter()
            .filter_map(|i| match i {
                ImplItem::Fn(f) => Some(f),
                _ => None,
            })
            .collect();
        let Some(forward) = methods.iter().find(|m| m.sig.ident == "forward") else {
            findings.push(
                codes::SIGNATURE,
                &item.self_ty,
                "this impl has no `forward`",
                "write `fn forward(&self, x: Tensor<.., E, D>) -> Tensor<.., E, D>`",
            );
            return None;
        };
        let split = helpers::split(&methods, &roles);
        let twins: Vec<Twin> = split
            .twins
            .iter()
            .chain([forward])
            .map(|m| Twin {
                name: m.sig.ident.clone(),
                receiver: m.sig.receiver().is_some(),
                returns_result: signature::output(&m.sig).0 == Returns::Result,
            })
            .collect();
        let name = options.name.as_ref().map_or(owner, syn::LitStr::value);
        let cx = Context {
            roles,
            rt,
            owner: name,
            twins,
            plain_methods: split.plain.iter().map(|m| m.sig.ident.clone()).collect(),
            allow: options.allow.clone(),
            replayed: false,
        };
        let replayed = check::replayed(&methods);
        let edge = Edge::read(&forward.sig, &cx.roles, &cx.rt, findings);
        let read = |m: &ImplItemFn, owner: String, findings: &mut Findings| {
            let replayed = replayed.contains(&m.sig.ident.to_string());
            let cx = Context { owner, replayed, ..cx.clone() };
            Method::read(m, cx, findings)
        };
        for helper in split.plain.iter().filter(|m| replayed.contains(&m.sig.ident.to_string())) {
            // Read for what is wrong in it; it stays as it is.
            read(helper, cx.owner.clone(), findings);
        }
        let forward = read(forward, cx.owner.clone(), findings);
        let twins: Vec<_> =
            split.twins.iter().map(|m| read(m, format!("{}.{}", cx.owner, m.sig.ident), findings)).collect();
        for m in &methods {
            misplaced(&m.attrs, findings);
        }
        split.changes_state(forward.item.sig.ident.clone(), findings);
        let marked = forward.body.regions() + twins.iter().map(|t| t.body.regions()).sum::<usize>();
        if marked == 0 && !options.allows("nothing_marked") {
            findings.push(
                codes::NOTHING_MARKED,
                &forward.item.sig.ident,
                "nothing in this impl is marked",
                "write `#[checkpoint]` on a `let`, a block or a loop of the forward, or, for a part of a larger model that marks it there, `#[checkpointed(allow(nothing_marked))]` on the impl",
            );
        }
        let is_twin = |name: &Ident| twins.iter().any(|t| t.item.sig.ident == *name);
        let rest = item.items.iter().filter(|i| match i {
            ImplItem::Fn(f) => f.sig.ident != "forward" && !is_twin(&f.sig.ident),
            _ => true,
        });
        Some(Self {
            generics: item.generics.clone(),
            self_ty: (*item.self_ty).clone(),
            edge: edge?,
            rest: rest.cloned().collect(),
            cx,
            forward,
            twins,
        })
    }

    fn all(&self) -> TokenStream {
        let training = Bounds::Training { replayed: self.recomputes() };
        let hidden_training = self.hidden_training();
        let hidden_inference = self.hidden_inference();
        let traits = [self.inference_traits(), self.training_traits(training)].concat();
        let train = self.inherent(training, &hidden_training);
        let infer = self.inherent(Bounds::Inference, &hidden_inference);
        let own = self.own_items(|t| {
            // What the forward reaches is in use, if under another name.
            let reached = [false, true]
                .map(|replayed| twin_name(&t.item.sig.ident, Pass::Training { replayed }))
                .iter()
                .any(|name| contains(&hidden_training, name));
            let dead = reached.then(|| quote!(dead_code,));
            (quote!(#dead unused_braces), t.emit(Pass::Inference, own_failure(t)))
        });
        quote! {
            #own
            const _: () = {
                #infer
                #train
                #(#traits)*
            };
        }
    }

    /// Whether any region of the impl recomputes.
    fn recomputes(&self) -> bool {
        self.forward.body.recomputes() || self.twins.iter().any(|t| t.body.recomputes())
    }

    /// The same surface with bodies that say nothing, beside findings: one mistake, one message.
    fn in_place_of_a_faulty_body(&self, item: &ItemImpl) -> TokenStream {
        let nothing = quote!({ ::core::unreachable!() });
        let own = self.own_items(|_| (quote!(unused), nothing.clone()));
        let (generics, edge) = (self.with_method_generics(), &self.edge);
        let error = self.error();
        let nn = self.nn();
        let self_ty = &item.self_ty;
        let impls = [Bounds::Inference, Bounds::Training { replayed: false }].map(|bounds| {
            let mut generics = bounded(&generics, bounds, &self.cx);
            let (input, output) = if bounds == Bounds::Inference {
                (edge.input(), edge.output.to_token_stream())
            } else {
                self.add_tapes(&mut generics);
                (edge.taped_input(), edge.taped_output(&self.cx.roles, &self.cx.rt))
            };
            let (params, _, clause) = generics.split_for_impl();
            let clause = self.real(clause);
            quote! {
                #[automatically_derived]
                impl #params #nn::Module<#input> for #self_ty #clause {
                    type Output = #output;
                    type Error = #error;
                    fn try_forward(&self, _: #input) -> ::core::result::Result<#output, #error> #nothing
                }
                #[automatically_derived]
                impl #params #nn::ModuleMut<#input> for #self_ty #clause {
                    type Output = #output;
                    type Error = #error;
                    fn try_forward_mut(&mut self, _: #input) -> ::core::result::Result<#output, #error> #nothing
                }
            }
        });
        quote!(#own const _: () = { #(#impls)* };)
    }

    /// The impls of the user's own items. What the macro rewrites, and what calls that, asks of the
    /// dtype what layers ask; all else keeps the bounds that it has, so that it can be called where
    /// the user's own can.
    fn own_items(&self, version: impl Fn(&Method) -> (TokenStream, TokenStream)) -> TokenStream {
        let calling = self.calling();
        let (bound, free): (Vec<_>, Vec<_>) = self.rest.iter().partition(|i| calling.contains(&item_name(i)));
        let self_ty = &self.self_ty;
        let (params, _, clause) = self.generics.split_for_impl();
        let free = (!free.is_empty()).then(|| quote!(impl #params #self_ty #clause { #(#free)* }));
        if bound.is_empty() && self.twins.is_empty() {
            return free.unwrap_or_default();
        }
        let generics = bounded(&self.generics, Bounds::Inference, &self.cx);
        let (params, _, clause) = generics.split_for_impl();
        let clause = self.real(clause);
        // Helpers for inference, with the lints to allow and the bodies that `version` gives.
        let helpers = self.twins.iter().map(|t| {
            let (attrs, vis) = (&t.item.attrs, &t.item.vis);
            let mut sig = t.item.sig.clone();
            sig.generics = bounded(&sig.generics, Bounds::Inference, &self.cx);
            let (allow, body) = version(t);
            quote!(#(#attrs)* #[allow(#allow)] #vis #sig #body)
        });
        quote! {
            #free
            impl #params #self_ty #clause {
                #(#bound)*
                #(#helpers)*
            }
        }
    }

    /// The names of the items that stay as they are but reach the forward or a helper with versions.
    fn calling(&self) -> BTreeSet<String> {
        let forwards = ["forward", "try_forward", "forward_mut", "try_forward_mut"].map(|name| format_ident!("{name}"));
        let mut reached: Vec<Ident> = self.twins.iter().map(|t| t.item.sig.ident.clone()).chain(forwards).collect();
        let mut calling = BTreeSet::new();
        loop {
            let next = self.rest.iter().find(|i| {
                let tokens = i.to_token_stream();
                !calling.contains(&item_name(i)) && reached.iter().any(|name| contains(&tokens, name))
            });
            let Some(item) = next else { return calling };
            calling.insert(item_name(item));
            if let ImplItem::Fn(f) = item {
                reached.push(f.sig.ident.clone());
            }
        }
    }

    /// `forward` and the helpers that it reaches, as they train.
    fn hidden_training(&self) -> TokenStream {
        let first = Pass::Training { replayed: false };
        let mut wanted = vec![(&self.forward, first)];
        let mut out = TokenStream::new();
        let mut at = 0;
        while let Some((method, pass)) = wanted.get(at).copied() {
            at += 1;
            let body = method.emit(pass, Failure::Returned);
            for pass in [first, Pass::Training { replayed: true }] {
                for m in self.twins.iter().chain([&self.forward]) {
                    let seen = wanted.iter().any(|(w, p)| std::ptr::eq(*w, m) && *p == pass);
                    if !seen && contains(&body, &twin_name(&m.item.sig.ident, pass)) {
                        wanted.push((m, pass));
                    }
                }
            }
            out.extend(self.hidden(method, pass, &body));
        }
        out
    }

    fn hidden_inference(&self) -> TokenStream {
        let mut wanted = vec![&self.forward];
        let mut out = TokenStream::new();
        let mut at = 0;
        let mut bodies: Vec<TokenStream> = Vec::new();
        // What a helper's own version calls is wanted too, whether the forward calls it or not.
        bodies.extend(self.twins.iter().map(|t| t.emit(Pass::Inference, own_failure(t))));
        loop {
            for m in self.twins.iter().chain([&self.forward]) {
                let name = twin_name(&m.item.sig.ident, Pass::Inference);
                let seen = wanted.iter().any(|w| std::ptr::eq(*w, m));
                if !seen && bodies.iter().any(|b| contains(b, &name)) {
                    wanted.push(m);
                }
            }
            let Some(method) = wanted.get(at).copied() else { break };
            at += 1;
            let body = method.emit(Pass::Inference, Failure::Returned);
            out.extend(self.hidden(method, Pass::Inference, &body));
            bodies.push(body);
        }
        out
    }

    /// A hidden version of a method: its signature returns a `Result`.
    fn hidden(&self, method: &Method, pass: Pass, body: &TokenStream) -> TokenStream {
        let cx = &self.cx;
        let mut sig = method.item.sig.clone();
        sig.ident = twin_name(&sig.ident, pass);
        let mut output = method.output.clone();
        if let Pass::Training { replayed } = pass {
            let tape = signature::shared_tape(&cx.roles, &cx.rt);
            // A region may run a child again in whatever the forward reaches.
            let replayed = replayed || self.recomputes();
            sig.generics = bounded(&sig.generics, Bounds::Training { replayed }, cx);
            signature::share(&mut sig, &cx.roles, &cx.rt);
            output = super::types::retaped(&output, &cx.roles, tape.clone());
            let mut at = 0;
            if let Some(FnArg::Receiver(r)) = sig.inputs.first_mut()
                && let ReceiverKind::Reference(_, _, mutable) = &mut r.kind
            {
                *mutable = Some(Default::default());
                at = 1;
            }
            sig.inputs.insert(at, parse_quote!(__ckpt_tape: &#tape));
        } else {
            sig.generics = bounded(&sig.generics, Bounds::Inference, cx);
        }
        if method.returns != Returns::Result {
            let error = self.error();
            sig.output = parse_quote!(-> ::core::result::Result<#output, #error>);
        }
        let attrs = method.item.attrs.iter().filter(|a| a.path().is_ident("cfg"));
        let allow = match pass {
            Pass::Training { .. } => quote!(
                // What there is to say about the user's code is said of the version for inference.
                #[allow(unused, deprecated, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
            ),
            Pass::Inference => quote!(
                #[allow(
                    unused_braces, clippy::unnecessary_wraps, clippy::let_and_return, clippy::redundant_clone,
                    clippy::needless_question_mark, clippy::too_many_arguments, clippy::type_complexity
                )]
            ),
        };
        quote!(#(#attrs)* #[doc(hidden)] #allow #sig #body)
    }

    fn inherent(&self, bounds: Bounds, items: &TokenStream) -> TokenStream {
        let generics = bounded(&self.generics, bounds, &self.cx);
        let (params, _, clause) = generics.split_for_impl();
        let clause = self.real(clause);
        let self_ty = &self.self_ty;
        quote!(#[automatically_derived] impl #params #self_ty #clause { #items })
    }

    fn inference_traits(&self) -> Vec<TokenStream> {
        let generics = bounded(&self.with_method_generics(), Bounds::Inference, &self.cx);
        let (params, _, clause) = generics.split_for_impl();
        let clause = self.real(clause);
        let (nn, error, self_ty) = (self.nn(), self.error(), &self.self_ty);
        let (input, output) = (self.edge.input(), &self.edge.output);
        let (names, unpack) = self.unpack();
        let forward = twin_name(&self.forward.item.sig.ident, Pass::Inference);
        let rt = &self.cx.rt;
        let docs = self.forward.item.attrs.iter().filter(|a| a.path().is_ident("doc"));
        vec![quote! {
            #[automatically_derived]
            impl #params #nn::Module<#input> for #self_ty #clause {
                type Output = #output;
                type Error = #error;
                #(#docs)*
                fn try_forward(&self, __ckpt_input: #input) -> ::core::result::Result<Self::Output, Self::Error> {
                    #unpack
                    self.#forward(#(#names),*)
                }
                fn forward(&self, __ckpt_input: #input) -> Self::Output {
                    #rt::__private::expect(#nn::Module::try_forward(self, __ckpt_input))
                }
            }
            #[automatically_derived]
            impl #params #nn::ModuleMut<#input> for #self_ty #clause {
                type Output = #output;
                type Error = #error;
                fn try_forward_mut(&mut self, __ckpt_input: #input) -> ::core::result::Result<Self::Output, Self::Error> {
                    #nn::Module::try_forward(self, __ckpt_input)
                }
                fn forward_mut(&mut self, __ckpt_input: #input) -> Self::Output {
                    #rt::__private::expect(#nn::Module::try_forward(self, __ckpt_input))
                }
            }
        }]
    }

    fn training_traits(&self, bounds: Bounds) -> Vec<TokenStream> {
        let mut generics = bounded(&self.with_method_generics(), bounds, &self.cx);
        self.add_tapes(&mut generics);
        let (params, _, clause) = generics.split_for_impl();
        let clause = self.real(clause);
        let (rt, e, d) = (&self.cx.rt, &self.cx.roles.dtype, &self.cx.roles.device);
        let (nn, error, self_ty) = (self.nn(), self.error(), &self.self_ty);
        let input = self.edge.taped_input();
        let output = self.edge.taped_output(&self.cx.roles, rt);
        let (names, unpack) = self.unpack();
        let forward = twin_name(&self.forward.item.sig.ident, Pass::Training { replayed: false });
        let held = quote_spanned!(at(self_ty)=> #rt::__private::held_policy(self));
        let enter: TokenStream = names
            .iter()
            .zip(&self.edge.inputs)
            .map(|(name, ty)| quote_spanned!(at(ty)=> let #name = #rt::__private::entered::<#e, #d, _, _>(#name, &__ckpt_tape);))
            .collect();
        vec![quote! {
            #[automatically_derived]
            impl #params #nn::ModuleMut<#input> for #self_ty #clause {
                type Output = #output;
                type Error = #error;
                fn try_forward_mut(&mut self, __ckpt_input: #input) -> ::core::result::Result<Self::Output, Self::Error> {
                    let __ckpt_policy = #held;
                    #rt::__private::under(&__ckpt_policy, || {
                        let __ckpt_training = #rt::__private::Training::begins();
                        let __ckpt_tape = #rt::SharedTape::<#e, #d>::open();
                        #unpack
                        #enter
                        let __ckpt_output = self.#forward(&__ckpt_tape, #(#names),*)?;
                        #rt::__private::leave(__ckpt_output, __ckpt_tape)
                    })
                }
                fn forward_mut(&mut self, __ckpt_input: #input) -> Self::Output {
                    #rt::__private::expect(#nn::ModuleMut::try_forward_mut(self, __ckpt_input))
                }
            }
            #[automatically_derived]
            impl #params #nn::Module<#input> for #self_ty #clause
                // No error where a layer keeps state: then there is no training through `&self`.
                for<'__ckpt> Self: #rt::Stateless,
                for<'__ckpt> Self: ::core::clone::Clone,
            {
                type Output = #output;
                type Error = #error;
                fn try_forward(&self, __ckpt_input: #input) -> ::core::result::Result<Self::Output, Self::Error> {
                    let mut __ckpt_module = ::core::clone::Clone::clone(self);
                    #nn::ModuleMut::try_forward_mut(&mut __ckpt_module, __ckpt_input)
                }
                fn forward(&self, __ckpt_input: #input) -> Self::Output {
                    #rt::__private::expect(#nn::Module::try_forward(self, __ckpt_input))
                }
            }
        }]
    }

    /// The names of the inputs in a trait's method, and how they come out of its one argument.
    fn unpack(&self) -> (Vec<Ident>, TokenStream) {
        let n = self.edge.inputs.len();
        let names: Vec<_> = (0..n).map(|i| format_ident!("__ckpt_input{i}")).collect();
        let unpack = match &names[..] {
            [one] => quote!(let #one = __ckpt_input;),
            several => quote!(let (#(#several),*) = __ckpt_input;),
        };
        (names, unpack)
    }

    /// The generics of the impl and of the forward together: a trait's impl has both.
    fn with_method_generics(&self) -> Generics {
        let mut generics = self.generics.clone();
        let own = &self.forward.item.sig.generics;
        let types = own.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_)));
        generics.params.extend(types.cloned());
        if let Some(clause) = &own.where_clause {
            let predicates = clause.predicates.iter().cloned();
            generics.make_where_clause().predicates.extend(predicates);
        }
        generics
    }

    fn add_tapes(&self, generics: &mut Generics) {
        let (rt, e, d) = (&self.cx.rt, &self.cx.roles.dtype, &self.cx.roles.device);
        for tape in &self.edge.tapes {
            generics.params.push(parse_quote!(#tape: #rt::InputTape<#e, #d>));
        }
    }

    /// A where-clause that also asks of the dtype what layers ask, with a trailing comma.
    fn real(&self, clause: Option<&WhereClause>) -> TokenStream {
        let (rt, e) = (&self.cx.rt, &self.cx.roles.dtype);
        let predicates = clause.iter().flat_map(|c| &c.predicates);
        quote!(where #(#predicates,)* #e: #rt::Real,)
    }

    fn nn(&self) -> TokenStream {
        let rt = &self.cx.rt;
        quote!(#rt::__private::dfdx::nn)
    }

    fn error(&self) -> TokenStream {
        let (rt, d) = (&self.cx.rt, &self.cx.roles.device);
        quote!(<#d as #rt::__private::dfdx::tensor::HasErr>::Err)
    }
}

impl Method {
    fn read(item: &ImplItemFn, cx: Context, findings: &mut Findings) -> Self {
        let (returns, output) = signature::output(&item.sig);
        let parameters: Parameters = signature::parameters(&item.sig, &cx.roles);
        let body = Body::read(&item.block, &parameters, returns, &cx, findings);
        let mut item = item.clone();
        item.attrs.retain(|a| !regions::is_mark(a));
        Self { item, body, cx, returns, output }
    }

    fn emit(&self, pass: Pass, failure: Failure) -> TokenStream {
        self.body.emit(pass, failure, &self.cx)
    }
}

/// How a helper fails under its own name, where it keeps the user's signature.
fn own_failure(helper: &Method) -> Failure {
    if helper.returns == Returns::Result { Failure::Returned } else { Failure::Panic }
}

fn misplaced(attrs: &[Attribute], findings: &mut Findings) {
    for mark in attrs.iter().filter(|a| regions::is_mark(a)) {
        findings.push(
            codes::MISPLACED_MARK,
            mark,
            "a method cannot be marked",
            "mark the `let` or the block that calls it",
        );
    }
}

fn contains(tokens: &TokenStream, name: &Ident) -> bool {
    tokens.clone().into_iter().any(|t| match t {
        TokenTree::Ident(i) => i == *name,
        TokenTree::Group(g) => contains(&g.stream(), name),
        _ => false,
    })
}

/// What an item of an impl is called.
fn item_name(item: &ImplItem) -> String {
    match item {
        ImplItem::Fn(f) => f.sig.ident.to_string(),
        ImplItem::Const(c) => c.ident.to_string(),
        ImplItem::Type(t) => t.ident.to_string(),
        other => other.to_token_stream().to_string(),
    }
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    }
    .unwrap_or_else(|| "Self".to_owned())
}

/// The user's impl beside errors that leave nothing to expand: its signatures without its marks.
fn fallback(item: &ItemImpl) -> TokenStream {
    struct Strip;
    impl VisitMut for Strip {
        fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
            attrs.retain(|a| !regions::is_mark(a));
        }
        fn visit_impl_item_fn_mut(&mut self, f: &mut ImplItemFn) {
            self.visit_attributes_mut(&mut f.attrs);
            // Its body may be one that only the macro can read.
            if f.sig.ident == "forward" || !matches!(f.sig.output, ReturnType::Default) {
                f.block = parse_quote!({ ::core::unreachable!() });
                f.attrs.push(parse_quote!(#[allow(unused_variables)]));
            }
        }
    }
    let mut item = item.clone();
    Strip.visit_item_impl_mut(&mut item);
    item.into_token_stream()
}

/// Whether a method can have a version for each pass.
pub fn can_twin(m: &ImplItemFn) -> bool {
    matches!(signature::takes(&m.sig), Takes::Shared | Takes::Nothing)
}

#[cfg(test)]
mod tests;
