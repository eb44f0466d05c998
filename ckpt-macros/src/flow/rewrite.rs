//! The body for one pass: module calls, `self`, regions and returns as calls of the run time.
//!
//! Works on a block that `scope` and `liveness` have been over. Goes from the outside in, since a
//! region's inside is written differently: it captures nothing, so fields come in as parameters.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{
    Block, Expr, Macro, Member, Pat, Path, Stmt, Token,
    ext::IdentExt,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

use super::{
    Access, Body, Context, Failure, Pass, Returns,
    arguments::{self, Arguments},
    liveness::Edges,
    names::{LocalId, encode},
    places::{self, Root},
    regions::{self, region_of},
    scope::bound,
    selfuse::SelfUse,
    types::Retape,
};

/// Writes `block` for one pass.
pub fn write(
    mut block: Block,
    body: &Body,
    edges: &[Edges],
    pass: Pass,
    failure: Failure,
    cx: &Context,
) -> TokenStream {
    let mut w = Writer {
        cx,
        body,
        edges,
        training: pass != Pass::Inference,
        replayed: pass == Pass::Training { replayed: true },
        failure,
        returned: (failure == Failure::Returned).then_some(body.returns),
        me: Me::Itself,
    };
    w.visit_block_mut(&mut block);
    w.finish(&mut block);
    body.locals.restore(block.into_token_stream())
}

/// How `self` is written where the walk is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Me {
    /// As it is.
    Itself,
    /// By a parameter for each field.
    Fields,
    /// By one parameter for all of it.
    Whole,
}

struct Writer<'a> {
    cx: &'a Context,
    body: &'a Body,
    edges: &'a [Edges],
    training: bool,
    /// Whether a region around here recomputes.
    replayed: bool,
    failure: Failure,
    /// What `return` here returns from: none in a closure of the user's, or where the body keeps
    /// the user's own type.
    returned: Option<Returns>,
    me: Me,
}

/// What a region hands out.
struct Outputs {
    /// Expressions at the end of its body.
    inside: Vec<TokenStream>,
}

impl Writer<'_> {
    fn finish(&self, block: &mut Block) {
        if self.returned.is_none_or(|r| r == Returns::Result) {
            return;
        }
        match block.stmts.last_mut() {
            Some(Stmt::Expr(Expr::Return(_), _)) => {}
            Some(Stmt::Expr(value, semi @ None)) => {
                *value = Expr::Verbatim(quote!(::core::result::Result::Ok(#value)));
                *semi = None;
            }
            Some(Stmt::Macro(m)) if m.semi_token.is_none() => {
                let value = &m.mac;
                let ok = Expr::Verbatim(quote!(::core::result::Result::Ok(#value)));
                let last = block.stmts.len() - 1;
                block.stmts[last] = Stmt::Expr(ok, None);
            }
            _ if self.returned == Some(Returns::Unit) => {
                let ok = quote!(::core::result::Result::Ok(()));
                block.stmts.push(Stmt::Expr(Expr::Verbatim(ok), None));
            }
            _ => {}
        }
    }

    /// A call that may fail, as a value.
    fn value_of(&self, call: TokenStream) -> TokenStream {
        match self.failure {
            Failure::Returned => quote!(#call?),
            Failure::Panic => {
                let rt = &self.cx.rt;
                quote!(#rt::__private::expect(#call))
            }
        }
    }

    fn access(&self, place: &Expr) -> Option<Access> {
        match places::root(place)? {
            Root::Itself => Some(Access::Exclusive),
            Root::Local(id) => self.body.locals.get(id).lent,
        }
    }

    /// A borrow of the module at `place`, exclusive where `access` says so.
    fn borrow(&mut self, place: &Expr, access: Access) -> TokenStream {
        let exclusive = self.training && access == Access::Exclusive;
        if let Some(id) = places::local(place) {
            // It is a reference already.
            let name = encode(id, place_span(place));
            return if exclusive { quote!(&mut *#name) } else { name.into_token_stream() };
        }
        let place = self.place(place, exclusive);
        if exclusive { quote!(&mut #place) } else { quote!(&#place) }
    }

    /// Lends the modules among `args`, which the compiler moves where a parameter's type is not a
    /// plain `&mut`, as a checkpointed function's is not.
    fn reborrow<'a>(&mut self, args: impl IntoIterator<Item = &'a mut Expr>) {
        for arg in args {
            if self.training && places::local(arg).is_some() && self.access(arg) == Some(Access::Exclusive) {
                *arg = Expr::Verbatim(self.borrow(arg, Access::Exclusive));
            }
        }
    }

    /// A place, written for an exclusive borrow where `exclusive`: `Repeated` gives out its
    /// modules by index only to be read, so indexing goes through a slice.
    fn place(&mut self, e: &Expr, exclusive: bool) -> TokenStream {
        match e {
            Expr::Paren(p) => self.place(&p.expr, exclusive),
            Expr::Group(g) => self.place(&g.expr, exclusive),
            Expr::Index(i) if exclusive => {
                let rt = &self.cx.rt;
                let slice = self.borrow(&i.expr, Access::Exclusive);
                let mut index = (*i.index).clone();
                self.visit_expr_mut(&mut index);
                quote!(#rt::__private::blocks_slice_mut(#slice)[#index])
            }
            Expr::Field(f) if !places::is_self(&f.base) => {
                let base = match places::bare(&f.base) {
                    // The parameter is a reference, which a field is reached through.
                    Expr::Field(of_self) if self.me == Me::Fields && places::is_self(&of_self.base) => {
                        parameter(&of_self.member).into_token_stream()
                    }
                    Expr::Unary(_) => {
                        let base = self.place(&f.base, exclusive);
                        quote!((#base))
                    }
                    _ => self.place(&f.base, exclusive),
                };
                let member = &f.member;
                quote!(#base.#member)
            }
            Expr::Field(f) if self.me == Me::Fields => {
                let name = parameter(&f.member);
                quote!(*#name)
            }
            other => {
                let mut other = other.clone();
                self.visit_expr_mut(&mut other);
                other.into_token_stream()
            }
        }
    }

    /// `place.forward(args)`.
    fn module_call(&mut self, place: &Expr, args: Vec<Expr>, access: Access, tried: bool) -> Expr {
        let rt = &self.cx.rt;
        let function = match (self.training, access, self.replayed) {
            (false, ..) => quote!(infer),
            (true, Access::Exclusive, false) => quote!(call_mut),
            (true, Access::Shared, false) => quote!(call_ref),
            (true, Access::Exclusive, true) => quote!(replayed_mut),
            (true, Access::Shared, true) => quote!(replayed_ref),
        };
        let function = quote!(#rt::__private::#function);
        let tape = self.training.then(|| quote!(__ckpt_tape,));
        let hoist = self.hoists(place, access, &args);
        let args: Vec<_> = args.into_iter().map(|a| self.rewritten(a)).collect();
        let input = match &args[..] {
            [one] => quote!(#one),
            several => quote!((#(#several),*)),
        };
        let module = self.borrow(places::bare(place), access);
        let finish = |w: &Self, call| if tried { call } else { w.value_of(call) };
        Expr::Verbatim(if hoist {
            let call = finish(self, quote!(#function(#tape #module, __ckpt_input)));
            quote!((match #input { __ckpt_input => #call }))
        } else {
            finish(self, quote!(#function(#tape #module, #input)))
        })
    }

    /// Whether `args` use what an exclusive borrow of `place` would hold while they are evaluated.
    fn hoists(&self, place: &Expr, access: Access, args: &[Expr]) -> bool {
        if !self.training || access == Access::Shared {
            return false;
        }
        let uses = SelfUse::of(self.cx, |f| args.iter().for_each(|a| f.visit_expr(a)));
        let lent = |id: &LocalId| self.body.locals.get(*id).lent.is_some();
        // A lent local may borrow the very part of `self`.
        uses.meets(place) || places::root(place) == Some(Root::Itself) && uses.locals.iter().any(lent)
    }

    fn rewritten(&mut self, mut e: Expr) -> Expr {
        self.visit_expr_mut(&mut e);
        e
    }

    /// `self.helper(args)`, through the version of this pass.
    fn twin_method(&mut self, m: &syn::ExprMethodCall, returns_result: bool) -> Expr {
        let name = twin_name(&m.method, self.pass());
        let args: Vec<Expr> = m.args.iter().cloned().collect();
        let hoist = self.hoists(&m.receiver, Access::Exclusive, &args);
        let args: Vec<_> = args.into_iter().map(|a| self.rewritten(a)).collect();
        let receiver = self.rewritten((*m.receiver).clone());
        let turbofish = &m.turbofish;
        let tape = self.training.then(|| quote!(__ckpt_tape,));
        let finish = |w: &Self, call| if returns_result { call } else { w.value_of(call) };
        Expr::Verbatim(if hoist {
            let names: Vec<_> = (0..args.len()).map(|i| format_ident!("__ckpt_x{i}")).collect();
            let call = finish(self, quote!(#receiver.#name #turbofish(#tape #(#names),*)));
            quote!((match (#(#args,)*) { (#(#names,)*) => #call }))
        } else {
            finish(self, quote!(#receiver.#name #turbofish(#tape #(#args),*)))
        })
    }

    /// `Self::helper(args)`, likewise.
    fn twin_function(&mut self, c: &syn::ExprCall) -> Option<Expr> {
        let Expr::Path(p) = &*c.func else { return None };
        let segments = &p.path.segments;
        if p.qself.is_some() || segments.len() != 2 || segments[0].ident != "Self" {
            return None;
        }
        let twin = self.cx.twin(&segments[1].ident)?.clone();
        let mut path = p.path.clone();
        path.segments[1].ident = twin_name(&twin.name, self.pass());
        let mut args: Vec<_> = c.args.iter().map(|a| self.rewritten(a.clone()).into_token_stream()).collect();
        if self.training {
            args.insert(usize::from(twin.receiver).min(args.len()), quote!(__ckpt_tape));
        }
        let call = quote!(#path(#(#args),*));
        Some(Expr::Verbatim(if twin.returns_result { call } else { self.value_of(call) }))
    }

    fn pass(&self) -> Pass {
        if self.training { Pass::Training { replayed: self.replayed } } else { Pass::Inference }
    }

    fn method(&mut self, m: &syn::ExprMethodCall) -> Option<Expr> {
        let on_self = places::is_self(places::bare(&m.receiver));
        if on_self && let Some(twin) = self.cx.twin(&m.method) {
            let returns_result = twin.returns_result;
            return Some(self.twin_method(m, returns_result));
        }
        let args = || m.args.iter().cloned().collect();
        if self.cx.calls_field(m) {
            let field = syn::ExprField {
                attrs: Vec::new(),
                base: m.receiver.clone(),
                dot_token: m.dot_token,
                member: Member::Named(m.method.clone()),
            };
            return Some(self.module_call(&Expr::Field(field), args(), Access::Exclusive, false));
        }
        if self.training && !on_self && m.method == "clone" && m.args.is_empty() && self.access(&m.receiver).is_some() {
            return Some(self.taken(m));
        }
        if !places::is_forward(&m.method) || on_self || m.args.is_empty() {
            return None;
        }
        let access = self.access(&m.receiver)?;
        let tried = places::is_try_forward(&m.method);
        Some(self.module_call(&m.receiver, args(), access, tried))
    }

    /// `self.weight.clone()`: a parameter is taken on the tape, so that it learns through whatever is
    /// made of it. What is no tensor is taken as it is.
    fn taken(&mut self, m: &syn::ExprMethodCall) -> Expr {
        let (rt, e, d) = (&self.cx.rt, &self.cx.roles.dtype, &self.cx.roles.device);
        let (rt, e, d) = (rt.clone(), e.clone(), d.clone());
        let clone = syn::ExprMethodCall { receiver: Box::new(self.rewritten((*m.receiver).clone())), ..m.clone() };
        Expr::Verbatim(quote!(#rt::__private::taken!(#e, #d, __ckpt_tape, #clone)))
    }

    fn call(&mut self, c: &syn::ExprCall) -> Option<Expr> {
        // `(self.field)(x)`
        if let Expr::Paren(p) = &*c.func
            && let Expr::Field(f) = &*p.expr
            && places::is_self(&f.base)
            && !c.args.is_empty()
        {
            let args = c.args.iter().cloned().collect();
            return Some(self.module_call(&p.expr, args, Access::Exclusive, false));
        }
        self.twin_function(c)
    }

    // Regions.

    /// Walks a region's inside and writes the call that runs it.
    fn region(
        &mut self,
        id: usize,
        uses: &SelfUse,
        outputs: Outputs,
        inside: impl FnOnce(&mut Self) -> TokenStream,
    ) -> TokenStream {
        let (rt, edges) = (&self.cx.rt, &self.edges[id]);
        let (lends, parameters) = self.lends(uses, &edges.lent);
        let inputs: Vec<_> = edges.inputs.iter().map(|(x, again)| self.live_in(*x, *again)).collect();
        let names: Vec<_> = edges.inputs.iter().map(|(x, _)| self.name(*x)).collect();
        let unwrap = self.unwrap(edges.inputs.iter().map(|(x, _)| *x));
        let declare = self.declare(&edges.declared);
        let region = &self.body.regions[id];
        let site = region.options.site(rt, &region.name);
        let body = self.inside(id, uses, inside);
        let result = self.live_outs(outputs.inside);
        let (lends, parameters) = (nested(&lends), nested(&parameters));
        let (inputs, names) = (nested(&inputs), nested(&names));
        let rt = &self.cx.rt;
        self.value_of(quote!(
            #rt::__private::region(
                #site, __ckpt_tape, #lends, #inputs,
                |__ckpt_tape, #parameters, #names| { #unwrap #declare #body ::core::result::Result::Ok(#result) },
            )
        ))
    }

    /// Runs `inside` with the walk set for a region's body.
    fn inside<T>(&mut self, id: usize, uses: &SelfUse, inside: impl FnOnce(&mut Self) -> T) -> T {
        let saved = (self.me, self.replayed, self.failure, self.returned);
        self.me = if uses.whole { Me::Whole } else { Me::Fields };
        self.replayed |= self.body.regions[id].recomputes();
        self.failure = Failure::Returned;
        self.returned = None;
        let out = inside(self);
        (self.me, self.replayed, self.failure, self.returned) = saved;
        out
    }

    /// The parameters of a region: what is lent, and the names that the body knows it by.
    fn lends(&self, uses: &SelfUse, lent: &[LocalId]) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let (rt, e, d) = (&self.cx.rt, &self.cx.roles.dtype, &self.cx.roles.device);
        let lend = |place: TokenStream| quote!(#rt::__private::lend!(#e, #d, #place));
        let (mut lends, mut names) = (Vec::new(), Vec::new());
        if uses.whole {
            lends.push(lend(match self.me {
                Me::Itself => quote!(&mut *self),
                _ => quote!(&mut *__ckpt_self),
            }));
            names.push(quote!(__ckpt_self));
        } else {
            for field in &uses.fields {
                let name = parameter(field);
                lends.push(lend(match self.me {
                    Me::Itself => quote!(&mut self.#field),
                    Me::Fields => quote!(&mut *#name),
                    Me::Whole => quote!(&mut __ckpt_self.#field),
                }));
                names.push(quote!(#name));
            }
        }
        for id in lent {
            let name = self.name(*id);
            lends.push(lend(match self.body.locals.get(*id).lent {
                Some(Access::Exclusive) => quote!(&mut *#name),
                _ => quote!(&*#name),
            }));
            names.push(name);
        }
        (lends, names)
    }

    fn name(&self, id: LocalId) -> TokenStream {
        encode(id, self.body.locals.get(id).name.span()).into_token_stream()
    }

    fn live(&self, value: &TokenStream) -> TokenStream {
        let (rt, e, d) = (&self.cx.rt, &self.cx.roles.dtype, &self.cx.roles.device);
        quote!(#rt::__private::live!(#e, #d, #value))
    }

    fn live_in(&self, id: LocalId, again: bool) -> TokenStream {
        let name = self.name(id);
        self.live(&if again && !self.body.locals.get(id).copy {
            quote!(::core::clone::Clone::clone(&#name))
        } else {
            name
        })
    }

    fn live_outs(&self, values: Vec<TokenStream>) -> TokenStream {
        let mut values: Vec<_> = values.iter().map(|v| self.live(v)).collect();
        match values.len() {
            1 => values.remove(0),
            _ => nested(&values),
        }
    }

    fn unwrap(&self, ids: impl Iterator<Item = LocalId>) -> TokenStream {
        ids.map(|id| {
            let name = self.name(id);
            let mutable = self.body.locals.get(id).mutable.then(|| quote!(mut));
            quote!(let #mutable #name = #name.0;)
        })
        .collect()
    }

    fn declare(&self, ids: &[LocalId]) -> TokenStream {
        ids.iter()
            .map(|id| {
                let name = self.name(*id);
                quote!(let mut #name;)
            })
            .collect()
    }

    /// A region as an expression: assigns its outputs and evaluates to its own value, if it has one.
    fn deliver(&self, region: TokenStream, value: &[TokenStream], outputs: &[LocalId]) -> TokenStream {
        let assigned: Vec<_> = outputs.iter().map(|id| self.name(*id)).collect();
        match (value.len(), &assigned[..]) {
            (0, []) => region,
            (1, []) => quote!(#region.0),
            (0, [one]) => quote!(#one = #region.0),
            _ => {
                let all: Vec<_> = (0..value.len() + assigned.len()).map(|i| format_ident!("__ckpt_out{i}")).collect();
                let pattern = nested(&all.iter().map(ToTokens::to_token_stream).collect::<Vec<_>>());
                let (own, outer) = all.split_at(value.len());
                let own = match own {
                    [] => TokenStream::new(),
                    [one] => quote!(#one.0),
                    several => quote!((#(#several.0),*)),
                };
                quote!({ let #pattern = #region; #(#assigned = #outer.0;)* #own })
            }
        }
    }

    fn outputs(&self, id: usize, value: &[TokenStream]) -> Outputs {
        let mut inside = value.to_vec();
        inside.extend(self.edges[id].outputs.iter().map(|id| self.name(*id)));
        Outputs { inside }
    }

    fn let_region(&mut self, id: usize, l: &mut syn::Local) -> Stmt {
        let ids = bound(&l.pat);
        let names: Vec<_> = ids.iter().map(|id| self.name(*id)).collect();
        let uses = SelfUse::of(self.cx, |f| f.visit_local(l));
        let mut inner = l.clone();
        regions::unmark(&mut inner.attrs);
        Unmut.visit_pat_mut(&mut inner.pat);
        let outputs = self.outputs(id, &names);
        let region = self.region(id, &uses, outputs, |w| {
            w.visit_local_mut(&mut inner);
            inner.to_token_stream()
        });
        let value = self.deliver(region, &names, &self.edges[id].outputs);
        if ids.is_empty() {
            return Stmt::Expr(Expr::Verbatim(value), Some(<Token![;]>::default()));
        }
        let bind: Vec<_> = ids
            .iter()
            .zip(&names)
            .map(|(id, name)| {
                let mutable = self.body.locals.get(*id).mutable.then(|| quote!(mut));
                quote!(#mutable #name)
            })
            .collect();
        let pattern = match &bind[..] {
            [one] => quote!(#one),
            several => quote!((#(#several),*)),
        };
        let ty = match &l.pat {
            Pat::Type(t) if matches!(*t.pat, Pat::Ident(_)) => {
                let mut ty = (*t.ty).clone();
                self.visit_type_mut(&mut ty);
                Some(quote!(: #ty))
            }
            _ => None,
        };
        let attrs = l.attrs.iter().filter(|a| region_of(std::slice::from_ref(a)).is_none());
        Stmt::Expr(Expr::Verbatim(quote!(#(#attrs)* let #pattern #ty = #value)), Some(l.semi_token))
    }

    fn block_region(&mut self, id: usize, b: &mut syn::ExprBlock) -> TokenStream {
        let uses = SelfUse::of(self.cx, |f| f.visit_expr_block(b));
        let has_value = match b.block.stmts.last() {
            Some(Stmt::Expr(_, semi)) => semi.is_none(),
            Some(Stmt::Macro(m)) => m.semi_token.is_none(),
            _ => false,
        };
        let value: &[TokenStream] = if has_value { &[quote!(__ckpt_value)] } else { &[] };
        let mut inner = b.clone();
        regions::unmark(&mut inner.attrs);
        let outputs = self.outputs(id, value);
        let region = self.region(id, &uses, outputs, |w| {
            visit_mut::visit_expr_block_mut(w, &mut inner);
            if has_value { quote!(let __ckpt_value = #inner;) } else { inner.into_token_stream() }
        });
        self.deliver(region, value, &self.edges[id].outputs)
    }

    fn loop_region(&mut self, id: usize, f: &mut syn::ExprForLoop) -> TokenStream {
        regions::unmark(&mut f.attrs);
        if let Some(segments) = self.body.regions[id].segments() {
            let segments = segments.to_value(&self.cx.rt);
            return self.segmented(id, f, &segments);
        }
        let uses = SelfUse::of(self.cx, |u| u.visit_expr_for_loop(f));
        let outputs = self.outputs(id, &[]);
        let region = self.region(id, &uses, outputs, |w| {
            w.for_loop(f);
            f.to_token_stream()
        });
        self.deliver(region, &[], &self.edges[id].outputs)
    }

    fn segmented(&mut self, id: usize, f: &mut syn::ExprForLoop, segments: &TokenStream) -> TokenStream {
        let uses = SelfUse::of(self.cx, |u| u.visit_block(&f.body));
        let Some(source) = regions::loop_source(&f.expr).cloned() else {
            return TokenStream::new();
        };
        let slice = self.borrow(places::bare(&source), Access::Exclusive);
        let edges = &self.edges[id];
        // The modules themselves are lent by the loop.
        let from = match places::root(&source) {
            Some(Root::Local(id)) => Some(id),
            _ => None,
        };
        let lent: Vec<_> = edges.lent.iter().copied().filter(|l| Some(*l) != from).collect();
        let (lends, parameters) = self.lends(&uses, &lent);
        let carried = &edges.outputs;
        let constants: Vec<_> = edges.inputs.iter().filter(|(x, _)| !carried.contains(x)).collect();
        let carry_in: Vec<_> = carried.iter().map(|x| self.live_in(*x, false)).collect();
        let carried_names: Vec<_> = carried.iter().map(|x| self.name(*x)).collect();
        let constants_in: Vec<_> = constants.iter().map(|(x, again)| self.live_in(*x, *again)).collect();
        let constant_names: Vec<_> = constants.iter().map(|(x, _)| self.name(*x)).collect();
        let unwrap = self.unwrap(carried.iter().copied().chain(constants.iter().map(|(x, _)| *x)));
        let declare = self.declare(&edges.declared);
        let carry_out: Vec<_> = carried_names.iter().map(|x| self.live(x)).collect();
        let region = &self.body.regions[id];
        let rt = &self.cx.rt;
        let site = region.options.site(rt, &region.name);
        let label = f.label.clone();
        let body = self.inside(id, &uses, |w| {
            let mut body = f.body.clone();
            let mut pat = (*f.pat).clone();
            w.visit_block_mut(&mut body);
            w.visit_pat_mut(&mut pat);
            quote!(#label for #pat in __ckpt_blocks #body)
        });
        let (lends, parameters) = (nested(&lends), nested(&parameters));
        let (carry_in, carry_out) = (nested(&carry_in), nested(&carry_out));
        let (constants_in, constant_names) = (nested(&constants_in), nested(&constant_names));
        let carried_pattern = nested(&carried_names);
        let call = self.value_of(quote!(
            #rt::__private::segmented_loop(
                #site, #segments, __ckpt_tape, #rt::__private::blocks_slice_mut(#slice),
                #lends, #carry_in, #constants_in,
                |__ckpt_tape, __ckpt_blocks, #parameters, #carried_pattern, #constant_names| {
                    #unwrap #declare #body ::core::result::Result::Ok(#carry_out)
                },
            )
        ));
        let outs: Vec<_> =
            (0..carried_names.len()).map(|i| format_ident!("__ckpt_out{i}").into_token_stream()).collect();
        let pattern = nested(&outs);
        quote!({ let #pattern = #call; #(#carried_names = #outs.0;)* })
    }

    // Bindings that borrow modules.

    /// Rewrites where a loop's modules come from.
    fn for_loop(&mut self, f: &mut syn::ExprForLoop) {
        self.source(&f.pat, &mut f.expr, true);
        self.visit_pat_mut(&mut f.pat);
        self.visit_block_mut(&mut f.body);
    }

    /// Rewrites the expression that `pat` is bound to, so that the modules among its bindings can
    /// be trained: `&place` becomes `&mut place`, and in a loop an iterator over its modules.
    fn source(&mut self, pat: &Pat, e: &mut Expr, is_loop: bool) {
        match e {
            Expr::Paren(p) => return self.source(pat, &mut p.expr, is_loop),
            Expr::Group(g) => return self.source(pat, &mut g.expr, is_loop),
            Expr::Reference(r) if r.mutability.is_none() => {
                if let Some(new) = self.leaf(pat, &r.expr, is_loop, true) {
                    *e = new;
                    return;
                }
            }
            Expr::Path(_) if is_loop => {
                if let Some(new) = self.leaf(pat, &e.clone(), true, true) {
                    *e = new;
                    return;
                }
            }
            Expr::Tuple(t) => {
                if let Pat::Tuple(p) = pat
                    && p.elems.len() == t.elems.len()
                {
                    for (pat, e) in p.elems.iter().zip(&mut t.elems) {
                        self.source(pat, e, is_loop);
                    }
                    return;
                }
            }
            Expr::MethodCall(m) => {
                let pair = match pat {
                    Pat::Tuple(t) if t.elems.len() == 2 => Some((&t.elems[0], &t.elems[1])),
                    _ => None,
                };
                match (m.method.to_string().as_str(), pair) {
                    ("enumerate", Some((_, item))) => return self.source(item, &mut m.receiver, is_loop),
                    ("zip", Some((left, right))) => {
                        self.source(left, &mut m.receiver, is_loop);
                        m.args.iter_mut().for_each(|a| self.source(right, a, is_loop));
                        return;
                    }
                    ("rev" | "skip" | "take" | "step_by" | "into_iter" | "unwrap", _) => {
                        self.source(pat, &mut m.receiver, is_loop);
                        m.args.iter_mut().for_each(|a| self.visit_expr_mut(a));
                        return;
                    }
                    ("iter", _) if is_loop => {
                        if let Some(new) = self.leaf(pat, &m.receiver, true, false) {
                            *e = new;
                            return;
                        }
                    }
                    ("as_ref" | "first" | "last" | "get" | "as_slice", _) if self.training && self.trains(pat) => {
                        let name = match m.method.to_string().as_str() {
                            "as_ref" => "as_mut".to_owned(),
                            "as_slice" => "as_mut_slice".to_owned(),
                            other => format!("{other}_mut"),
                        };
                        m.method = Ident::new(&name, m.method.span());
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        self.visit_expr_mut(e);
    }

    /// Whether a module that `pat` binds is called, so that training needs it exclusively.
    fn trains(&self, pat: &Pat) -> bool {
        bound(pat).iter().any(|id| self.body.locals.get(*id).lent == Some(Access::Exclusive))
    }

    /// The borrow of `place` that `pat` is bound to. `always` where a loop over it has no iterator
    /// of its own to fall back on.
    fn leaf(&mut self, pat: &Pat, place: &Expr, is_loop: bool, always: bool) -> Option<Expr> {
        self.access(place)?;
        let called = self.trains(pat);
        let rt = self.cx.rt.clone();
        let access = if called { Access::Exclusive } else { Access::Shared };
        Some(Expr::Verbatim(match (is_loop, called && self.training) {
            (true, true) => {
                let borrow = self.borrow(place, access);
                quote!(#rt::__private::blocks_mut(#borrow))
            }
            (true, false) if called || always => {
                let borrow = self.borrow(place, access);
                quote!(#rt::__private::blocks(#borrow))
            }
            (false, true) => self.borrow(place, access),
            _ => return None,
        }))
    }

    fn rename_self(&self, tokens: TokenStream) -> TokenStream {
        if self.me != Me::Whole {
            return tokens;
        }
        tokens
            .into_iter()
            .map(|t| match t {
                TokenTree::Ident(i) if i == "self" => Ident::new("__ckpt_self", i.span()).into(),
                TokenTree::Group(g) => {
                    let mut inner = proc_macro2::Group::new(g.delimiter(), self.rename_self(g.stream()));
                    inner.set_span(g.span());
                    inner.into()
                }
                other => other,
            })
            .collect()
    }
}

impl VisitMut for Writer<'_> {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        match e {
            Expr::MethodCall(m) => self.reborrow(&mut m.args),
            Expr::Call(c) => self.reborrow(&mut c.args),
            _ => {}
        }
        let new = match e {
            Expr::MethodCall(m) => self.method(m),
            Expr::Call(c) => self.call(c),
            Expr::Block(b) => match region_of(&b.attrs) {
                Some(id) if self.training => Some(Expr::Verbatim(self.block_region(id, b))),
                _ => {
                    regions::unmark(&mut b.attrs);
                    None
                }
            },
            Expr::ForLoop(f) => {
                match region_of(&f.attrs) {
                    Some(id) if self.training => {
                        *e = Expr::Verbatim(self.loop_region(id, f));
                    }
                    _ => {
                        regions::unmark(&mut f.attrs);
                        self.for_loop(f);
                    }
                }
                return;
            }
            Expr::Field(f) if self.me == Me::Fields && places::is_self(&f.base) => {
                let name = parameter(&f.member);
                Some(Expr::Verbatim(quote!((*#name))))
            }
            Expr::Path(p) if self.me == Me::Whole && p.path.is_ident("self") => {
                Some(Expr::Verbatim(quote!(__ckpt_self)))
            }
            // A borrow of a lent field needs no parentheses.
            Expr::Reference(r) => match &*r.expr {
                // A module handed on to be trained, as to a checkpointed function, is only read
                // in inference.
                place if !self.training && r.mutability.is_some() && self.access(place).is_some() => {
                    r.mutability = None;
                    None
                }
                Expr::Field(f) if self.me == Me::Fields && places::is_self(&f.base) => {
                    let (name, mutable) = (parameter(&f.member), &r.mutability);
                    Some(Expr::Verbatim(quote!(&#mutable *#name)))
                }
                _ => None,
            },
            Expr::Match(m) => {
                // All arms see one scrutinee: one that trains decides.
                let arm = m.arms.iter().find(|a| self.trains(&a.pat)).or(m.arms.first());
                match arm.map(|a| a.pat.clone()) {
                    Some(pat) => self.source(&pat, &mut m.expr, false),
                    None => self.visit_expr_mut(&mut m.expr),
                }
                m.arms.iter_mut().for_each(|a| self.visit_arm_mut(a));
                return;
            }
            Expr::Let(l) => {
                self.source(&l.pat, &mut l.expr, false);
                self.visit_pat_mut(&mut l.pat);
                return;
            }
            Expr::Return(r) => {
                if let Some(value) = &mut r.expr {
                    self.visit_expr_mut(value);
                }
                if self.returned.is_some_and(|r| r != Returns::Result) {
                    let value = match &r.expr {
                        Some(value) => quote!(#value),
                        None => quote!(()),
                    };
                    r.expr = Some(Box::new(Expr::Verbatim(quote!(::core::result::Result::Ok(#value)))));
                }
                return;
            }
            Expr::Closure(_) | Expr::Async(_) => {
                let saved = (self.failure, self.returned);
                (self.failure, self.returned) = (Failure::Panic, None);
                visit_mut::visit_expr_mut(self, e);
                (self.failure, self.returned) = saved;
                return;
            }
            _ => None,
        };
        match new {
            Some(new) => *e = new,
            None => visit_mut::visit_expr_mut(self, e),
        }
    }

    fn visit_block_mut(&mut self, b: &mut Block) {
        visit_mut::visit_block_mut(self, b);
        end_statements(&mut b.stmts);
    }

    fn visit_stmt_mut(&mut self, s: &mut Stmt) {
        if let Stmt::Local(l) = s
            && let Some(id) = region_of(&l.attrs)
            && self.training
        {
            *s = self.let_region(id, l);
            return;
        }
        visit_mut::visit_stmt_mut(self, s);
    }

    fn visit_local_mut(&mut self, l: &mut syn::Local) {
        regions::unmark(&mut l.attrs);
        let pat = match &l.pat {
            Pat::Type(t) => (*t.pat).clone(),
            p => p.clone(),
        };
        if let Some(init) = &mut l.init {
            // A closure that trains a module changes what it captures.
            if self.training
                && matches!(*init.expr, Expr::Closure(_))
                && let Pat::Ident(name) = &mut l.pat
                && Calls::modules(self.cx, &init.expr)
            {
                name.mutability = Some(Default::default());
            }
            self.source(&pat, &mut init.expr, false);
            if let Some((_, otherwise)) = &mut init.diverge {
                self.visit_expr_mut(otherwise);
            }
        }
        self.visit_pat_mut(&mut l.pat);
    }

    fn visit_path_mut(&mut self, path: &mut Path) {
        visit_mut::visit_path_mut(self, path);
        if self.training {
            let retape = Retape { roles: &self.cx.roles, tape: quote!(_) };
            retape.path(path);
        }
    }

    fn visit_macro_mut(&mut self, m: &mut Macro) {
        arguments::edit(m, |arguments| match arguments {
            Arguments::List(list) => {
                list.iter_mut().for_each(|a| self.visit_expr_mut(&mut a.value));
            }
            Arguments::Repeat(value, n) => {
                self.visit_expr_mut(value);
                self.visit_expr_mut(n);
            }
            Arguments::Statements(statements) => {
                statements.iter_mut().for_each(|s| self.visit_stmt_mut(s));
                end_statements(statements);
            }
            Arguments::Opaque(tokens) => *tokens = self.rename_self(std::mem::take(tokens)),
        });
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// A block or a loop that became an expression needs a semicolon where others follow.
fn end_statements(statements: &mut [Stmt]) {
    if let Some((_, before)) = statements.split_last_mut() {
        for s in before {
            if let Stmt::Expr(Expr::Verbatim(_), semi @ None) = s {
                *semi = Some(Default::default());
            }
        }
    }
}

/// Whether an expression calls a module of `self` or a twin.
struct Calls<'a>(&'a Context, bool);

impl Calls<'_> {
    fn modules(cx: &Context, e: &Expr) -> bool {
        let mut c = Calls(cx, false);
        c.visit_expr(e);
        c.1
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_expr_method_call(&mut self, m: &'ast syn::ExprMethodCall) {
        let twin = places::is_self(&m.receiver) && self.0.twin(&m.method).is_some();
        self.1 |= twin || self.0.calls_field(m) || places::is_forward(&m.method);
        syn::visit::visit_expr_method_call(self, m);
    }
}

/// Inside a region a `let` binds what goes out at once: nothing there needs its `mut`.
struct Unmut;

impl VisitMut for Unmut {
    fn visit_pat_ident_mut(&mut self, p: &mut syn::PatIdent) {
        if p.by_ref.is_none() {
            p.mutability = None;
        }
        visit_mut::visit_pat_ident_mut(self, p);
    }
}

/// The name of a method's version for a pass.
pub fn twin_name(method: &Ident, pass: Pass) -> Ident {
    let name = method.unraw();
    match pass {
        Pass::Training { replayed: false } => format_ident!("__ckpt_train_{name}"),
        Pass::Training { replayed: true } => format_ident!("__ckpt_replay_{name}"),
        Pass::Inference => format_ident!("__ckpt_infer_{name}"),
    }
}

/// The name by which a region's body knows a field of `self`.
fn parameter(member: &Member) -> Ident {
    match member {
        Member::Named(name) => format_ident!("__ckpt_field_{}", name.unraw()),
        Member::Unnamed(index) => format_ident!("__ckpt_field_{}", index.index),
    }
}

fn place_span(e: &Expr) -> proc_macro2::Span {
    syn::spanned::Spanned::span(e)
}

/// A tuple of `items`; the run time takes up to twelve at a time, so longer ones are nested.
fn nested(items: &[TokenStream]) -> TokenStream {
    const MOST: usize = 12;
    if items.len() <= MOST {
        return match items {
            [] => quote!(()),
            items => quote!((#(#items,)*)),
        };
    }
    let size = items.len().div_ceil(MOST).max(2);
    let groups: Vec<_> = items.chunks(size).map(nested).collect();
    nested(&groups)
}
