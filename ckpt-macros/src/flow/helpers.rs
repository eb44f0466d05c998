//! The other methods of a checkpointed impl: which have a version for each pass, and which are
//! called as they are.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use syn::{ImplItemFn, Macro, visit::Visit};

use super::{
    arguments,
    emit::can_twin,
    places, regions,
    signature::{self, Takes, mentions_float},
};
use crate::{
    diagnostic::{Findings, codes},
    roles::Roles,
};

/// The methods besides `forward`.
pub struct Split<'a> {
    /// With tensors, module calls or marks in them.
    pub twins: Vec<&'a ImplItemFn>,
    /// The others.
    pub plain: Vec<&'a ImplItemFn>,
    calls: Vec<(&'a ImplItemFn, Facts)>,
}

/// Sorts the methods of an impl.
pub fn split<'a>(methods: &[&'a ImplItemFn], roles: &Roles) -> Split<'a> {
    let names: Vec<&Ident> = methods.iter().map(|m| &m.sig.ident).collect();
    let calls: Vec<_> = methods.iter().map(|m| (*m, Facts::of(m, &names))).collect();
    let mut chosen: BTreeSet<String> = calls
        .iter()
        .filter(|(m, f)| can_twin(m) && (f.modules || mentions_float(&m.sig, roles)))
        .map(|(m, _)| m.sig.ident.to_string())
        .collect();
    chosen.insert("forward".to_owned());
    // What calls a method with versions needs versions itself.
    loop {
        let more: Vec<_> = calls
            .iter()
            .filter(|(m, f)| can_twin(m) && f.called.iter().any(|c| chosen.contains(c)))
            .map(|(m, _)| m.sig.ident.to_string())
            .filter(|name| !chosen.contains(name))
            .collect();
        if more.is_empty() {
            break;
        }
        chosen.extend(more);
    }
    let others = methods.iter().copied().filter(|m| m.sig.ident != "forward");
    let (twins, plain) = others.partition(|m| chosen.contains(&m.sig.ident.to_string()));
    Split { twins, plain, calls }
}

impl Split<'_> {
    /// Reports methods that change the module and that `from` reaches.
    pub fn changes_state(&self, from: Ident, findings: &mut Findings) {
        let mut reached = vec![from.to_string()];
        let mut at = 0;
        while let Some(name) = reached.get(at).cloned() {
            at += 1;
            let Some((method, facts)) = self.calls.iter().find(|(m, _)| m.sig.ident == name) else {
                continue;
            };
            if at > 1 && signature::takes(&method.sig) == Takes::Exclusive {
                findings.push(
                    codes::MODULE_STATE,
                    method.sig.inputs.first().to_token_stream(),
                    "the forward reaches this method, which changes the module",
                    "write `&self`, and hand back what changes as a value",
                );
            }
            for called in &facts.called {
                if !reached.contains(called) {
                    reached.push(called.clone());
                }
            }
        }
    }
}

/// What a method's body does, as far as it matters here.
struct Facts {
    names: Vec<String>,
    modules: bool,
    called: BTreeSet<String>,
}

impl Facts {
    fn of(m: &ImplItemFn, names: &[&Ident]) -> Self {
        let mut f =
            Self { names: names.iter().map(ToString::to_string).collect(), modules: false, called: BTreeSet::new() };
        f.visit_block(&m.block);
        f
    }

    fn call(&mut self, name: &Ident) -> bool {
        let name = name.to_string();
        let known = self.names.contains(&name);
        if known {
            self.called.insert(name);
        }
        known
    }
}

impl<'ast> Visit<'ast> for Facts {
    fn visit_expr_method_call(&mut self, m: &'ast syn::ExprMethodCall) {
        if places::is_self(places::bare(&m.receiver)) {
            let own = self.call(&m.method);
            self.modules |= !own && !m.args.is_empty();
        } else if places::is_forward(&m.method) {
            self.modules = true;
        }
        syn::visit::visit_expr_method_call(self, m);
    }

    fn visit_expr_path(&mut self, p: &'ast syn::ExprPath) {
        let segments = &p.path.segments;
        if segments.len() == 2 && segments[0].ident == "Self" {
            self.call(&segments[1].ident);
        }
    }

    fn visit_attribute(&mut self, a: &'ast syn::Attribute) {
        self.modules |= regions::is_mark(a);
    }

    fn visit_macro(&mut self, m: &'ast Macro) {
        self.modules |= arguments::is(m, "checkpoint") || arguments::is(m, "checkpoint_sequential");
        arguments::scan(&m.tokens, &mut |token, _| {
            if let TokenTree::Ident(name) = token {
                self.call(name);
            }
        });
        places::visit_arguments(self, m);
    }
}
