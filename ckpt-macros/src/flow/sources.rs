//! Bindings that borrow modules: `for block in &self.blocks`, `if let Some(l) = &self.l`. Where a
//! module so bound is called, training borrows it exclusively.

use proc_macro2::Ident;
use quote::quote;
use syn::{Expr, Pat, visit_mut::VisitMut};

use super::{Access, rewrite::Writer, scope::bound};

impl Writer<'_> {
    /// Rewrites where a loop's modules come from.
    pub(super) fn for_loop(&mut self, f: &mut syn::ExprForLoop) {
        self.source(&f.pat, &mut f.expr, true);
        self.visit_pat_mut(&mut f.pat);
        self.visit_block_mut(&mut f.body);
    }

    /// Rewrites the expression that `pat` is bound to, so that the modules among its bindings can
    /// be trained: `&place` becomes `&mut place`, and in a loop an iterator over its modules.
    pub(super) fn source(&mut self, pat: &Pat, e: &mut Expr, is_loop: bool) {
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
    pub(super) fn trains(&self, pat: &Pat) -> bool {
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
}
