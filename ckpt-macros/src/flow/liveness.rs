//! Which use of a local is its last: a walk backward over the tree, loops to a fixpoint.
//!
//! A use by value that is not the last becomes a clone. The rule cannot break a body that Rust
//! would take as it is: there, a moved value has no later use, unless it is `Copy`, or an `&mut`
//! that Rust reborrows, and both are told apart as far as syntax can.
//!
//! The same walk gives each region its inputs (what is live where it begins) and its outputs (what
//! it changes and is live where it ends). A region's body is a function of its own, so inside it
//! nothing behind the region is live.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenTree};
use quote::ToTokens;
use syn::{Block, Expr, Macro, Pat, Stmt, parse_quote_spanned, spanned::Spanned, visit::Visit};

use super::{
    arguments::{self, Arguments},
    assigned::{assigned, is_assignment},
    names::{self, LocalId, Locals, decode},
    places,
    regions::{Region, region_of},
    rewrite::at,
    scope::{bound, compares},
    tensor_methods::consumes,
};

/// The locals whose value may be used later.
pub type Live = BTreeSet<LocalId>;

/// What crosses a region's edges.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Locals that go in by value, and whether each is used again behind the region.
    pub inputs: Vec<(LocalId, bool)>,
    /// Locals that borrow modules, lent as parameters.
    pub lent: Vec<LocalId>,
    /// Outer locals that come out. In a loop cut into segments these also go in.
    pub outputs: Vec<LocalId>,
    /// Outer locals that are assigned inside but bring no value in: declared anew.
    pub declared: Vec<LocalId>,
}

/// Writes the clones into `block` and returns the edges of its regions. Where `dissolve` is set
/// the marks mean nothing.
pub fn analyse(block: &mut Block, locals: &Locals, regions: &[Region], dissolve: bool) -> Vec<Edges> {
    let mut walk = Walk {
        locals,
        regions,
        dissolve,
        edges: vec![Edges::default(); regions.len()],
        commit: true,
        targets: Vec::new(),
        at_return: Live::new(),
    };
    walk.block(block, &mut Live::new());
    walk.edges
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The value is moved, or copied.
    Value,
    /// Only looked at, borrowed or assigned through.
    Place,
}

/// What a `break` or `continue` makes live.
struct Target {
    label: Option<Ident>,
    is_loop: bool,
    at_break: Live,
    at_continue: Live,
}

struct Walk<'a> {
    locals: &'a Locals,
    regions: &'a [Region],
    dissolve: bool,
    edges: Vec<Edges>,
    /// Unset while a loop's fixpoint is sought.
    commit: bool,
    targets: Vec<Target>,
    at_return: Live,
}

impl Walk<'_> {
    fn block(&mut self, b: &mut Block, live: &mut Live) {
        for statement in b.stmts.iter_mut().rev() {
            self.statement(statement, live);
        }
    }

    fn statement(&mut self, s: &mut Stmt, live: &mut Live) {
        match s {
            Stmt::Local(l) => self.local(l, live),
            Stmt::Item(_) => {}
            Stmt::Expr(e, _) => self.expr(e, Use::Value, live),
            Stmt::Macro(m) => self.invocation(&mut m.mac, live),
        }
    }

    fn local(&mut self, l: &mut syn::Local, live: &mut Live) {
        let ids = bound(&l.pat);
        match self.region(&l.attrs) {
            Some(id) => {
                let changed = assigned(self.locals, |a| a.visit_local(l));
                self.enclose(id, &changed, &ids, live, |w, live| w.binding(l, &ids, live));
            }
            None => self.binding(l, &ids, live),
        }
    }

    fn binding(&mut self, l: &mut syn::Local, ids: &[LocalId], live: &mut Live) {
        kill(ids, live);
        let Some(init) = &mut l.init else { return };
        if let Some((_, otherwise)) = &mut init.diverge {
            let mut other = Live::new();
            self.expr(otherwise, Use::Value, &mut other);
            live.extend(other);
        }
        self.expr(&mut init.expr, use_by(&l.pat), live);
    }

    fn region(&self, attrs: &[syn::Attribute]) -> Option<usize> {
        region_of(attrs).filter(|_| !self.dissolve)
    }

    /// Walks a region's body, which starts afresh, and sets its edges.
    fn enclose(
        &mut self,
        id: usize,
        changed: &Live,
        bindings: &[LocalId],
        live: &mut Live,
        walk: impl FnOnce(&mut Self, &mut Live),
    ) {
        kill(bindings, live);
        let outputs: Live = changed.intersection(live).copied().collect();
        let mut inner: Live = outputs.iter().chain(bindings).copied().collect();
        self.apart(Live::new(), |w| walk(w, &mut inner));
        let after: Live = live.difference(&outputs).copied().collect();
        let declared = changed.difference(&inner).copied().collect();
        self.set_edges(id, &inner, &after, outputs, declared);
        *live = after;
        live.extend(inner);
    }

    /// As [`enclose`](Self::enclose) for a loop that is cut into segments: what an iteration
    /// carries to the next goes in and comes out of each.
    fn enclose_segments(&mut self, id: usize, f: &mut syn::ExprForLoop, live: &mut Live) {
        let changed = assigned(self.locals, |a| a.visit_expr_for_loop(f));
        let commit = std::mem::replace(&mut self.commit, false);
        let mut head = live.clone();
        self.apart(Live::new(), |w| w.for_loop(f, &mut head));
        self.commit = commit;
        let carried: Live = changed.intersection(&head).copied().collect();
        let mut inner = carried.clone();
        self.apart(Live::new(), |w| w.for_loop(f, &mut inner));
        let after: Live = live.difference(&carried).copied().collect();
        let declared = changed.difference(&inner).copied().collect();
        self.set_edges(id, &inner, &after, carried, declared);
        *live = after;
        live.extend(inner);
    }

    fn set_edges(&mut self, id: usize, inner: &Live, after: &Live, outputs: Live, declared: Vec<LocalId>) {
        let (lent, values): (Live, Live) = inner.iter().partition(|id| self.locals.get(**id).lent.is_some());
        self.edges[id] = Edges {
            inputs: values.into_iter().map(|id| (id, after.contains(&id))).collect(),
            lent: lent.into_iter().collect(),
            outputs: outputs.into_iter().collect(),
            declared,
        };
    }

    /// Walks something that no `break`, `continue` or `return` of it can leave.
    fn apart(&mut self, at_return: Live, walk: impl FnOnce(&mut Self)) {
        let targets = std::mem::take(&mut self.targets);
        let at_return = std::mem::replace(&mut self.at_return, at_return);
        walk(self);
        self.targets = targets;
        self.at_return = at_return;
    }

    fn take(&mut self, e: &mut Expr, id: LocalId, live: &mut Live) {
        let again = !live.insert(id);
        let local = self.locals.get(id);
        if again && self.commit && !local.copy && !local.exclusive && local.lent.is_none() {
            // Where the value stands: what is wrong with it is said there.
            *e = parse_quote_spanned!(at(e.span())=> ::core::clone::Clone::clone(&#e));
        }
    }

    /// Operands evaluated from left to right, each by value. One that is moved while an earlier
    /// one borrows it is used again, in effect.
    fn operands(&mut self, operands: &mut [(&mut Expr, Use)], live: &mut Live) {
        let borrowed: Vec<Option<LocalId>> = operands
            .iter()
            .map(|(e, _)| match e {
                Expr::Reference(r) => match places::root(&r.expr) {
                    Some(places::Root::Local(id)) => Some(id),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        for (i, (e, by)) in operands.iter_mut().enumerate().rev() {
            if let Some(id) = places::local(e)
                && borrowed[..i].contains(&Some(id))
            {
                live.insert(id);
            }
            self.expr(e, *by, live);
        }
    }

    fn expr(&mut self, e: &mut Expr, by: Use, live: &mut Live) {
        match e {
            Expr::Path(p) => {
                if let Some(id) = p.path.get_ident().and_then(decode) {
                    if by == Use::Value {
                        self.take(e, id, live);
                    } else {
                        live.insert(id);
                    }
                }
            }
            Expr::Paren(p) => self.expr(&mut p.expr, by, live),
            Expr::Group(g) => self.expr(&mut g.expr, by, live),
            Expr::Array(a) => self.values(a.elems.iter_mut(), live),
            Expr::Tuple(t) => self.values(t.elems.iter_mut(), live),
            Expr::Call(c) => {
                let mut all = vec![(&mut *c.func, Use::Place)];
                all.extend(c.args.iter_mut().map(|a| (a, Use::Value)));
                self.operands(&mut all, live);
            }
            Expr::MethodCall(m) => {
                let looks = places::local(&m.receiver).is_some() && !consumes(&m.method.to_string());
                let by = if looks { Use::Place } else { Use::Value };
                let mut all = vec![(&mut *m.receiver, by)];
                all.extend(m.args.iter_mut().map(|a| (a, Use::Value)));
                self.operands(&mut all, live);
            }
            Expr::Assign(a) => {
                self.assignee(&mut a.left, live);
                self.expr(&mut a.right, Use::Value, live);
            }
            Expr::Binary(b) => self.binary(b, live),
            Expr::Unary(u) => {
                let by = if matches!(u.op, syn::UnOp::Deref(_)) { Use::Place } else { Use::Value };
                self.expr(&mut u.expr, by, live);
            }
            Expr::Await(a) => self.expr(&mut a.base, Use::Value, live),
            Expr::Try(t) => self.expr(&mut t.expr, Use::Value, live),
            Expr::Cast(c) => self.expr(&mut c.expr, Use::Place, live),
            Expr::Field(f) => self.expr(&mut f.base, Use::Place, live),
            Expr::Index(i) => {
                self.expr(&mut i.index, Use::Place, live);
                self.expr(&mut i.expr, Use::Place, live);
            }
            Expr::Reference(r) => self.expr(&mut r.expr, Use::Place, live),
            Expr::RawAddr(r) => self.expr(&mut r.expr, Use::Place, live),
            Expr::Range(r) => {
                for end in r.end.iter_mut().chain(&mut r.start) {
                    self.expr(end, Use::Value, live);
                }
            }
            Expr::Repeat(r) => self.expr(&mut r.expr, Use::Value, live),
            Expr::Struct(s) => {
                if let Some(rest) = &mut s.rest {
                    self.expr(rest, Use::Place, live);
                }
                for field in s.fields.iter_mut().rev() {
                    self.expr(&mut field.expr, Use::Value, live);
                    if field.colon_token.is_none() && !matches!(field.expr, Expr::Path(_)) {
                        field.colon_token = Some(Default::default());
                    }
                }
            }
            Expr::Let(l) => {
                kill(&bound(&l.pat), live);
                self.expr(&mut l.expr, use_by(&l.pat), live);
            }
            Expr::Block(b) => self.expr_block(b, live),
            Expr::Unsafe(u) => self.block(&mut u.block, live),
            Expr::Const(c) => self.block(&mut c.block, live),
            Expr::TryBlock(t) => self.block(&mut t.block, live),
            Expr::Async(a) => {
                let mut inner = live.clone();
                self.apart(live.clone(), |w| w.block(&mut a.block, &mut inner));
                live.extend(inner);
            }
            Expr::If(i) => self.branch(i, live),
            Expr::Match(m) => self.arms(m, live),
            Expr::Loop(l) => {
                let label = label(&l.label);
                *live = self.iterate(label, &live.clone(), |w, head| {
                    let mut at = head.clone();
                    w.block(&mut l.body, &mut at);
                    at
                });
            }
            Expr::While(w) => self.while_loop(w, live),
            Expr::ForLoop(f) => match self.region(&f.attrs) {
                Some(id) if self.regions[id].segments().is_some() => {
                    self.enclose_segments(id, f, live);
                }
                Some(id) => {
                    let changed = assigned(self.locals, |a| a.visit_expr_for_loop(f));
                    self.enclose(id, &changed, &[], live, |w, live| w.for_loop(f, live));
                }
                None => self.for_loop(f, live),
            },
            Expr::Closure(c) => {
                // It may run again as long as what it captures lives; moved captures are its own.
                let end = if c.capture.is_some() { Live::new() } else { live.clone() };
                let mut inner = end.clone();
                self.apart(end, |w| w.expr(&mut c.body, Use::Value, &mut inner));
                for input in &c.inputs {
                    kill(&bound(input), &mut inner);
                }
                live.extend(inner);
            }
            Expr::Break(b) => {
                *live = self.target(b.label.as_ref(), |t| &t.at_break);
                if let Some(value) = &mut b.expr {
                    self.expr(value, Use::Value, live);
                }
            }
            Expr::Continue(c) => *live = self.target(c.label.as_ref(), |t| &t.at_continue),
            Expr::Return(r) => {
                *live = self.at_return.clone();
                if let Some(value) = &mut r.expr {
                    self.expr(value, Use::Value, live);
                }
            }
            Expr::Yield(y) => {
                if let Some(value) = &mut y.expr {
                    self.expr(value, Use::Value, live);
                }
            }
            Expr::Macro(m) => self.invocation(&mut m.mac, live),
            _ => {}
        }
    }

    fn values<'e>(&mut self, all: impl Iterator<Item = &'e mut Expr>, live: &mut Live) {
        let mut all: Vec<_> = all.map(|e| (e, Use::Value)).collect();
        self.operands(&mut all, live);
    }

    fn binary(&mut self, b: &mut syn::ExprBinary, live: &mut Live) {
        use syn::BinOp::{And, Or};
        if is_assignment(&b.op) {
            self.expr(&mut b.left, Use::Place, live);
            self.expr(&mut b.right, Use::Value, live);
        } else if matches!(b.op, And(_) | Or(_)) {
            let without = live.clone();
            self.expr(&mut b.right, Use::Place, live);
            live.extend(without);
            self.expr(&mut b.left, Use::Place, live);
        } else {
            let by = if compares(&b.op) { Use::Place } else { Use::Value };
            self.operands(&mut [(&mut *b.left, by), (&mut *b.right, by)], live);
        }
    }

    /// The left side of `=`: a local there is given a value, anything else is looked through.
    fn assignee(&mut self, e: &mut Expr, live: &mut Live) {
        match e {
            Expr::Tuple(t) => t.elems.iter_mut().for_each(|e| self.assignee(e, live)),
            Expr::Array(a) => a.elems.iter_mut().for_each(|e| self.assignee(e, live)),
            Expr::Call(c) => c.args.iter_mut().for_each(|e| self.assignee(e, live)),
            Expr::Struct(s) => s.fields.iter_mut().for_each(|f| self.assignee(&mut f.expr, live)),
            e => match places::local(e) {
                Some(id) => {
                    live.remove(&id);
                }
                None => self.expr(e, Use::Place, live),
            },
        }
    }

    fn expr_block(&mut self, b: &mut syn::ExprBlock, live: &mut Live) {
        if let Some(id) = self.region(&b.attrs) {
            let changed = assigned(self.locals, |a| a.visit_expr_block(b));
            self.enclose(id, &changed, &[], live, |w, live| w.labelled(b, live));
        } else {
            self.labelled(b, live);
        }
    }

    fn labelled(&mut self, b: &mut syn::ExprBlock, live: &mut Live) {
        if b.label.is_some() {
            self.targets.push(Target {
                label: label(&b.label),
                is_loop: false,
                at_break: live.clone(),
                at_continue: Live::new(),
            });
        }
        self.block(&mut b.block, live);
        if b.label.is_some() {
            self.targets.pop();
        }
    }

    fn branch(&mut self, i: &mut syn::ExprIf, live: &mut Live) {
        let mut otherwise = live.clone();
        if let Some((_, e)) = &mut i.else_branch {
            self.expr(e, Use::Value, &mut otherwise);
        }
        self.block(&mut i.then_branch, live);
        let bound = bound_in_condition(&i.cond);
        live.extend(otherwise);
        self.expr(&mut i.cond, Use::Place, live);
        kill(&bound, live);
    }

    fn arms(&mut self, m: &mut syn::ExprMatch, live: &mut Live) {
        let after = live.clone();
        live.clear();
        let mut by = Use::Place;
        for arm in m.arms.iter_mut().rev() {
            let mut here = after.clone();
            self.expr(&mut arm.body, Use::Value, &mut here);
            if let Pat::Guard(g) = &mut arm.pat {
                // Where the guard fails, the next arms are tried.
                here.extend(live.iter().copied());
                self.expr(&mut g.guard, Use::Place, &mut here);
            }
            kill(&bound(&arm.pat), &mut here);
            live.extend(here);
            if use_by(&arm.pat) == Use::Value {
                by = Use::Value;
            }
        }
        self.expr(&mut m.expr, by, live);
    }

    fn iterate(&mut self, label: Option<Ident>, exit: &Live, mut once: impl FnMut(&mut Self, &Live) -> Live) -> Live {
        let mut run = |w: &mut Self, head: &Live| {
            w.targets.push(Target {
                label: label.clone(),
                is_loop: true,
                at_break: exit.clone(),
                at_continue: head.clone(),
            });
            let at = once(w, head);
            w.targets.pop();
            at
        };
        let commit = std::mem::replace(&mut self.commit, false);
        let mut head = Live::new();
        loop {
            let at = run(self, &head);
            if at.is_subset(&head) {
                break;
            }
            head.extend(at);
        }
        self.commit = commit;
        if commit {
            run(self, &head);
        }
        head
    }

    fn while_loop(&mut self, l: &mut syn::ExprWhile, live: &mut Live) {
        let exit = live.clone();
        let bound = bound_in_condition(&l.cond);
        *live = self.iterate(label(&l.label), &exit, |w, head| {
            let mut at = head.clone();
            w.block(&mut l.body, &mut at);
            at.extend(exit.iter().copied());
            w.expr(&mut l.cond, Use::Place, &mut at);
            kill(&bound, &mut at);
            at
        });
    }

    fn for_loop(&mut self, f: &mut syn::ExprForLoop, live: &mut Live) {
        let exit = live.clone();
        let ids = bound(&f.pat);
        *live = self.iterate(label(&f.label), &exit, |w, head| {
            let mut at = head.clone();
            w.block(&mut f.body, &mut at);
            kill(&ids, &mut at);
            at.extend(exit.iter().copied());
            at
        });
        self.expr(&mut f.expr, Use::Value, live);
    }

    fn target(&self, label: Option<&syn::Lifetime>, of: impl Fn(&Target) -> &Live) -> Live {
        let hit = self.targets.iter().rev().find(|t| match label {
            Some(l) => t.label.as_ref() == Some(&l.ident),
            None => t.is_loop,
        });
        hit.map(|t| of(t).clone()).unwrap_or_default()
    }

    fn invocation(&mut self, m: &mut Macro, live: &mut Live) {
        let by = if arguments::moves(m) { Use::Value } else { Use::Place };
        let mut seen = Live::new();
        arguments::edit(m, |arguments| match arguments {
            Arguments::List(list) => {
                for a in list.iter_mut().rev() {
                    self.expr(&mut a.value, by, live);
                    if let Expr::Lit(l) = &a.value {
                        mentions(l.lit.to_token_stream(), &mut seen);
                    }
                }
            }
            Arguments::Repeat(value, n) => {
                self.expr(n, Use::Place, live);
                self.expr(value, by, live);
            }
            Arguments::Statements(statements) => {
                // They run in the first pass only.
                let skipped = live.clone();
                for s in statements.iter_mut().rev() {
                    self.statement(s, live);
                }
                live.extend(skipped);
            }
            Arguments::Opaque(tokens) => mentions(tokens.clone(), &mut seen),
        });
        live.extend(seen);
    }
}

fn mentions(tokens: proc_macro2::TokenStream, seen: &mut Live) {
    arguments::scan(&tokens, &mut |token, _| match token {
        TokenTree::Ident(name) => seen.extend(decode(name)),
        TokenTree::Literal(l) => seen.extend(names::captured(l)),
        _ => {}
    });
}

fn kill(ids: &[LocalId], live: &mut Live) {
    for id in ids {
        live.remove(id);
    }
}

fn label(label: &Option<syn::Label>) -> Option<Ident> {
    label.as_ref().map(|l| l.name.ident.clone())
}

/// Whether matching a place against `pat` moves out of it.
fn use_by(pat: &Pat) -> Use {
    struct Moves(bool);
    impl<'ast> Visit<'ast> for Moves {
        fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
            self.0 |= p.by_ref.is_none() && decode(&p.ident).is_some();
            syn::visit::visit_pat_ident(self, p);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut m = Moves(false);
    m.visit_pat(pat);
    if m.0 { Use::Value } else { Use::Place }
}

fn bound_in_condition(condition: &Expr) -> Vec<LocalId> {
    match condition {
        Expr::Let(l) => bound(&l.pat),
        Expr::Binary(b) => {
            let mut ids = bound_in_condition(&b.left);
            ids.extend(bound_in_condition(&b.right));
            ids
        }
        Expr::Paren(p) => bound_in_condition(&p.expr),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
