//! The body for one pass: module calls, `self`, regions and returns as calls of the run time.
//!
//! Works on a block that `scope` and `liveness` have been over. Goes from the outside in, since a
//! region's inside is written differently: it captures nothing, so fields come in as parameters.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Block, Expr, Macro, Member, Pat, Path, Stmt,
    ext::IdentExt,
    spanned::Spanned,
    visit_mut::{self, VisitMut},
};

use super::{
    Access, Body, Context, Failure, Pass, Returns,
    arguments::{self, Arguments},
    calls::Calls,
    liveness::Edges,
    places::{self, Root},
    regions::{self, region_of},
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
pub(super) enum Me {
    /// As it is.
    Itself,
    /// By a parameter for each field.
    Fields,
    /// By one parameter for all of it.
    Whole,
}

pub(super) struct Writer<'a> {
    pub(super) cx: &'a Context,
    pub(super) body: &'a Body,
    pub(super) edges: &'a [Edges],
    pub(super) training: bool,
    /// Whether a region around here recomputes.
    pub(super) replayed: bool,
    pub(super) failure: Failure,
    /// What `return` here returns from: none in a closure of the user's, or where the body keeps
    /// the user's own type.
    pub(super) returned: Option<Returns>,
    pub(super) me: Me,
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
    pub(super) fn value_of(&self, call: TokenStream) -> TokenStream {
        match self.failure {
            Failure::Returned => {
                // Where the call is: what is wrong with its value is said there.
                let at = call.clone().into_iter().next().map_or_else(Span::call_site, |t| at(t.span()));
                let tried = quote_spanned!(at=> ?);
                quote!(#call #tried)
            }
            Failure::Panic => {
                let rt = &self.cx.rt;
                quote!(#rt::__private::expect(#call))
            }
        }
    }

    /// The run time's path, as if written at `span`.
    pub(super) fn rt(&self, span: Span) -> TokenStream {
        let located = self.cx.rt.clone().into_iter().map(|mut token| {
            token.set_span(token.span().located_at(span));
            token
        });
        located.collect()
    }

    pub(super) fn access(&self, place: &Expr) -> Option<Access> {
        match places::root(place)? {
            Root::Itself => Some(Access::Exclusive),
            Root::Local(id) => self.body.locals.get(id).lent,
        }
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

/// The name by which a region's body knows a field of `self`.
pub(super) fn parameter(member: &Member) -> Ident {
    let name = match member {
        Member::Named(name) => name.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    };
    Ident::new(&format!("__ckpt_field_{name}"), here(member))
}

/// The place of `span`, where names resolve as the macro's own do.
pub(super) fn at(span: Span) -> Span {
    span.resolved_at(Span::call_site())
}

/// Where code of the macro's about the user's `tokens` stands, so that errors point there.
pub(super) fn here(tokens: &impl ToTokens) -> Span {
    at(tokens.span())
}
