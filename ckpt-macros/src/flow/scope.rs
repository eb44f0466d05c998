//! Which binding each name means: a walk forward through the scopes that gives every local a name
//! of its own.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    BinOp, Block, Expr, FieldPat, Lit, Macro, Pat, Type,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

use super::{
    Access, Parameters,
    arguments::{self, Arguments},
    names::{Local, LocalId, Locals, decode, encode, rename_captures},
};

/// Renames all locals of `block`, the parameters' among them.
pub fn resolve(block: &mut Block, parameters: &Parameters, dtype: &Ident) -> Locals {
    let mut r = Resolver { locals: Locals::default(), scopes: vec![Vec::new()], dtype };
    for (name, access) in &parameters.modules {
        let id = r.declare(name, false, Kind::default());
        r.locals.get_mut(id).lent = Some(*access);
    }
    for (pat, ty) in &parameters.values {
        r.bind(&mut pat.clone(), r.kind_of_type(ty));
    }
    r.scopes.push(Vec::new());
    r.visit_block_mut(block);
    r.locals
}

/// The locals that a resolved pattern binds, in order.
pub fn bound(pat: &Pat) -> Vec<LocalId> {
    struct Bound(Vec<LocalId>);
    impl<'ast> Visit<'ast> for Bound {
        fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
            self.0.extend(decode(&p.ident));
            syn::visit::visit_pat_ident(self, p);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut b = Bound(Vec::new());
    b.visit_pat(pat);
    let mut seen = Vec::new();
    b.0.retain(|id| {
        let new = !seen.contains(id);
        seen.push(*id);
        new
    });
    b.0
}

/// What a binding's type or value tells about it.
#[derive(Clone, Copy, Default)]
struct Kind {
    copy: bool,
    exclusive: bool,
}

struct Resolver<'a> {
    locals: Locals,
    scopes: Vec<Vec<(String, LocalId)>>,
    dtype: &'a Ident,
}

impl Resolver<'_> {
    fn lookup(&self, name: &str) -> Option<LocalId> {
        let all = self.scopes.iter().rev().flat_map(|s| s.iter().rev());
        all.into_iter().find(|(n, _)| n == name).map(|(_, id)| *id)
    }

    fn scoped(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(Vec::new());
        inside(self);
        self.scopes.pop();
    }

    fn declare(&mut self, name: &Ident, mutable: bool, kind: Kind) -> LocalId {
        let id = self.locals.add(Local {
            name: name.clone(),
            mutable,
            copy: kind.copy,
            exclusive: kind.exclusive,
            lent: None,
        });
        let scope = self.scopes.last_mut().expect("a scope is open");
        scope.push((name.to_string(), id));
        id
    }

    /// Declares what `pat` binds and renames it there. `kind` describes the whole value.
    fn bind(&mut self, pat: &mut Pat, kind: Kind) {
        let kind = match pat {
            Pat::Ident(_) => kind,
            Pat::Type(t) => self.kind_of_type(&t.ty),
            // The parts of a `Copy` value are `Copy`.
            _ => Kind { copy: kind.copy, ..Kind::default() },
        };
        let mut binder = Binder { resolver: self, kind, here: Vec::new() };
        binder.visit_pat_mut(pat);
    }

    fn kind_of_type(&self, ty: &Type) -> Kind {
        match ty {
            Type::Reference(r) => Kind { copy: r.mutability.is_none(), exclusive: r.mutability.is_some() },
            Type::Paren(t) => self.kind_of_type(&t.elem),
            Type::Group(t) => self.kind_of_type(&t.elem),
            Type::Tuple(t) => Kind { copy: t.elems.iter().all(|t| self.kind_of_type(t).copy), exclusive: false },
            Type::Array(t) => Kind { copy: self.kind_of_type(&t.elem).copy, exclusive: false },
            Type::Path(p) => Kind {
                copy: p
                    .path
                    .get_ident()
                    .is_some_and(|i| i == self.dtype || PRIMITIVES.contains(&i.to_string().as_str())),
                exclusive: false,
            },
            _ => Kind::default(),
        }
    }

    /// What a value's expression, already resolved, tells.
    fn kind_of(&self, e: &Expr) -> Kind {
        Kind {
            copy: self.is_copy(e),
            exclusive: match e {
                Expr::Reference(r) => r.mutability.is_some(),
                Expr::MethodCall(m) => {
                    let name = m.method.to_string();
                    name == "as_mut" || name.ends_with("_mut") && !name.contains("forward")
                }
                _ => false,
            },
        }
    }

    fn is_copy(&self, e: &Expr) -> bool {
        match e {
            Expr::Lit(l) => !matches!(l.lit, Lit::Verbatim(_)),
            Expr::Paren(p) => self.is_copy(&p.expr),
            Expr::Unary(u) => !matches!(u.op, syn::UnOp::Deref(_)) && self.is_copy(&u.expr),
            Expr::Binary(b) => compares(&b.op) || self.is_copy(&b.left) && self.is_copy(&b.right),
            Expr::Cast(_) => true,
            Expr::Reference(r) => r.mutability.is_none(),
            Expr::MethodCall(m) => ["len", "size", "num_elements", "is_some", "is_none", "is_empty"]
                .contains(&m.method.to_string().as_str()),
            Expr::Path(p) => p.path.get_ident().and_then(decode).is_some_and(|id| self.locals.get(id).copy),
            _ => false,
        }
    }

    /// The kind of what a loop over `e` yields: counting loops yield `Copy` values.
    fn kind_of_items(&self, e: &Expr) -> Kind {
        match e {
            Expr::Range(r) => Kind { copy: r.start.iter().chain(&r.end).any(|e| self.is_copy(e)), exclusive: false },
            Expr::Paren(p) => self.kind_of_items(&p.expr),
            Expr::MethodCall(m) if m.method == "rev" || m.method == "step_by" => self.kind_of_items(&m.receiver),
            Expr::MethodCall(m) => Kind { copy: false, exclusive: m.method == "iter_mut" },
            Expr::Reference(r) => Kind { copy: r.mutability.is_none(), exclusive: r.mutability.is_some() },
            _ => Kind::default(),
        }
    }

    fn condition_then(&mut self, condition: &mut Expr, then: &mut Block) {
        self.scoped(|r| {
            r.visit_expr_mut(condition);
            r.visit_block_mut(then);
        });
    }

    fn rename_tokens(&self, tokens: TokenStream) -> TokenStream {
        let mut after_dot = false;
        tokens
            .into_iter()
            .map(|token| {
                let renamed = match token {
                    TokenTree::Ident(name) if !after_dot => match self.lookup(&name.to_string()) {
                        Some(id) => encode(id, name.span()).into(),
                        None => name.into(),
                    },
                    TokenTree::Group(group) => {
                        let mut inner = Group::new(group.delimiter(), self.rename_tokens(group.stream()));
                        inner.set_span(group.span());
                        inner.into()
                    }
                    TokenTree::Literal(l) => rename_captures(&l, |n| self.lookup(n)).into(),
                    other => other,
                };
                after_dot = matches!(&renamed, TokenTree::Punct(p) if p.as_char() == '.');
                renamed
            })
            .collect()
    }
}

const PRIMITIVES: &[&str] = &[
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
    "usize",
];

/// Whether an operator compares or is logical: it looks at its operands and gives a `bool`.
pub fn compares(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_)
            | BinOp::And(_)
            | BinOp::Or(_)
    )
}

impl VisitMut for Resolver<'_> {
    fn visit_block_mut(&mut self, b: &mut Block) {
        self.scoped(|r| visit_mut::visit_block_mut(r, b));
    }

    fn visit_local_mut(&mut self, l: &mut syn::Local) {
        let mut kind = Kind::default();
        if let Some(init) = &mut l.init {
            self.visit_expr_mut(&mut init.expr);
            kind = self.kind_of(&init.expr);
            if let Some((_, otherwise)) = &mut init.diverge {
                self.visit_expr_mut(otherwise);
            }
        }
        self.bind(&mut l.pat, kind);
    }

    fn visit_expr_let_mut(&mut self, l: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut l.expr);
        self.bind(&mut l.pat, Kind::default());
    }

    fn visit_expr_if_mut(&mut self, i: &mut syn::ExprIf) {
        self.condition_then(&mut i.cond, &mut i.then_branch);
        if let Some((_, otherwise)) = &mut i.else_branch {
            self.visit_expr_mut(otherwise);
        }
    }

    fn visit_expr_while_mut(&mut self, w: &mut syn::ExprWhile) {
        self.condition_then(&mut w.cond, &mut w.body);
    }

    fn visit_expr_for_loop_mut(&mut self, f: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut f.expr);
        let kind = self.kind_of_items(&f.expr);
        self.scoped(|r| {
            r.bind(&mut f.pat, kind);
            r.visit_block_mut(&mut f.body);
        });
    }

    fn visit_arm_mut(&mut self, a: &mut syn::Arm) {
        self.scoped(|r| {
            r.bind(&mut a.pat, Kind::default());
            r.visit_expr_mut(&mut a.body);
        });
    }

    fn visit_expr_closure_mut(&mut self, c: &mut syn::ExprClosure) {
        self.scoped(|r| {
            for input in &mut c.inputs {
                r.bind(input, Kind::default());
            }
            r.visit_expr_mut(&mut c.body);
        });
    }

    fn visit_expr_path_mut(&mut self, p: &mut syn::ExprPath) {
        if p.qself.is_none()
            && let Some(name) = p.path.get_ident()
            && let Some(id) = self.lookup(&name.to_string())
        {
            p.path = encode(id, name.span()).into();
        }
    }

    fn visit_macro_mut(&mut self, m: &mut Macro) {
        arguments::edit(m, |arguments| match arguments {
            Arguments::List(list) => {
                for argument in list {
                    self.visit_expr_mut(&mut argument.value);
                    if let Expr::Lit(l) = &mut argument.value {
                        let tokens = self.rename_tokens(l.lit.to_token_stream());
                        l.lit = syn::parse2(tokens).unwrap_or_else(|_| l.lit.clone());
                    }
                }
            }
            Arguments::Repeat(value, n) => {
                self.visit_expr_mut(value);
                self.visit_expr_mut(n);
            }
            Arguments::Statements(statements) => self.scoped(|r| {
                for s in statements {
                    r.visit_stmt_mut(s);
                }
            }),
            Arguments::Opaque(tokens) => *tokens = self.rename_tokens(std::mem::take(tokens)),
        });
    }

    // An item inside a body sees none of its locals.
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Declares and renames the names of one pattern; a name met twice, in the cases of an
/// or-pattern, is one local.
struct Binder<'a, 'b> {
    resolver: &'a mut Resolver<'b>,
    kind: Kind,
    here: Vec<(String, LocalId)>,
}

impl VisitMut for Binder<'_, '_> {
    fn visit_pat_ident_mut(&mut self, p: &mut syn::PatIdent) {
        let text = p.ident.to_string();
        // By Rust's naming, a capital is a constant or a variant, not a binding.
        let constant = p.by_ref.is_none()
            && p.mutability.is_none()
            && p.subpat.is_none()
            && text.trim_start_matches("r#").starts_with(char::is_uppercase);
        if !constant {
            let known = self.here.iter().find(|(n, _)| *n == text).map(|(_, id)| *id);
            let id = known.unwrap_or_else(|| {
                let kind = match (&p.by_ref, &p.mutability) {
                    (Some(_), Some(_)) => Kind { copy: false, exclusive: true },
                    (Some(_), None) => Kind { copy: true, exclusive: false },
                    _ => self.kind,
                };
                let mutable = p.by_ref.is_none() && p.mutability.is_some();
                let id = self.resolver.declare(&p.ident, mutable, kind);
                self.here.push((text, id));
                id
            });
            p.ident = encode(id, p.ident.span());
        }
        if let Some((_, inner)) = &mut p.subpat {
            self.visit_pat_mut(inner);
        }
    }

    fn visit_field_pat_mut(&mut self, f: &mut FieldPat) {
        self.visit_pat_mut(&mut f.pat);
    }

    fn visit_pat_guard_mut(&mut self, g: &mut syn::PatGuard) {
        self.visit_pat_mut(&mut g.pat);
        self.resolver.visit_expr_mut(&mut g.guard);
    }

    fn visit_pat_type_mut(&mut self, t: &mut syn::PatType) {
        self.kind = self.resolver.kind_of_type(&t.ty);
        self.visit_pat_mut(&mut t.pat);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        // Ranges and constants in a pattern are expressions of the enclosing scope.
        self.resolver.visit_expr_mut(e);
    }
}

/// Marks the locals that borrow from `self` or from a module, with how training borrows them.
pub fn lend(block: &Block, locals: &mut Locals) {
    let mut facts = super::places::borrows(block);
    // A module reached through another local needs that local exclusively too.
    loop {
        let before = facts.called.len();
        for b in &facts.bindings {
            if let super::places::Root::Local(from) = b.root
                && b.ids.iter().any(|id| facts.called.contains(id))
            {
                facts.called.insert(from);
            }
        }
        if facts.called.len() == before {
            break;
        }
    }
    loop {
        let mut changed = false;
        for b in &facts.bindings {
            let source = match b.root {
                super::places::Root::Itself => Some(Access::Exclusive),
                super::places::Root::Local(from) => locals.get(from).lent,
            };
            let Some(source) = source else { continue };
            for id in &b.ids {
                let local = locals.get_mut(*id);
                if local.lent.is_none() {
                    local.lent = Some(if facts.called.contains(id) { source } else { Access::Shared });
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
}
