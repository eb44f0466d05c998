//! The walk through a body: it knows the regions around each expression, and shows it to the rules.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Block, Expr, Macro, visit::Visit};

use super::{RULES, Rule, forms::Found, leaving, values::Values};
use crate::{
    diagnostic::Findings,
    flow::{
        Context, Parameters, arguments,
        names::Locals,
        places,
        regions::{Region, region_of},
    },
};

/// A resolved body to check.
pub struct Subject<'a> {
    /// The block, with the marks of its regions.
    pub block: &'a Block,
    /// Its locals.
    pub locals: &'a Locals,
    /// Its regions.
    pub regions: &'a [Region],
    /// Its parameters.
    pub parameters: &'a Parameters,
    /// What surrounds it.
    pub cx: &'a Context,
}

/// Reports all misuse in a body.
pub fn body(subject: &Subject<'_>, findings: &mut Findings) {
    leaving::check(subject.block, subject.regions, findings);
    let values = Values::read(subject.block, subject.locals, subject.parameters, subject.cx);
    let at = At {
        values: &values,
        cx: subject.cx,
        regions: subject.regions,
        around: Vec::new(),
        in_first_pass: false,
        assigned: false,
    };
    Walk { at, findings, said: Vec::new() }.visit_block(subject.block);
}

/// Where a piece of code stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Where {
    /// In a forward, outside of regions.
    Forward,
    /// In a region that is only run once.
    Region,
    /// In a region that runs again.
    Recompute,
}

/// What is around the node that a rule looks at.
pub struct At<'a> {
    /// What is known of values.
    pub values: &'a Values<'a>,
    /// What surrounds the body.
    pub cx: &'a Context,
    regions: &'a [Region],
    around: Vec<usize>,
    in_first_pass: bool,
    assigned: bool,
}

impl At<'_> {
    /// Where it stands.
    pub fn stands(&self) -> Where {
        let regions = self.around.iter().map(|id| &self.regions[*id]);
        let outermost = if self.cx.replayed { Where::Recompute } else { Where::Forward };
        let of = |r: &Region| if r.recomputes() { Where::Recompute } else { Where::Region };
        regions.map(of).max().unwrap_or(outermost).max(outermost)
    }

    /// Whether what a place begins at is declared outside of the region around.
    pub fn comes_in(&self, place: &Expr) -> bool {
        self.values.declared(place).is_some_and(|(_, depth)| depth < self.depth())
    }

    /// How many regions are around, the one that a helper is called in among them.
    fn depth(&self) -> usize {
        self.around.len() + usize::from(self.cx.replayed)
    }

    /// The name of the region around, for messages that are said once in it.
    pub fn region(&self) -> Option<&str> {
        self.around.last().map(|id| self.regions[*id].name.as_str())
    }

    /// Whether `first_pass! { .. }` is around.
    pub fn in_first_pass(&self) -> bool {
        self.in_first_pass
    }

    /// Whether it is what an assignment assigns to.
    pub fn is_assigned(&self) -> bool {
        self.assigned
    }

    /// Tokens as the user wrote them, on one line.
    pub fn show(&self, tokens: &impl ToTokens) -> String {
        show(self.values.locals().restore(tokens.to_token_stream()))
    }

    fn allows(&self, word: &str) -> bool {
        self.cx.allow.iter().any(|a| a == word) || self.around.iter().any(|id| self.regions[*id].options.allows(word))
    }

    fn applies(&self, rule: &dyn Rule) -> bool {
        !(rule.allowed_by().is_some_and(|word| self.allows(word)) || self.in_first_pass && rule.once_in_first_pass())
    }
}

/// Tokens with the spaces that people write.
pub fn show(tokens: TokenStream) -> String {
    const MOST: usize = 40;
    let mut text = tokens.to_string();
    for (from, to) in [
        (" . ", "."),
        (" :: ", "::"),
        (":: ", "::"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        ("& ", "&"),
        ("* ", "*"),
        (" ?", "?"),
        (" [", "["),
        ("[ ", "["),
        (" ]", "]"),
        (" !", "!"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
    ] {
        text = text.replace(from, to);
    }
    if text.chars().count() > MOST {
        text = text.chars().take(MOST - 2).collect::<String>() + "..";
    }
    text
}

struct Walk<'a> {
    at: At<'a>,
    findings: &'a mut Findings,
    said: Vec<String>,
}

impl Walk<'_> {
    fn rules(&mut self, show: impl Fn(&dyn Rule, &At<'_>, &mut Found<'_>)) {
        for rule in RULES.iter().filter(|r| self.at.applies(**r)) {
            let mut found = Found { code: rule.code(), findings: self.findings, said: &mut self.said };
            show(*rule, &self.at, &mut found);
        }
    }

    fn within(&mut self, attrs: &[Attribute], inside: impl FnOnce(&mut Self)) {
        let depth = self.at.around.len();
        self.at.around.extend(region_of(attrs));
        inside(self);
        self.at.around.truncate(depth);
    }

    /// Visits what an assignment assigns to.
    fn assigned(&mut self, left: &Expr) {
        self.at.assigned = true;
        self.visit_expr(left);
        self.at.assigned = false;
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_expr(&mut self, e: &'ast Expr) {
        let attrs: &[Attribute] = match e {
            Expr::Block(b) => &b.attrs,
            Expr::ForLoop(f) => &f.attrs,
            _ => &[],
        };
        if region_of(attrs).is_some() {
            // What stands on a region stands outside of it.
            attrs.iter().for_each(|a| self.visit_attribute(a));
        }
        self.within(attrs, |w| {
            w.rules(|rule, at, found| rule.expr(e, at, found));
            let assigned = std::mem::replace(&mut w.at.assigned, false);
            match e {
                Expr::Assign(a) => {
                    w.assigned(&a.left);
                    w.visit_expr(&a.right);
                }
                Expr::Binary(b) if crate::flow::assigned::is_assignment(&b.op) => {
                    w.assigned(&b.left);
                    w.visit_expr(&b.right);
                }
                Expr::Block(b) if region_of(attrs).is_some() => w.visit_block(&b.block),
                Expr::ForLoop(f) if region_of(attrs).is_some() => {
                    w.visit_expr(&f.expr);
                    w.visit_block(&f.body);
                }
                _ => syn::visit::visit_expr(w, e),
            }
            w.at.assigned = assigned;
        });
    }

    fn visit_local(&mut self, l: &'ast syn::Local) {
        l.attrs.iter().for_each(|a| self.visit_attribute(a));
        self.within(&l.attrs, |w| {
            if let Some(init) = &l.init {
                w.visit_local_init(init);
            }
        });
    }

    fn visit_macro(&mut self, m: &'ast Macro) {
        self.rules(|rule, at, found| rule.invocation(m, at, found));
        let first_pass = self.at.in_first_pass;
        self.at.in_first_pass |= arguments::is(m, "first_pass");
        places::visit_arguments(self, m);
        self.at.in_first_pass = first_pass;
    }

    fn visit_attribute(&mut self, a: &'ast Attribute) {
        self.rules(|rule, at, found| rule.attribute(a, at, found));
    }

    fn visit_item(&mut self, i: &'ast syn::Item) {
        self.rules(|rule, at, found| rule.item(i, at, found));
    }
}
