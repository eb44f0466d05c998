//! CKPT002: writing the module. The training version has `&mut self`, so the compiler would not
//! object, but a recompute would write again, and inference has nothing to write to.

use syn::Expr;

use super::{
    Rule,
    forms::{
        Args::{self, Any, Exactly},
        Found, Method,
        On::Field,
        Scope::Forward,
        meets,
    },
    walk::At,
};
use crate::{
    diagnostic::{Code, codes},
    flow::assigned::is_assignment,
};

const METHODS: &[Method] = &[
    row("push", Exactly(1), "push onto a local `Vec`, and give it back beside the output"),
    row("push_str", Exactly(1), "append to a local `String`, and give it back beside the output"),
    row("push_back", Exactly(1), "push onto the back of a local queue, and give that back beside the output"),
    row("push_front", Exactly(1), "push onto the front of a local queue, and give that back beside the output"),
    row("append", Exactly(1), "append to a local copy, and give that back beside the output"),
    row("extend", Exactly(1), "chain what is there with what is new, `a.iter().chain(b)`, or collect in a local"),
    row("insert", Any, "keep caches outside of the model, or give what is new back beside the output"),
    row("get_or_insert_with", Exactly(1), "compute it where the module is built, and read it here with `as_ref`"),
    row("entry", Exactly(1), "look it up with `get`, and fill the map where the module is built"),
    row("pop", Exactly(0), "read the last one with `last()`, and leave it where it is"),
    row("pop_front", Exactly(0), "read the first one with `front()`, and leave it where it is"),
    row("pop_back", Exactly(0), "read the last one with `back()`, and leave it where it is"),
    row("remove", Exactly(1), "read it with `get(..)`, and leave it where it is"),
    row("truncate", Exactly(1), "read only the first ones: `self.field[..n]`"),
    row("retain", Exactly(1), "pass over what is not wanted: `self.field.iter().filter(..)`"),
    row("drain", Exactly(1), "go through it with `iter()`, which leaves it full"),
    row("clear", Exactly(0), "start from an empty value of the forward's own"),
    row("take", Exactly(0), "clone it: `.clone()` of a tensor or a module shares its data"),
    row("replace", Exactly(1), "give the new value back beside the output, and replace the old one after the step"),
    row("sort", Exactly(0), "sort it where the module is built"),
    row("reset_params", Exactly(0), "reset parameters before training, not in the forward"),
    row("try_reset_params", Exactly(0), "reset parameters where the optimizer is made"),
    row("ema", Exactly(2), "average the weights after the optimizer's step"),
    row("try_ema", Exactly(2), "average the weights between two steps"),
    row("load_safetensors", Exactly(1), "load weights before training"),
];

const fn row(name: &'static str, args: Args, help: &'static str) -> Method {
    Method {
        name,
        args,
        on: Field,
        scope: Forward,
        says: "`{it}` changes `{on}`, a part of the module, and would do so again in a recompute",
        help,
    }
}

/// A function that writes through the `&mut` that it is given.
struct Function {
    /// Its last name, or the last two.
    name: &'static str,
    /// How many arguments it has.
    arguments: usize,
    /// What to write instead.
    help: &'static str,
}

const FUNCTIONS: &[Function] = &[
    function("mem::swap", 2, "bind both to locals and use them the other way round"),
    function("swap", 2, "bind both fields to locals and use each in the other's place"),
    function("mem::replace", 2, "clone the field, and give the new value back beside the output"),
    function("replace", 2, "clone the field, and return the new value with the output"),
    function("mem::take", 1, "clone the field: the forward of a module leaves it whole"),
    function("take", 1, "clone the field, which the next step finds as it was"),
    function("Arc::make_mut", 1, "clone what the `Arc` points to into a local and change that"),
    function("Rc::make_mut", 1, "clone what the `Rc` points to into a local and change that"),
    function("Arc::get_mut", 1, "read through the `Arc`, and change it where the module is built"),
    function("Rc::get_mut", 1, "read through the `Rc`, and change it where the module is built"),
];

const fn function(name: &'static str, arguments: usize, help: &'static str) -> Function {
    Function { name, arguments, help }
}

/// The rule.
pub struct State;

impl Rule for State {
    fn code(&self) -> Code {
        codes::MODULE_STATE
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        [tables::methods(METHODS), FUNCTIONS.iter().map(|f| tables::Row { form: f.name, help: f.help }).collect()]
            .concat()
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        found.methods(METHODS, e, at);
        match e {
            Expr::Assign(a) => targets(&a.left, at, found),
            Expr::Binary(b) if is_assignment(&b.op) && at.values.field(&b.left).is_some() => {
                let (place, op) = (at.show(&b.left), at.show(&b.op));
                found.push(
                    e,
                    format!("`{place} {op} ..` counts twice where the region runs twice"),
                    "give the new value back beside the output, and set it after the step",
                );
            }
            Expr::Call(c) => call(c, at, found),
            _ => {}
        }
    }
}

fn targets(left: &Expr, at: &At<'_>, found: &mut Found<'_>) {
    match left {
        Expr::Tuple(t) => t.elems.iter().for_each(|e| targets(e, at, found)),
        Expr::Array(a) => a.elems.iter().for_each(|e| targets(e, at, found)),
        Expr::Paren(p) => targets(&p.expr, at, found),
        Expr::Struct(s) => s.fields.iter().for_each(|f| targets(&f.expr, at, found)),
        // A name that borrows a field may itself be bound anew.
        Expr::Path(_) => {}
        place => {
            if at.values.field(place).is_some() {
                let place = at.show(place);
                found.push(
                    left,
                    format!("the forward writes `{place}`, and its recompute would find the new value there"),
                    "keep it in a local and give it back beside the output; what a layer must carry from step to step belongs in `forward_mut` of a module of its own",
                );
            }
        }
    }
}

fn call(c: &syn::ExprCall, at: &At<'_>, found: &mut Found<'_>) {
    let Expr::Path(p) = &*c.func else { return };
    let exclusive =
        |e: &&Expr| matches!(e, Expr::Reference(r) if r.mutability.is_some() && at.values.field(&r.expr).is_some());
    let Some(field) = c.args.iter().find(exclusive) else {
        return;
    };
    let row = FUNCTIONS.iter().find(|f| c.args.len() == f.arguments && meets(&p.path, f.name));
    if let Some(row) = row {
        let (function, field) = (at.show(&p.path), at.show(field));
        let field = field.trim_start_matches("&mut ");
        found.push(c, format!("`{function}` changes `{field}`, a part of the module"), row.help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{every_method_once, found, found_outside, silent};
    use syn::parse_quote;

    #[test]
    fn every_row_is_met() {
        every_method_once(METHODS, codes::MODULE_STATE, |_| "self.field");
        for row in FUNCTIONS {
            let path: syn::Path = syn::parse_str(row.name).unwrap();
            let rest = (1..row.arguments).map(|_| -> Expr { parse_quote!(&mut self.b) });
            found(codes::MODULE_STATE, parse_quote!({ #path(&mut self.a, #(#rest),*); }));
        }
    }

    #[test]
    fn assignments_to_the_module_are_found() {
        found(
            codes::MODULE_STATE,
            parse_quote!({
                self.last = x;
            }),
        );
        found(
            codes::MODULE_STATE,
            parse_quote!({
                self.n += 1;
            }),
        );
        found(
            codes::MODULE_STATE,
            parse_quote!({
                self.rows[2].n = 1;
            }),
        );
        found(
            codes::MODULE_STATE,
            parse_quote!({
                (y, self.n) = (x, 2);
            }),
        );
        found(
            codes::MODULE_STATE,
            parse_quote!({
                *self = other;
            }),
        );
        found(
            codes::MODULE_STATE,
            parse_quote!({
                for b in &mut self.blocks {
                    b.n = 1;
                }
            }),
        );
        found(
            codes::MODULE_STATE,
            parse_quote!({
                let s = &mut self.stats;
                s.n += 1;
            }),
        );
        found(
            codes::MODULE_STATE,
            parse_quote!({
                std::mem::swap(&mut self.a, &mut y);
            }),
        );
        found_outside(
            codes::MODULE_STATE,
            parse_quote!({
                self.last = x;
            }),
        );
    }

    #[test]
    fn look_alikes_are_silent() {
        silent(parse_quote!({
            let name = self.name.replace("a", "b");
        }));
        silent(parse_quote!({
            let first = self.blocks.iter().take(3);
        }));
        silent(parse_quote!({
            let mut v = Vec::new();
            v.push(1);
            v.clear();
            v.insert(0, 2);
        }));
        silent(parse_quote!({
            let mut n = self.n;
            n += 1;
        }));
        silent(parse_quote!({
            self.push(x);
        }));
        silent(parse_quote!({
            let y = ffn(&mut self.up, x);
        }));
        silent(parse_quote!({
            let mut config = self.config.clone();
            config.n = 2;
        }));
        silent(parse_quote!({
            let mut a = 1;
            let mut b = 2;
            std::mem::swap(&mut a, &mut b);
        }));
    }
}
