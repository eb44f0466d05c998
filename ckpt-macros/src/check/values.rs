//! What the tokens tell about values: which local is a tensor, which a string, which a part of
//! the module.
//!
//! A type that is written tells, a constructor does, and so do the operations that only tensors
//! have. Where nothing tells, a value is [`Sort::Unknown`], and a rule decides whether the form it
//! met is particular enough without.

use std::collections::BTreeMap;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Block, Expr, GenericArgument, Lit, Macro, Pat, PathArguments, Stmt, Type, visit::Visit};

use super::interior_mutability;
use crate::{
    flow::{
        Context, Parameters, arguments,
        names::{LocalId, Locals, decode},
        places::{self, Root},
        regions::region_of,
        scope::{bound, compares},
        tensor_methods::consumes,
        types::tensor_type,
    },
    roles::Roles,
};

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A float tensor: it carries a tape.
    Tensor,
    /// A tensor of indices or of truth values: it carries none.
    Untaped,
    /// A string, or what formats into one.
    Text,
    /// A number or a truth value.
    Number,
    /// Something with interior mutability.
    Cell,
    /// Of a named type that is none of these.
    Other,
    /// Nothing tells.
    Unknown,
}

/// A local, as far as its declaration tells.
#[derive(Clone, Debug)]
struct Known {
    sort: Sort,
    /// The part of `self` that it borrows.
    field: Option<String>,
    /// How many regions are around its declaration.
    depth: usize,
    /// Set for a closure that borrows what it names.
    borrows: Option<String>,
}

/// The values of a body.
pub struct Values<'a> {
    locals: &'a Locals,
    cx: &'a Context,
    known: BTreeMap<LocalId, Known>,
}

impl<'a> Values<'a> {
    /// Reads a resolved block.
    pub fn read(block: &Block, locals: &'a Locals, parameters: &Parameters, cx: &'a Context) -> Self {
        let mut values = Self { locals, cx, known: BTreeMap::new() };
        for (pat, ty) in &parameters.values {
            if let Pat::Ident(p) = pat
                && let Some(id) = locals.first_named(&p.ident)
            {
                let sort = of_type(ty, &cx.roles);
                values.known.insert(id, Known { sort, field: None, depth: 0, borrows: None });
            }
        }
        // What a helper declares itself is inside of the region that calls it.
        let mut reader = Reader { values, depth: usize::from(cx.replayed) };
        reader.visit_block(block);
        reader.values
    }

    /// What `e` is.
    pub fn of_expr(&self, e: &Expr) -> Sort {
        match e {
            Expr::Lit(l) => match l.lit {
                Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_) => Sort::Text,
                _ => Sort::Number,
            },
            Expr::Paren(p) => self.of_expr(&p.expr),
            Expr::Group(g) => self.of_expr(&g.expr),
            Expr::Reference(r) => self.of_expr(&r.expr),
            Expr::Unary(u) => self.of_expr(&u.expr),
            Expr::Try(t) => self.of_expr(&t.expr),
            Expr::Cast(_) => Sort::Number,
            Expr::Path(p) => match p.path.get_ident().and_then(decode) {
                Some(id) => self.known.get(&id).map_or(Sort::Unknown, |k| k.sort),
                None => Sort::Unknown,
            },
            Expr::Call(c) => self.of_call(c),
            Expr::MethodCall(m) => self.of_method(m),
            Expr::Binary(b) if compares(&b.op) => Sort::Number,
            Expr::Binary(b) => match (self.of_expr(&b.left), self.of_expr(&b.right)) {
                (Sort::Tensor, _) | (_, Sort::Tensor) => Sort::Tensor,
                (Sort::Unknown, _) | (_, Sort::Unknown) => Sort::Unknown,
                (left, _) => left,
            },
            Expr::Macro(m) => match m.mac.path.segments.last().map(|s| s.ident.to_string()).as_deref() {
                Some("format" | "concat" | "stringify" | "file") => Sort::Text,
                Some("matches" | "line" | "column" | "cfg") => Sort::Number,
                Some("vec") => Sort::Other,
                _ => Sort::Unknown,
            },
            Expr::Block(b) => self.of_block(&b.block),
            Expr::Unsafe(u) => self.of_block(&u.block),
            Expr::If(i) => self.of_block(&i.then_branch),
            Expr::Match(m) => m.arms.first().map_or(Sort::Unknown, |a| self.of_expr(&a.body)),
            Expr::Closure(_) | Expr::Array(_) | Expr::Tuple(_) | Expr::Repeat(_) | Expr::Struct(_) | Expr::Range(_) => {
                Sort::Other
            }
            _ => Sort::Unknown,
        }
    }

    fn of_block(&self, b: &Block) -> Sort {
        match b.stmts.last() {
            Some(Stmt::Expr(e, None)) => self.of_expr(e),
            _ => Sort::Unknown,
        }
    }

    /// `Type::new(..)` is of that type; a function tells nothing.
    fn of_call(&self, c: &syn::ExprCall) -> Sort {
        let Expr::Path(p) = &*c.func else { return Sort::Unknown };
        let mut path = p.path.clone();
        if path.segments.last().is_some_and(|s| s.ident == "clone")
            && let Some(first) = c.args.first()
        {
            return self.of_expr(first);
        }
        let variant = path.segments.last().is_some_and(|s| starts_upper(&s.ident));
        path.segments.pop();
        path.segments.pop_punct();
        match path.segments.last() {
            // What a pointer shares can be written through it.
            Some(last)
                if (last.ident == "Rc" || last.ident == "Arc")
                    && c.args.first().is_some_and(|a| self.of_expr(a) == Sort::Cell) =>
            {
                Sort::Cell
            }
            Some(last) if starts_upper(&last.ident) => {
                let ty = Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path });
                // Of a constructor's type the arguments are mostly left out.
                of_type(&ty, &self.cx.roles)
            }
            None if variant => Sort::Other,
            _ => Sort::Unknown,
        }
    }

    fn of_method(&self, m: &syn::ExprMethodCall) -> Sort {
        if self.cx.calls_field(m) || places::is_forward(&m.method) {
            return Sort::Tensor;
        }
        let name = m.method.to_string();
        match name.as_str() {
            "clone" | "unwrap" | "expect" | "unwrap_or_default" | "as_ref" | "as_mut" => self.of_expr(&m.receiver),
            "to_string" | "to_owned" | "trim" | "as_str" | "to_lowercase" | "to_uppercase" => Sort::Text,
            "len" | "num_elements" | "is_some" | "is_none" | "is_empty" | "size" | "count" => Sort::Number,
            "shape" | "strides" | "device" | "iter" | "into_iter" | "collect" | "array" | "as_vec" => Sort::Other,
            name if MAKES_TENSORS.contains(&name.strip_prefix("try_").unwrap_or(name)) => Sort::Tensor,
            name if consumes(name) => {
                let sort = self.of_expr(&m.receiver);
                let shared_name = NUMBERS_TOO.contains(&name);
                if sort == Sort::Unknown && !shared_name { Sort::Tensor } else { sort }
            }
            _ => Sort::Unknown,
        }
    }

    /// The part of `self` that a place is in, as it is written: `self.cache` of `self.cache.rows[0]`.
    pub fn field(&self, e: &Expr) -> Option<String> {
        match e {
            // What these give is still the field's.
            Expr::MethodCall(m)
                if m.method == "get" || m.args.is_empty() && TRANSPARENT.contains(&m.method.to_string().as_str()) =>
            {
                self.field(&m.receiver)
            }
            Expr::Field(f) => match places::is_self(&f.base) {
                true => Some(format!("self.{}", f.member.to_token_stream())),
                false => self.field(&f.base),
            },
            Expr::Index(i) => self.field(&i.expr),
            Expr::Paren(p) => self.field(&p.expr),
            Expr::Group(g) => self.field(&g.expr),
            Expr::Reference(r) => self.field(&r.expr),
            Expr::Try(t) => self.field(&t.expr),
            Expr::Unary(u) if matches!(u.op, syn::UnOp::Deref(_)) => match places::is_self(&u.expr) {
                true => Some("self".to_owned()),
                false => self.field(&u.expr),
            },
            Expr::Path(p) => {
                let id = p.path.get_ident().and_then(decode)?;
                self.known.get(&id)?.field.clone()
            }
            _ => None,
        }
    }

    /// The local that a place begins at, and how many regions are around its declaration.
    pub fn declared(&self, e: &Expr) -> Option<(LocalId, usize)> {
        match e {
            Expr::MethodCall(m) => self.declared(&m.receiver),
            e => match places::root(e)? {
                Root::Local(id) => Some((id, self.known.get(&id).map_or(0, |k| k.depth))),
                Root::Itself => None,
            },
        }
    }

    /// What a closure borrows, if it is one that does.
    pub fn borrowed_by(&self, id: LocalId) -> Option<&str> {
        self.known.get(&id)?.borrows.as_deref()
    }

    /// Whether a local is an `&mut` that is no borrow of a module.
    pub fn is_exclusive(&self, id: LocalId) -> bool {
        let local = self.locals.get(id);
        local.exclusive && local.lent.is_none() && self.known.get(&id).is_none_or(|k| k.field.is_none())
    }

    /// A name as the user wrote it.
    pub fn spoken(&self, name: &Ident) -> String {
        decode(name).map_or_else(|| name.to_string(), |id| self.locals.get(id).name.to_string())
    }

    /// The locals of the body.
    pub fn locals(&self) -> &Locals {
        self.locals
    }
}

/// Methods whose result is still in the place that they are called on.
const TRANSPARENT: &[&str] = &["as_mut", "as_ref", "borrow", "deref", "first", "iter", "iter_mut", "last", "unwrap"];

/// Methods of devices that make tensors.
const MAKES_TENSORS: &[&str] = &[
    "ones",
    "ones_like",
    "sample_like",
    "sample_normal",
    "sample_normal_like",
    "sample_uniform",
    "sample_uniform_like",
    "tensor_from_vec",
    "zeros",
    "zeros_like",
];

/// Operations of tensors that numbers, strings or collections have too.
const NUMBERS_TOO: &[&str] = &[
    "abs", "add", "choose", "clamp", "concat", "cos", "div", "exp", "ln", "max", "min", "mul", "neg", "not", "powf",
    "powi", "recip", "select", "sin", "slice", "sqrt", "stack", "sub", "sum", "tanh", "var",
];

fn starts_upper(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

/// What a type says of its values.
pub fn of_type(ty: &Type, roles: &Roles) -> Sort {
    match ty {
        Type::Reference(r) => of_type(&r.elem, roles),
        Type::Paren(p) => of_type(&p.elem, roles),
        Type::Group(g) => of_type(&g.elem, roles),
        Type::Infer(_) | Type::Macro(_) => Sort::Unknown,
        Type::Path(p) => {
            let Some(last) = p.path.segments.last() else { return Sort::Unknown };
            let name = last.ident.to_string();
            if name == "Tensor" || tensor_type(ty, roles).is_some() {
                return if is_untaped(last, roles) { Sort::Untaped } else { Sort::Tensor };
            }
            if interior_mutability::in_type(ty).is_some() {
                return Sort::Cell;
            }
            match name.as_str() {
                "String" | "str" | "Cow" | "Formatter" => Sort::Text,
                "bool" | "char" | "f16" | "f32" | "f64" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8"
                | "u16" | "u32" | "u64" | "u128" | "usize" => Sort::Number,
                "Self" => Sort::Unknown,
                _ if last.ident == roles.dtype => Sort::Number,
                _ => Sort::Other,
            }
        }
        _ => Sort::Other,
    }
}

/// Whether a tensor's dtype is one that has no gradients.
fn is_untaped(tensor: &syn::PathSegment, roles: &Roles) -> bool {
    let PathArguments::AngleBracketed(arguments) = &tensor.arguments else {
        return false;
    };
    match arguments.args.iter().nth(1) {
        Some(GenericArgument::Type(Type::Path(p))) => p.path.get_ident().is_some_and(|name| {
            let name = name.to_string();
            roles.dtype != name.as_str() && (name == "bool" || name.starts_with(['u', 'i']))
        }),
        _ => false,
    }
}

struct Reader<'a> {
    values: Values<'a>,
    depth: usize,
}

impl Reader<'_> {
    fn declare(&mut self, id: LocalId, sort: Sort, field: Option<String>) {
        self.values.known.insert(id, Known { sort, field, depth: self.depth, borrows: None });
    }

    /// Declares what `pat` binds to `source`.
    fn bind(&mut self, pat: &Pat, source: Option<&Expr>) {
        let (pat, written) = match pat {
            Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            pat => (pat, None),
        };
        for id in bound(pat) {
            self.declare(id, Sort::Unknown, None);
        }
        let Some(source) = source else {
            if let (Pat::Ident(_), Some(ty)) = (pat, written) {
                let sort = of_type(ty, &self.values.cx.roles);
                bound(pat).into_iter().for_each(|id| self.declare(id, sort, None));
            }
            return;
        };
        if let Pat::Ident(_) = pat {
            let mut sort = self.values.of_expr(source);
            if let Some(ty) = written {
                sort = Some(of_type(ty, &self.values.cx.roles)).filter(|s| *s != Sort::Unknown).unwrap_or(sort);
            }
            let borrows = self.borrows(source);
            for id in bound(pat) {
                self.declare(id, sort, None);
                if let Some(known) = self.values.known.get_mut(&id) {
                    known.borrows.clone_from(&borrows);
                }
            }
        }
        self.borrow(pat, source);
    }

    /// Notes which bindings borrow a part of `self`.
    fn borrow(&mut self, pat: &Pat, source: &Expr) {
        let mut found: Vec<(LocalId, String)> = Vec::new();
        let values = &self.values;
        places::borrowed(pat, source, &mut |part, place| {
            let place = values.field(place).or_else(|| places::is_self(place).then(|| "self".to_owned()));
            if let Some(field) = place {
                found.extend(bound(part).into_iter().map(|id| (id, field.clone())));
            }
        });
        if let Expr::Reference(r) = source
            && r.mutability.is_some()
            && let Some(field) = values.field(&r.expr)
        {
            found.extend(bound(pat).into_iter().map(|id| (id, field.clone())));
        }
        if let Expr::MethodCall(m) = source
            && (m.method == "iter_mut" || m.method == "as_mut")
            && let Some(field) = values.field(&m.receiver)
        {
            found.extend(bound(pat).into_iter().map(|id| (id, field.clone())));
        }
        for (id, field) in found {
            if let Some(known) = self.values.known.get_mut(&id) {
                known.field = Some(field);
            }
        }
    }

    /// What a closure that does not `move` surely borrows: `self`, or a number it copies from.
    fn borrows(&self, source: &Expr) -> Option<String> {
        struct Borrows<'a>(&'a Locals, Option<String>);
        impl<'ast> Visit<'ast> for Borrows<'_> {
            fn visit_expr_path(&mut self, p: &'ast syn::ExprPath) {
                let outer = p.path.get_ident().and_then(decode).map(|id| self.0.get(id)).filter(|l| l.copy);
                if p.path.is_ident("self") {
                    self.1 = Some("self".to_owned());
                } else if let Some(local) = outer {
                    self.1.get_or_insert_with(|| local.name.to_string());
                }
            }
            fn visit_macro(&mut self, m: &'ast Macro) {
                places::visit_arguments(self, m);
            }
        }
        let Expr::Closure(c) = source else { return None };
        if c.capture.is_some() {
            return None;
        }
        let own: Vec<LocalId> = c.inputs.iter().flat_map(bound).collect();
        let mut b = Borrows(self.values.locals, None);
        b.visit_expr(&c.body);
        let own_names = own.iter().map(|id| self.values.locals.get(*id).name.to_string());
        b.1.filter(|name| !own_names.into_iter().any(|n| n == *name))
    }

    fn within(&mut self, attrs: &[syn::Attribute], inside: impl FnOnce(&mut Self)) {
        let deeper = usize::from(region_of(attrs).is_some());
        self.depth += deeper;
        inside(self);
        self.depth -= deeper;
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_local(&mut self, l: &'ast syn::Local) {
        self.within(&l.attrs, |r| {
            if let Some(init) = &l.init {
                r.visit_local_init(init);
            }
        });
        self.bind(&l.pat, l.init.as_ref().map(|i| &*i.expr));
    }

    fn visit_expr_block(&mut self, b: &'ast syn::ExprBlock) {
        self.within(&b.attrs, |r| syn::visit::visit_expr_block(r, b));
    }

    fn visit_expr_for_loop(&mut self, f: &'ast syn::ExprForLoop) {
        self.within(&f.attrs, |r| {
            r.visit_expr(&f.expr);
            r.bind(&f.pat, None);
            r.borrow(&f.pat, &f.expr);
            r.visit_block(&f.body);
        });
    }

    fn visit_expr_closure(&mut self, c: &'ast syn::ExprClosure) {
        for input in &c.inputs {
            self.bind(input, None);
        }
        self.visit_expr(&c.body);
    }

    fn visit_expr_let(&mut self, l: &'ast syn::ExprLet) {
        self.visit_expr(&l.expr);
        self.bind(&l.pat, None);
        self.borrow(&l.pat, &l.expr);
    }

    fn visit_expr_match(&mut self, m: &'ast syn::ExprMatch) {
        self.visit_expr(&m.expr);
        for arm in &m.arms {
            self.bind(&arm.pat, None);
            self.borrow(&arm.pat, &m.expr);
            self.visit_expr(&arm.body);
        }
    }

    fn visit_macro(&mut self, m: &'ast Macro) {
        if !arguments::is(m, "macro_rules") {
            places::visit_arguments(self, m);
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
