//! Module calls and calls of the impl's own methods, as calls of the run time.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, Member, ext::IdentExt, spanned::Spanned, visit::Visit, visit_mut::VisitMut};

use super::{
    Access, Context, Pass,
    names::{LocalId, encode},
    places::{self, Root},
    rewrite::{Me, Writer, here, parameter},
    selfuse::SelfUse,
};

impl Writer<'_> {
    /// A borrow of the module at `place`, exclusive where `access` says so.
    pub(super) fn borrow(&mut self, place: &Expr, access: Access) -> TokenStream {
        let exclusive = self.training && access == Access::Exclusive;
        let span = here(place);
        if let Some(id) = places::local(place) {
            // It is a reference already.
            let name = encode(id, place.span());
            return if exclusive { quote_spanned!(span=> &mut *#name) } else { name.into_token_stream() };
        }
        let place = self.place(place, exclusive);
        if exclusive { quote_spanned!(span=> &mut #place) } else { quote_spanned!(span=> &#place) }
    }

    /// Lends the modules among `args`, which the compiler moves where a parameter's type is not a
    /// plain `&mut`, as a checkpointed function's is not.
    pub(super) fn reborrow<'a>(&mut self, args: impl IntoIterator<Item = &'a mut Expr>) {
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
                quote_spanned!(here(&f.member)=> *#name)
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
        // What a module cannot do here is said where it is called.
        let span = here(place);
        let rt = self.rt(span);
        let function = match (self.training, access, self.replayed) {
            (false, ..) => quote_spanned!(span=> infer),
            (true, Access::Exclusive, false) => quote_spanned!(span=> call_mut),
            (true, Access::Shared, false) => quote_spanned!(span=> call_ref),
            (true, Access::Exclusive, true) => quote_spanned!(span=> replayed_mut),
            (true, Access::Shared, true) => quote_spanned!(span=> replayed_ref),
        };
        let function = quote_spanned!(span=> #rt::__private::#function);
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

    /// `self.weight.clone()`: a parameter is taken on the tape, so that it learns through whatever is
    /// made of it. What is no tensor is taken as it is.
    fn taken(&mut self, m: &syn::ExprMethodCall) -> Expr {
        let clone = syn::ExprMethodCall { receiver: Box::new(self.rewritten((*m.receiver).clone())), ..m.clone() };
        let (rt, e, d) = (&self.cx.rt, &self.cx.roles.dtype, &self.cx.roles.device);
        Expr::Verbatim(quote!(#rt::__private::taken!(#e, #d, __ckpt_tape, #clone)))
    }

    pub(super) fn method(&mut self, m: &syn::ExprMethodCall) -> Option<Expr> {
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

    pub(super) fn call(&mut self, c: &syn::ExprCall) -> Option<Expr> {
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
}

/// Whether an expression calls a module of `self` or a twin.
pub(super) struct Calls<'a>(&'a Context, bool);

impl Calls<'_> {
    pub(super) fn modules(cx: &Context, e: &Expr) -> bool {
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

/// The name of a method's version for a pass.
pub fn twin_name(method: &Ident, pass: Pass) -> Ident {
    let name = method.unraw();
    match pass {
        Pass::Training { replayed: false } => format_ident!("__ckpt_train_{name}"),
        Pass::Training { replayed: true } => format_ident!("__ckpt_replay_{name}"),
        Pass::Inference => format_ident!("__ckpt_infer_{name}"),
    }
}
