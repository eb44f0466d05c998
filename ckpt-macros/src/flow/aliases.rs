//! Names for parts of `self`. `let l = &self.l;` borrows nothing for long when modules are only
//! read; in training each call borrows exclusively, and a name kept across two calls would be in
//! the way. So such a name is replaced by the place that it stands for, and a loop whose body uses
//! more of `self` than its own module counts through the modules instead of borrowing them.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenTree};
use syn::{
    Block, Expr, Lit, Macro, Pat, Stmt, parse_quote,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

use super::{
    Context,
    arguments::{self, Arguments},
    names::{self, Local, LocalId, Locals, decode, encode},
    places::{self, Root},
    regions::{self, Region, region_of},
    selfuse::SelfUse,
};

/// Replaces such names in a resolved block.
pub fn expand(block: &mut Block, locals: &mut Locals, regions: &[Region], cx: &Context) {
    let mut pinned = Pinned(BTreeSet::new());
    pinned.visit_block(block);
    let mut e = Expander { locals, regions, cx, pinned: pinned.0, places: BTreeMap::new() };
    e.visit_block_mut(block);
}

/// Locals named where nothing can be put in their place.
struct Pinned(BTreeSet<LocalId>);

impl<'ast> Visit<'ast> for Pinned {
    fn visit_macro(&mut self, m: &'ast Macro) {
        arguments::scan(&m.tokens, &mut |token, _| {
            if let TokenTree::Literal(l) = token {
                self.0.extend(names::captured(l));
            }
        });
        if let Arguments::Opaque(tokens) = arguments::read(m) {
            arguments::scan(&tokens, &mut |token, _| {
                if let TokenTree::Ident(name) = token {
                    self.0.extend(decode(name));
                }
            });
        } else {
            places::visit_arguments(self, m);
        }
    }
}

struct Expander<'a> {
    locals: &'a mut Locals,
    regions: &'a [Region],
    cx: &'a Context,
    pinned: BTreeSet<LocalId>,
    places: BTreeMap<LocalId, Expr>,
}

impl Expander<'_> {
    /// The local that a pattern is, if it is only that.
    fn name(&self, pat: &Pat) -> Option<LocalId> {
        match pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.mutability.is_none() && p.subpat.is_none() => {
                decode(&p.ident).filter(|id| !self.pinned.contains(id))
            }
            _ => None,
        }
    }

    /// Whether a place in `self` stays the same wherever it is named.
    fn is_fixed(&self, e: &Expr) -> bool {
        match e {
            Expr::Field(f) => places::is_self(&f.base) || self.is_fixed(&f.base),
            Expr::Index(i) => {
                let index = match &*i.index {
                    Expr::Lit(l) => matches!(l.lit, Lit::Int(_)),
                    e => places::local(e).is_some_and(|id| {
                        let local = self.locals.get(id);
                        local.copy && !local.mutable
                    }),
                };
                index && self.is_fixed(&i.expr)
            }
            Expr::Paren(p) => self.is_fixed(&p.expr),
            _ => false,
        }
    }

    /// Notes what `l` names, and whether it is then needed no more.
    fn names_place(&mut self, l: &syn::Local) -> bool {
        let Some(init) = &l.init else { return false };
        let mut found = Vec::new();
        let all = l.attrs.is_empty() && self.borrows(&l.pat, &init.expr, &mut found);
        if all {
            self.places.extend(found);
        }
        all
    }

    /// Finds the places that binding `pat` to `source` gives names to; false where that is not all
    /// it does.
    fn borrows(&self, pat: &Pat, source: &Expr, found: &mut Vec<(LocalId, Expr)>) -> bool {
        match (pat, source) {
            (Pat::Tuple(p), Expr::Tuple(t)) if p.elems.len() == t.elems.len() => {
                p.elems.iter().zip(&t.elems).all(|(pat, source)| self.borrows(pat, source, found))
            }
            (_, Expr::Reference(r)) if r.mutability.is_none() && self.is_fixed(&r.expr) => {
                self.parts(pat, &r.expr, found)
            }
            (Pat::Struct(_) | Pat::TupleStruct(_), source) if places::is_self(source) => self.parts(pat, source, found),
            _ => false,
        }
    }

    /// The parts of `place` that `pat` names. A variant's fields are no places, so of types with
    /// names only `Self` is looked into.
    fn parts(&self, pat: &Pat, place: &Expr, found: &mut Vec<(LocalId, Expr)>) -> bool {
        let is_self = places::is_self(place);
        match pat {
            Pat::Wild(_) => true,
            Pat::Struct(p) if is_self && p.path.is_ident("Self") => p.fields.iter().all(|f| {
                let member = &f.member;
                self.parts(&f.pat, &parse_quote!(#place.#member), found)
            }),
            Pat::TupleStruct(p) if is_self && p.path.is_ident("Self") => self.elements(&p.elems, place, found),
            Pat::Tuple(p) => self.elements(&p.elems, place, found),
            _ => match self.name(pat) {
                Some(id) if !is_self => {
                    found.push((id, place.clone()));
                    true
                }
                _ => false,
            },
        }
    }

    fn elements(
        &self,
        elements: &syn::punctuated::Punctuated<Pat, syn::Token![,]>,
        place: &Expr,
        found: &mut Vec<(LocalId, Expr)>,
    ) -> bool {
        elements.iter().enumerate().all(|(i, pat)| {
            let index = syn::Index::from(i);
            let is_last = i + 1 == elements.len();
            matches!(pat, Pat::Rest(_)) && is_last || self.parts(pat, &parse_quote!(#place.#index), found)
        })
    }

    /// Turns a loop over modules into one that counts, where its body uses the modules, or all of
    /// `self`, by another way too.
    fn count(&mut self, f: &mut syn::ExprForLoop) {
        let cut = region_of(&f.attrs).is_some_and(|id| self.regions[id].segments().is_some());
        let (source, number, item) = match (&*f.expr, &*f.pat) {
            (Expr::MethodCall(m), Pat::Tuple(t)) if m.method == "enumerate" && t.elems.len() == 2 => {
                (regions::loop_source(&m.receiver), self.name(&t.elems[0]), self.name(&t.elems[1]))
            }
            (e, pat) => (regions::loop_source(e), None, self.name(pat)),
        };
        let (Some(source), Some(item)) = (source.cloned(), item) else {
            return;
        };
        if cut || places::root(&source) != Some(Root::Itself) || !self.is_fixed(&source) {
            return;
        }
        if matches!(&*f.pat, Pat::Tuple(_)) && number.is_none() {
            return;
        }
        if !SelfUse::of(self.cx, |u| u.visit_block(&f.body)).meets(&source) {
            return;
        }
        let number = number.unwrap_or_else(|| {
            self.locals.add(Local {
                name: syn::Ident::new("__ckpt_i", Span::call_site()),
                mutable: false,
                copy: true,
                exclusive: false,
                lent: None,
            })
        });
        self.locals.get_mut(number).copy = true;
        let (rt, name) = (&self.cx.rt, encode(number, Span::call_site()));
        self.places.insert(item, parse_quote!(#source[#name]));
        *f.pat =
            Pat::Ident(syn::PatIdent { attrs: Vec::new(), by_ref: None, mutability: None, ident: name, subpat: None });
        *f.expr = parse_quote!(
            0..::core::iter::ExactSizeIterator::len(&#rt::__private::blocks(&#source))
        );
    }

    fn place(&self, e: &Expr) -> Option<Expr> {
        self.places.get(&places::local(e)?).cloned()
    }
}

impl VisitMut for Expander<'_> {
    fn visit_block_mut(&mut self, b: &mut Block) {
        for mut s in std::mem::take(&mut b.stmts) {
            self.visit_stmt_mut(&mut s);
            if !matches!(&s, Stmt::Local(l) if self.names_place(l)) {
                b.stmts.push(s);
            }
        }
    }

    fn visit_expr_for_loop_mut(&mut self, f: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut f.expr);
        self.count(f);
        self.visit_block_mut(&mut f.body);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        // Where a reference would be looked through, the place itself stands.
        let through = match e {
            Expr::MethodCall(m) => Some(&mut m.receiver),
            Expr::Field(f) => Some(&mut f.base),
            Expr::Index(i) => Some(&mut i.expr),
            _ => None,
        };
        if let Some(inner) = through
            && let Some(place) = self.place(inner)
        {
            **inner = place;
        }
        let whole = match e {
            Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => self.place(&u.expr),
            Expr::Path(_) => self.place(e).map(|place| parse_quote!(&#place)),
            _ => None,
        };
        match whole {
            Some(new) => *e = new,
            None => visit_mut::visit_expr_mut(self, e),
        }
    }

    fn visit_field_value_mut(&mut self, f: &mut syn::FieldValue) {
        self.visit_expr_mut(&mut f.expr);
        if f.colon_token.is_none() && !matches!(f.expr, Expr::Path(_)) {
            f.colon_token = Some(Default::default());
        }
    }

    fn visit_macro_mut(&mut self, m: &mut Macro) {
        arguments::edit(m, |arguments| match arguments {
            Arguments::List(list) => list.iter_mut().for_each(|a| self.visit_expr_mut(&mut a.value)),
            Arguments::Repeat(value, n) => {
                self.visit_expr_mut(value);
                self.visit_expr_mut(n);
            }
            Arguments::Statements(statements) => {
                statements.iter_mut().for_each(|s| self.visit_stmt_mut(s));
            }
            Arguments::Opaque(_) => {}
        });
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;
    use crate::flow::{Parameters, scope, tests::context};

    fn expanded(mut block: Block) -> String {
        let mut locals = scope::resolve(&mut block, &Parameters::default(), &parse_quote!(E));
        expand(&mut block, &mut locals, &[], &context());
        locals.restore(block.into_token_stream()).to_string()
    }

    fn same(block: Block, expected: Block) {
        assert_eq!(expanded(block), expected.into_token_stream().to_string());
    }

    #[test]
    fn a_name_of_a_field_is_the_field() {
        same(
            parse_quote!({
                let l = &self.l;
                f(l, l.w.clone(), *l)
            }),
            parse_quote!({ f(&self.l, self.l.w.clone(), self.l) }),
        );
        same(
            parse_quote!({
                let b = &self.b;
                let c = &b.c[0];
                c.forward(x)
            }),
            parse_quote!({ self.b.c[0].forward(x) }),
        );
        same(
            parse_quote!({
                let Self { a, b: (c, _), .. } = self;
                a.forward(c.forward(x))
            }),
            parse_quote!({ self.a.forward(self.b.0.forward(x)) }),
        );
        same(
            parse_quote!({
                let (a, b) = (&self.a, &self.b);
                let Some(c) = &self.c;
                f(a, b, c)
            }),
            parse_quote!({
                let Some(c) = &self.c;
                f(&self.a, &self.b, c)
            }),
        );
    }

    #[test]
    fn a_name_that_a_macro_needs_stays() {
        same(
            parse_quote!({
                let l = &self.l;
                note!(=> l);
            }),
            parse_quote!({
                let l = &self.l;
                note!(=> l);
            }),
        );
    }

    #[test]
    fn a_loop_counts_where_its_body_uses_more_of_the_module() {
        same(
            parse_quote!({
                for b in &self.blocks {
                    x = self.mix(b.forward(x));
                }
            }),
            parse_quote!({
                for b in &self.blocks {
                    x = self.mix(b.forward(x));
                }
            }),
        );
        same(
            parse_quote!({
                for b in &self.blocks {
                    x = self.helper(b.forward(x));
                }
            }),
            parse_quote!({
                for __ckpt_i in 0..::core::iter::ExactSizeIterator::len(&rt::__private::blocks(&self.blocks)) {
                    x = self.helper(self.blocks[__ckpt_i].forward(x));
                }
            }),
        );
    }
}
