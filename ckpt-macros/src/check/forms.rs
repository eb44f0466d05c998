//! Rows of the rules' tables, and how a row meets the user's code.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, ExprMethodCall, Macro, Path};

use super::{
    values::Sort,
    walk::{At, Where},
};
use crate::{
    diagnostic::{Code, Findings},
    flow::places,
};

/// Where a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In all of a checkpointed forward or function.
    Forward,
    /// Inside regions, whether they recompute or not.
    Region,
    /// Inside regions that recompute.
    Recompute,
}

impl Scope {
    /// Whether `at` is in it.
    pub fn holds(self, at: &At<'_>) -> bool {
        match self {
            Self::Forward => true,
            Self::Region => at.stands() != Where::Forward,
            Self::Recompute => at.stands() == Where::Recompute,
        }
    }
}

/// How many arguments a method takes.
#[derive(Clone, Copy, Debug)]
pub enum Args {
    /// Any number.
    Any,
    /// This many.
    Exactly(usize),
    /// This many, the last of them an `Ordering`, as atomics do.
    Ordered(usize),
    /// One, a closure.
    Closure,
    /// One, borrowed by `&mut`.
    Exclusive,
}

/// What a method is called on.
#[derive(Clone, Copy, Debug)]
pub enum On {
    /// Anything but `self`, whose methods are the user's own.
    Anything,
    /// A tensor for all that is known.
    MaybeTensor,
    /// A tensor or a field of the module, for all that is known.
    TensorOrField,
    /// What is known to be a tensor.
    Tensor,
    /// What is known to be a tensor, or a field of the module.
    KnownTensorOrField,
    /// A field of the module.
    Field,
    /// A field of the module, or what a region takes in, of no type that rules it out.
    Shared,
    /// A field of the module, or a cell that a region takes in.
    KnownShared,
    /// A cell that a region takes in.
    KnownCell,
    /// A device, by its name.
    Device,
    /// A `static`, by its name.
    Global,
}

/// A method that a rule knows.
#[derive(Debug)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// Its arguments.
    pub args: Args,
    /// Its receiver.
    pub on: On,
    /// Where it is wrong.
    pub scope: Scope,
    /// What is wrong; `{on}` stands for the receiver, `{it}` for the method.
    pub says: &'static str,
    /// What to write instead.
    pub help: &'static str,
}

/// A path that a rule knows: `std::fs::*` is all below a module, `File::open` whatever ends so.
#[derive(Debug)]
pub struct Named {
    /// The form of the path.
    pub form: &'static str,
    /// Where it is wrong.
    pub scope: Scope,
    /// What is wrong; `{it}` stands for the path.
    pub says: &'static str,
    /// What to write instead.
    pub help: &'static str,
}

/// Takes a rule's findings.
pub struct Found<'a> {
    /// The rule's code.
    pub code: Code,
    /// All findings.
    pub findings: &'a mut Findings,
    /// What was said of the whole region before, and need not be said again.
    pub said: &'a mut Vec<String>,
}

impl Found<'_> {
    /// Records a finding at `tokens`.
    pub fn push(&mut self, tokens: impl ToTokens, message: impl Into<String>, help: impl Into<String>) {
        self.findings.push(self.code, tokens, message, help);
    }

    /// As [`push`](Self::push), once for each message.
    pub fn once(&mut self, tokens: impl ToTokens, message: String, help: impl Into<String>) {
        if !self.said.contains(&message) {
            self.said.push(message.clone());
            self.push(tokens, message, help);
        }
    }

    /// Reports the first row that a method call meets.
    pub fn methods(&mut self, table: &[Method], e: &Expr, at: &At<'_>) {
        let Expr::MethodCall(m) = e else { return };
        let Some(row) = table.iter().find(|row| row.meets(m, at)) else {
            return;
        };
        let says = row.says.replace("{on}", &at.show(&m.receiver)).replace("{it}", &m.method.to_string());
        self.push(Called(m), says, row.help);
    }

    /// Reports the first row that a path meets.
    pub fn paths(&mut self, table: &[Named], e: &Expr, at: &At<'_>) {
        let Expr::Path(p) = e else { return };
        if let Some(row) = table.iter().find(|row| row.scope.holds(at) && meets(&p.path, row.form)) {
            self.push(&p.path, row.says.replace("{it}", &at.show(&p.path)), row.help);
        }
    }

    /// Reports the first row that a macro's path meets.
    pub fn macros(&mut self, table: &[Named], m: &Macro, at: &At<'_>) {
        if let Some(row) = table.iter().find(|row| row.scope.holds(at) && invokes(m, row.form)) {
            self.push(&m.path, row.says.replace("{it}", &at.show(&m.path)), row.help);
        }
    }
}

/// A method call without its receiver's span: what is wrong is the method.
struct Called<'a>(&'a ExprMethodCall);

impl ToTokens for Called<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.method.to_tokens(tokens);
    }
}

impl Method {
    fn meets(&self, m: &ExprMethodCall, at: &At<'_>) -> bool {
        m.method == self.name && self.scope.holds(at) && self.args.meet(m) && self.on.meets(&m.receiver, at)
    }
}

impl Args {
    fn meet(self, m: &ExprMethodCall) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(n) => m.args.len() == n,
            Self::Ordered(n) => m.args.len() == n && m.args.last().is_some_and(is_ordering),
            Self::Closure => m.args.len() == 1 && matches!(m.args[0], Expr::Closure(_)),
            Self::Exclusive => m.args.len() == 1 && matches!(&m.args[0], Expr::Reference(r) if r.mutability.is_some()),
        }
    }
}

fn is_ordering(e: &Expr) -> bool {
    const ORDERS: &[&str] = &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
    match e {
        Expr::Path(p) => p.path.segments.last().is_some_and(|s| ORDERS.contains(&s.ident.to_string().as_str())),
        _ => false,
    }
}

impl On {
    fn meets(self, receiver: &Expr, at: &At<'_>) -> bool {
        if places::is_self(places::bare(receiver)) {
            return false;
        }
        let sort = at.values.of_expr(receiver);
        let field = at.values.field(receiver).is_some();
        let maybe_tensor = matches!(sort, Sort::Tensor | Sort::Unknown);
        match self {
            Self::Anything => true,
            Self::MaybeTensor => !field && maybe_tensor && !is_global(receiver),
            Self::TensorOrField => field || maybe_tensor,
            Self::Tensor => sort == Sort::Tensor,
            Self::KnownTensorOrField => field || sort == Sort::Tensor,
            Self::Field => field,
            Self::Shared => {
                let inside = at.stands() == Where::Recompute && at.comes_in(receiver);
                field || inside && matches!(sort, Sort::Cell | Sort::Other | Sort::Unknown)
            }
            Self::KnownShared => field || at.comes_in(receiver) && sort == Sort::Cell,
            Self::KnownCell => !field && at.comes_in(receiver) && sort == Sort::Cell,
            Self::Device => is_device(receiver, at),
            Self::Global => is_global(receiver),
        }
    }
}

/// Whether a value is called as devices are called.
fn is_device(e: &Expr, at: &At<'_>) -> bool {
    match e {
        Expr::MethodCall(m) => m.method == "device" || m.method == "clone" && is_device(&m.receiver, at),
        Expr::Field(f) => matches!(&f.member, syn::Member::Named(n) if device_name(&n.to_string())),
        Expr::Path(p) => p.path.get_ident().is_some_and(|name| device_name(&at.values.spoken(name))),
        Expr::Reference(r) => is_device(&r.expr, at),
        Expr::Paren(p) => is_device(&p.expr, at),
        _ => false,
    }
}

/// Whether a name is one that devices go by.
fn device_name(name: &str) -> bool {
    matches!(name, "dev" | "device" | "cpu" | "cuda") || name.ends_with("_dev") || name.ends_with("_device")
}

/// Whether an expression names a `static`: by Rust's naming, a path in capitals.
pub fn is_global(e: &Expr) -> bool {
    match e {
        Expr::Path(p) => p.path.segments.last().is_some_and(|s| {
            let name = s.ident.to_string();
            name.len() > 1 && name.starts_with(char::is_uppercase) && !name.contains(char::is_lowercase)
        }),
        Expr::Paren(p) => is_global(&p.expr),
        Expr::Field(f) => is_global(&f.base),
        Expr::Index(i) => is_global(&i.expr),
        Expr::Unary(u) => matches!(u.op, syn::UnOp::Deref(_)) && is_global(&u.expr),
        Expr::Reference(r) => is_global(&r.expr),
        _ => false,
    }
}

/// Whether `path` has the `form` of a row.
pub fn meets(path: &Path, form: &str) -> bool {
    let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let form: Vec<&str> = form.split("::").collect();
    match form.split_last() {
        Some((&"*", module)) => names.len() > module.len() && names.iter().zip(module).all(|(n, m)| n == m),
        // A name alone says too little at the end of a path of someone else's.
        Some((one, [])) => matches!(&names[..], [n] if n == one),
        _ => names.len() >= form.len() && names[names.len() - form.len()..].iter().zip(&form).all(|(n, f)| n == f),
    }
}

/// Whether a macro goes by the `form` of a row: `println` is the standard library's under any path.
pub fn invokes(m: &Macro, form: &str) -> bool {
    let standard = m.path.segments.len() == 2
        && m.path.segments.first().is_some_and(|s| s.ident == "std" || s.ident == "core")
        && m.path.segments.last().is_some_and(|s| s.ident == form);
    standard || meets(&m.path, form)
}
