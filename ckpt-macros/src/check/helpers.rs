//! Which methods of an impl run again with a region: what a region calls, and what that calls.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use syn::{Attribute, ImplItemFn, Macro, visit::Visit};

use crate::{
    diagnostic::Findings,
    flow::{places, regions::is_mark},
    options::{self, Kind, Options},
};

/// The names of the methods that are recomputed when a region of the others is.
pub fn replayed(methods: &[&ImplItemFn]) -> BTreeSet<String> {
    let calls: Vec<_> = methods.iter().map(|m| Calls::of(m)).collect();
    let mut reached: BTreeSet<String> = calls.iter().flat_map(|c| c.in_regions.iter().cloned()).collect();
    reached.retain(|name| methods.iter().any(|m| m.sig.ident == name));
    loop {
        let more: Vec<_> = methods
            .iter()
            .zip(&calls)
            .filter(|(m, _)| reached.contains(&m.sig.ident.to_string()))
            .flat_map(|(_, c)| c.all.iter())
            .filter(|name| !reached.contains(*name) && methods.iter().any(|m| m.sig.ident == *name))
            .cloned()
            .collect();
        if more.is_empty() {
            return reached;
        }
        reached.extend(more);
    }
}

/// The methods of `self` that a body calls.
#[derive(Default)]
struct Calls {
    depth: usize,
    in_regions: BTreeSet<String>,
    all: BTreeSet<String>,
}

impl Calls {
    fn of(m: &ImplItemFn) -> Self {
        let mut c = Self::default();
        c.visit_block(&m.block);
        c
    }

    fn call(&mut self, name: &Ident) {
        self.all.insert(name.to_string());
        if self.depth > 0 {
            self.in_regions.insert(name.to_string());
        }
    }

    fn within(&mut self, attrs: &[Attribute], inside: impl FnOnce(&mut Self)) {
        let deeper = usize::from(attrs.iter().any(recomputes));
        self.depth += deeper;
        inside(self);
        self.depth -= deeper;
    }
}

/// Whether an attribute marks a region that runs again.
fn recomputes(a: &Attribute) -> bool {
    // What is wrong with its options is reported where the region is read.
    let mut unreported = Findings::new();
    let marks = is_mark(a) && Options::of_attribute(a, options::LOOP, &mut unreported).kind == Kind::Recompute;
    drop(unreported.into_tokens());
    marks
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_local(&mut self, l: &'ast syn::Local) {
        self.within(&l.attrs, |c| syn::visit::visit_local(c, l));
    }

    fn visit_expr_block(&mut self, b: &'ast syn::ExprBlock) {
        self.within(&b.attrs, |c| syn::visit::visit_expr_block(c, b));
    }

    fn visit_expr_for_loop(&mut self, f: &'ast syn::ExprForLoop) {
        self.within(&f.attrs, |c| syn::visit::visit_expr_for_loop(c, f));
    }

    fn visit_expr_method_call(&mut self, m: &'ast syn::ExprMethodCall) {
        if places::is_self(places::bare(&m.receiver)) {
            self.call(&m.method);
        }
        syn::visit::visit_expr_method_call(self, m);
    }

    fn visit_expr_path(&mut self, p: &'ast syn::ExprPath) {
        let segments = &p.path.segments;
        if segments.len() == 2 && segments[0].ident == "Self" {
            self.call(&segments[1].ident);
        }
    }

    fn visit_macro(&mut self, m: &'ast Macro) {
        places::visit_arguments(self, m);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn what_a_region_reaches_runs_again() {
        let methods: Vec<ImplItemFn> = vec![
            parse_quote!(
                fn forward(&self) {
                    #[checkpoint]
                    let h = self.a(x);
                    #[checkpoint(keep)]
                    {
                        self.d()
                    }
                    self.c()
                }
            ),
            parse_quote!(
                fn a(&self) {
                    Self::b()
                }
            ),
            parse_quote!(
                fn b() {}
            ),
            parse_quote!(
                fn c(&self) {}
            ),
            parse_quote!(
                fn d(&self) {}
            ),
        ];
        let methods: Vec<_> = methods.iter().collect();
        assert_eq!(replayed(&methods), ["a", "b"].map(str::to_owned).into());
    }
}
