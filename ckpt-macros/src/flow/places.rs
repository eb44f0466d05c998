//! Places and the modules that live there: `self.blocks.modules[i]`, a loop variable over
//! `&self.blocks`, and the calls `place.forward(x)` and `self.field(x)`.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use syn::{Block, Expr, Macro, Member, Pat, visit::Visit};

use super::{
    arguments::{self, Arguments},
    names::{LocalId, decode},
    scope::bound,
};

/// Where a place begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// At `self`.
    Itself,
    /// At a local.
    Local(LocalId),
}

/// Where the place that `e` names begins, looking through fields, indices, borrows and dereferences.
pub fn root(e: &Expr) -> Option<Root> {
    match e {
        Expr::Path(p) if is_self(e) => {
            let _ = p;
            Some(Root::Itself)
        }
        Expr::Path(p) => p.path.get_ident().and_then(decode).map(Root::Local),
        Expr::Field(f) => root(&f.base),
        Expr::Index(i) => root(&i.expr),
        Expr::Paren(p) => root(&p.expr),
        Expr::Group(g) => root(&g.expr),
        Expr::Reference(r) => root(&r.expr),
        Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => root(&u.expr),
        _ => None,
    }
}

/// Whether `e` is `self`.
pub fn is_self(e: &Expr) -> bool {
    matches!(e, Expr::Path(p) if p.path.is_ident("self"))
}

/// The `self` of a block, with the span that it has there.
pub fn itself(block: &Block) -> syn::Ident {
    fn find(tokens: proc_macro2::TokenStream) -> Option<syn::Ident> {
        tokens.into_iter().find_map(|t| match t {
            TokenTree::Ident(i) if i == "self" => Some(i),
            TokenTree::Group(g) => find(g.stream()),
            _ => None,
        })
    }
    find(block.to_token_stream()).unwrap_or_else(|| syn::Ident::new("self", Span::call_site()))
}

/// The place itself, without the parentheses and borrows around it.
pub fn bare(e: &Expr) -> &Expr {
    match e {
        Expr::Paren(p) => bare(&p.expr),
        Expr::Group(g) => bare(&g.expr),
        Expr::Reference(r) => bare(&r.expr),
        _ => e,
    }
}

/// The local that `e` is, if it is nothing else.
pub fn local(e: &Expr) -> Option<LocalId> {
    match e {
        Expr::Path(p) => p.path.get_ident().and_then(decode),
        Expr::Paren(p) => local(&p.expr),
        Expr::Group(g) => local(&g.expr),
        _ => None,
    }
}

/// Whether a method is the call of a module.
pub fn is_forward(method: &syn::Ident) -> bool {
    method == "forward" || method == "forward_mut" || is_try_forward(method)
}

/// Whether a method is the fallible call of a module.
pub fn is_try_forward(method: &syn::Ident) -> bool {
    method == "try_forward" || method == "try_forward_mut"
}

/// A binding whose value borrows from a place.
pub struct Borrow {
    /// The locals bound.
    pub ids: Vec<LocalId>,
    /// Where the place begins.
    pub root: Root,
}

/// What a body tells about the borrows in it.
#[derive(Default)]
pub struct Borrows {
    /// Locals that are the root of a module call.
    pub called: BTreeSet<LocalId>,
    /// Bindings that borrow.
    pub bindings: Vec<Borrow>,
}

/// Reads the borrows of a resolved block.
pub fn borrows(block: &Block) -> Borrows {
    let mut b = Borrows::default();
    b.visit_block(block);
    b
}

/// Calls `f` with each part of `pat` and the place that it borrows from, where binding `pat` to
/// `source` borrows: through `&place`, `place.iter()`, `place.as_ref()` and the adaptors on them.
pub fn borrowed(pat: &Pat, source: &Expr, f: &mut impl FnMut(&Pat, &Expr)) {
    match source {
        Expr::Paren(p) => borrowed(pat, &p.expr, f),
        Expr::Group(g) => borrowed(pat, &g.expr, f),
        Expr::Reference(r) if r.mutability.is_none() => f(pat, &r.expr),
        Expr::Path(_) if is_self(source) => f(pat, source),
        // Destructuring what is itself a borrow.
        Expr::Path(_) if !matches!(pat, Pat::Ident(_)) => f(pat, source),
        Expr::Tuple(t) => {
            if let Pat::Tuple(p) = pat
                && p.elems.len() == t.elems.len()
                && !p.elems.iter().any(|p| matches!(p, Pat::Rest(_)))
            {
                for (pat, source) in p.elems.iter().zip(&t.elems) {
                    borrowed(pat, source, f);
                }
            }
        }
        Expr::MethodCall(m) => {
            let pair = match pat {
                Pat::Tuple(t) if t.elems.len() == 2 => Some((&t.elems[0], &t.elems[1])),
                _ => None,
            };
            match (m.method.to_string().as_str(), pair) {
                ("enumerate", Some((_, item))) => borrowed(item, &m.receiver, f),
                ("zip", Some((left, right))) => {
                    borrowed(left, &m.receiver, f);
                    if let Some(other) = m.args.first() {
                        borrowed(right, other, f);
                    }
                }
                ("rev" | "skip" | "take" | "step_by" | "into_iter" | "unwrap", _) => {
                    borrowed(pat, &m.receiver, f);
                }
                ("iter" | "as_ref" | "first" | "last" | "get" | "as_slice", _) => {
                    f(pat, &m.receiver);
                }
                _ => {}
            }
        }
        _ => {}
    }
}

impl Borrows {
    fn call(&mut self, receiver: &Expr) {
        if let Some(Root::Local(id)) = root(receiver) {
            self.called.insert(id);
        }
    }

    fn binding(&mut self, pat: &Pat, source: &Expr) {
        borrowed(pat, source, &mut |pat, place| {
            if let Some(root) = root(place) {
                self.bindings.push(Borrow { ids: bound(pat), root });
            }
        });
    }
}

impl<'ast> Visit<'ast> for Borrows {
    fn visit_expr_method_call(&mut self, m: &'ast syn::ExprMethodCall) {
        if is_forward(&m.method) {
            self.call(&m.receiver);
        }
        syn::visit::visit_expr_method_call(self, m);
    }

    fn visit_local(&mut self, l: &'ast syn::Local) {
        if let Some(init) = &l.init {
            let pat = match &l.pat {
                Pat::Type(t) => &t.pat,
                p => p,
            };
            self.binding(pat, &init.expr);
        }
        syn::visit::visit_local(self, l);
    }

    fn visit_expr_let(&mut self, l: &'ast syn::ExprLet) {
        self.binding(&l.pat, &l.expr);
        syn::visit::visit_expr_let(self, l);
    }

    fn visit_expr_for_loop(&mut self, l: &'ast syn::ExprForLoop) {
        self.binding(&l.pat, &l.expr);
        // A slice of modules that is a parameter is a borrow already.
        if let (Expr::Path(_), Some(root @ Root::Local(_))) = (&*l.expr, root(&l.expr)) {
            self.bindings.push(Borrow { ids: bound(&l.pat), root });
        }
        syn::visit::visit_expr_for_loop(self, l);
    }

    fn visit_expr_match(&mut self, m: &'ast syn::ExprMatch) {
        for arm in &m.arms {
            self.binding(&arm.pat, &m.expr);
        }
        syn::visit::visit_expr_match(self, m);
    }

    fn visit_macro(&mut self, m: &'ast Macro) {
        visit_arguments(self, m);
    }
}

/// Visits the expressions and statements among a macro's arguments.
pub fn visit_arguments<V: for<'a> Visit<'a>>(v: &mut V, m: &Macro) {
    match arguments::read(m) {
        Arguments::List(list) => {
            for a in &list {
                v.visit_expr(&a.value);
            }
        }
        Arguments::Repeat(value, n) => {
            v.visit_expr(&value);
            v.visit_expr(&n);
        }
        Arguments::Statements(statements) => {
            for s in &statements {
                v.visit_stmt(s);
            }
        }
        Arguments::Opaque(_) => {}
    }
}

/// The first-level field of `self` in a place: `blocks` of `self.blocks.modules[0]`.
pub fn field_of_self(e: &Expr) -> Option<&Member> {
    match e {
        Expr::Field(f) if is_self(&f.base) => Some(&f.member),
        Expr::Field(f) => field_of_self(&f.base),
        Expr::Index(i) => field_of_self(&i.expr),
        Expr::Paren(p) => field_of_self(&p.expr),
        Expr::Group(g) => field_of_self(&g.expr),
        Expr::Reference(r) => field_of_self(&r.expr),
        Expr::Unary(u) => field_of_self(&u.expr),
        _ => None,
    }
}
