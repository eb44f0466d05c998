//! Which outer locals a piece of a body may change: what a region has to hand back.

use std::collections::BTreeSet;

use syn::{BinOp, Expr, Macro, visit::Visit};

use super::{
    arguments::{self, Arguments},
    names::{LocalId, Locals, decode},
    places::{self, Root},
    tensor_methods::may_change,
};

/// The locals, declared outside of it, that what `visit` walks over may change.
pub fn assigned(locals: &Locals, visit: impl FnOnce(&mut Assigned<'_>)) -> BTreeSet<LocalId> {
    let mut a = Assigned { locals, changed: BTreeSet::new(), bound: BTreeSet::new() };
    visit(&mut a);
    let (changed, bound) = (a.changed, a.bound);
    changed.into_iter().filter(|id| !bound.contains(id) && locals.get(*id).lent.is_none()).collect()
}

/// The walk of [`assigned`].
pub struct Assigned<'a> {
    locals: &'a Locals,
    changed: BTreeSet<LocalId>,
    bound: BTreeSet<LocalId>,
}

impl Assigned<'_> {
    fn target(&mut self, e: &Expr) {
        match e {
            Expr::Tuple(t) => t.elems.iter().for_each(|e| self.target(e)),
            Expr::Array(a) => a.elems.iter().for_each(|e| self.target(e)),
            Expr::Call(c) => c.args.iter().for_each(|e| self.target(e)),
            Expr::Struct(s) => s.fields.iter().for_each(|f| self.target(&f.expr)),
            e => {
                if let Some(Root::Local(id)) = places::root(e) {
                    self.changed.insert(id);
                }
            }
        }
    }

    fn maybe(&mut self, id: LocalId) {
        if self.locals.get(id).mutable {
            self.changed.insert(id);
        }
    }
}

impl<'ast> Visit<'ast> for Assigned<'_> {
    fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
        self.bound.extend(decode(&p.ident));
        syn::visit::visit_pat_ident(self, p);
    }

    fn visit_expr_assign(&mut self, a: &'ast syn::ExprAssign) {
        self.target(&a.left);
        syn::visit::visit_expr_assign(self, a);
    }

    fn visit_expr_binary(&mut self, b: &'ast syn::ExprBinary) {
        if is_assignment(&b.op) {
            self.target(&b.left);
        }
        syn::visit::visit_expr_binary(self, b);
    }

    fn visit_expr_reference(&mut self, r: &'ast syn::ExprReference) {
        if r.mutability.is_some() {
            self.target(&r.expr);
        }
        syn::visit::visit_expr_reference(self, r);
    }

    fn visit_expr_method_call(&mut self, m: &'ast syn::ExprMethodCall) {
        if may_change(&m.method.to_string())
            && let Some(Root::Local(id)) = places::root(&m.receiver)
        {
            self.maybe(id);
        }
        syn::visit::visit_expr_method_call(self, m);
    }

    fn visit_macro(&mut self, m: &'ast Macro) {
        if let Arguments::Opaque(tokens) = arguments::read(m) {
            arguments::scan(&tokens, &mut |token, _| {
                if let proc_macro2::TokenTree::Ident(name) = token
                    && let Some(id) = decode(name)
                {
                    self.maybe(id);
                }
            });
        } else {
            places::visit_arguments(self, m);
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether an operator assigns to its left side.
pub fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}
