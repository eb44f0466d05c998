//! Which parts of `self` a piece of a body names: what a region has to be lent.

use proc_macro2::TokenTree;
use syn::{Expr, Macro, Member, visit::Visit};

use super::{
    Context,
    arguments::{self, Arguments},
    names::LocalId,
    places::{self, Root},
};

/// The parts of `self` that something names, and the locals.
#[derive(Debug, Default)]
pub struct SelfUse {
    /// First-level fields, in order of appearance.
    pub fields: Vec<Member>,
    /// Whether `self` is used as a whole, as by `self.helper(x)`.
    pub whole: bool,
    /// The locals named.
    pub locals: Vec<LocalId>,
}

impl SelfUse {
    /// What `visit` walks over.
    pub fn of(cx: &Context, visit: impl FnOnce(&mut Finder<'_>)) -> Self {
        let mut f = Finder { cx, found: Self::default() };
        visit(&mut f);
        f.found
    }

    /// Whether using the place `e` exclusively would meet a use found here.
    pub fn meets(&self, e: &Expr) -> bool {
        match places::root(e) {
            Some(Root::Local(id)) => self.locals.contains(&id),
            Some(Root::Itself) => match places::field_of_self(e) {
                Some(field) => self.whole || self.fields.contains(field),
                None => self.whole || !self.fields.is_empty(),
            },
            None => false,
        }
    }
}

/// The walk of [`SelfUse::of`].
pub struct Finder<'a> {
    cx: &'a Context,
    found: SelfUse,
}

impl Finder<'_> {
    fn field(&mut self, member: Member) {
        if !self.found.fields.contains(&member) {
            self.found.fields.push(member);
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr_field(&mut self, f: &'ast syn::ExprField) {
        if places::is_self(&f.base) {
            self.field(f.member.clone());
        } else {
            syn::visit::visit_expr_field(self, f);
        }
    }

    fn visit_expr_method_call(&mut self, m: &'ast syn::ExprMethodCall) {
        if self.cx.calls_field(m) {
            self.field(Member::Named(m.method.clone()));
            m.args.iter().for_each(|a| self.visit_expr(a));
        } else {
            syn::visit::visit_expr_method_call(self, m);
        }
    }

    fn visit_expr_path(&mut self, p: &'ast syn::ExprPath) {
        if p.path.is_ident("self") {
            self.found.whole = true;
        }
        self.found.locals.extend(p.path.get_ident().and_then(super::names::decode));
    }

    fn visit_macro(&mut self, m: &'ast Macro) {
        if let Arguments::Opaque(tokens) = arguments::read(m) {
            arguments::scan(&tokens, &mut |token, _| {
                if let TokenTree::Ident(name) = token {
                    self.found.whole |= name == "self";
                    self.found.locals.extend(super::names::decode(name));
                }
            });
        } else {
            places::visit_arguments(self, m);
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
