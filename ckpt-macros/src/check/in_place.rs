//! CKPT001: in-place updates of tensors. No tape records them, and a recompute starts from what
//! they left.

use syn::Expr;

use super::{
    Rule,
    forms::{
        Args::{Any, Exactly},
        Found, Method,
        On::{KnownTensorOrField, TensorOrField},
        Scope::Forward,
    },
    values::Sort,
    walk::At,
};
use crate::{
    diagnostic::{Code, codes},
    flow::{assigned::is_assignment, places},
};

const METHODS: &[Method] = &[
    row("axpy", Any, TensorOrField, "compute a new value, as in `let x = x * alpha + b * beta;`"),
    row(
        "try_axpy",
        Any,
        TensorOrField,
        "compute a new value, as in `let x = x.try_mul(alpha)?.try_add(b.try_mul(beta)?)?;`",
    ),
    row("fill_with_zeros", Exactly(0), TensorOrField, "write `dev.zeros_like(&x)`, a tensor of its own"),
    row("try_fill_with_zeros", Exactly(0), TensorOrField, "write `dev.try_zeros_like(&x)?`, a tensor of its own"),
    row("fill_with_ones", Exactly(0), TensorOrField, "write `dev.ones_like(&x)`, a tensor of its own"),
    row("try_fill_with_ones", Exactly(0), TensorOrField, "write `dev.try_ones_like(&x)?`, a tensor of its own"),
    row(
        "fill_with_distr",
        Exactly(1),
        TensorOrField,
        "draw before the forward and pass the tensor in; for dropout there is `ckpt_runtime::nn::Dropout`",
    ),
    row(
        "try_fill_with_distr",
        Exactly(1),
        TensorOrField,
        "draw with `dev.try_sample(distr)?` before the forward and pass the tensor in; for dropout there is `ckpt_runtime::nn::Dropout`",
    ),
    row(
        "copy_from",
        Exactly(1),
        KnownTensorOrField,
        "make a new tensor before the region with `dev.tensor_from_vec(..)`",
    ),
    row("load_from_npy", Exactly(1), TensorOrField, "load weights before the model runs, not in its forward"),
    row("load_safetensor", Exactly(2), TensorOrField, "load tensors before the model runs and pass them in"),
];

const fn row(name: &'static str, args: super::forms::Args, on: super::forms::On, help: &'static str) -> Method {
    Method {
        name,
        args,
        on,
        scope: Forward,
        says: "`{it}` changes `{on}` in place, which no tape records and a recompute would meet already changed",
        help,
    }
}

/// The rule.
pub struct InPlace;

impl Rule for InPlace {
    fn code(&self) -> Code {
        codes::IN_PLACE
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        tables::methods(METHODS)
    }

    fn allowed_by(&self) -> Option<&'static str> {
        Some("in_place")
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        found.methods(METHODS, e, at);
        match e {
            Expr::Assign(a) => element(&a.left, at, found),
            Expr::Binary(b) if is_assignment(&b.op) => {
                element(&b.left, at, found);
                let field = at.values.field(&b.left).is_some();
                if !field && !matches!(*b.left, Expr::Index(_)) && at.values.of_expr(&b.left) == Sort::Tensor {
                    let (x, op) = (at.show(&b.left), at.show(&b.op));
                    let (plain, y) = (op.trim_end_matches('='), at.show(&b.right));
                    let help = match plain {
                        // One tensor on both sides is more than dfdx's backward takes.
                        _ if x != y => format!("write `let {x} = {x} {plain} {y};`, which the tape records"),
                        "*" => format!("write `let {x} = {x}.square();`, which the tape records"),
                        "+" => {
                            let e = &at.cx.roles.dtype;
                            format!("write `let {x} = {x} * {e}::from_f64(2.0).unwrap();`, which the tape records")
                        }
                        _ => format!("`{x} {plain} {x}` is the same whatever `{x}` is: write it as a constant"),
                    };
                    found.push(e, format!("`{op}` would change the tensor `{x}` in place"), help);
                }
            }
            Expr::Reference(r)
                if r.mutability.is_some()
                    && places::local(&r.expr).is_some()
                    && at.values.of_expr(&r.expr) == Sort::Tensor =>
            {
                let x = at.show(&r.expr);
                found.push(
                    e,
                    format!("the tensor `{x}` is lent by `&mut`, so that it can be changed in place"),
                    format!("pass `{x}` by value and return the new tensor"),
                );
            }
            _ => {}
        }
    }
}

/// `x[[i, j]] = ..`: only tensors are indexed by arrays.
fn element(left: &Expr, at: &At<'_>, found: &mut Found<'_>) {
    if let Expr::Index(i) = left
        && is_element(i, at)
    {
        let x = at.show(&i.expr);
        found.push(
            left,
            format!("this writes an element of `{x}` in place"),
            "build the tensor whole, with `dev.tensor(..)` before the region, or mask it with `choose`",
        );
    }
}

/// Whether an index names an element of a tensor.
pub fn is_element(i: &syn::ExprIndex, at: &At<'_>) -> bool {
    match at.values.of_expr(&i.expr) {
        Sort::Tensor | Sort::Untaped => true,
        Sort::Unknown => matches!(*i.index, Expr::Array(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{every_method_once, found, found_in, silent};
    use syn::parse_quote;

    #[test]
    fn every_row_is_met() {
        every_method_once(METHODS, codes::IN_PLACE, |m| match m {
            "copy_from" => "x",
            _ => "y",
        });
    }

    #[test]
    fn elements_and_compound_assignments_are_found() {
        found(
            codes::IN_PLACE,
            parse_quote!({
                x[[0, 1]] = 1.0;
            }),
        );
        found(
            codes::IN_PLACE,
            parse_quote!({
                y[[0]] += z;
            }),
        );
        found(
            codes::IN_PLACE,
            parse_quote!({
                x += y;
            }),
        );
        found(
            codes::IN_PLACE,
            parse_quote!({
                let h = self.a.forward(x);
                h -= y;
            }),
        );
        found(
            codes::IN_PLACE,
            parse_quote!({
                update(&mut x);
            }),
        );
        found(
            codes::IN_PLACE,
            parse_quote!({
                let f = |t: Tensor<S, E, D>| t.axpy(1.0, &x, 1.0);
            }),
        );
        found_in(
            "match",
            codes::IN_PLACE,
            parse_quote!({
                match k {
                    0 => x.fill_with_zeros(),
                    _ => {}
                }
            }),
        );
    }

    #[test]
    fn look_alikes_are_silent() {
        silent(parse_quote!({
            let mut v = vec![1, 2];
            v[0] = 3;
            v[1] += 2;
            v.copy_from(&w);
        }));
        silent(parse_quote!({
            let mut n = 0;
            n += 1;
            n -= 2;
        }));
        silent(parse_quote!({
            let mut s = String::new();
            s += "text";
            s.push('x');
            extend(&mut s);
        }));
        silent(parse_quote!({
            let a = Acc::new();
            a.axpy(1);
        }));
        silent(parse_quote!({
            y.copy_from(&z);
        }));
        silent(parse_quote!({
            self.axpy(x);
        }));
        silent(parse_quote!({
            let grid = [[0; 4]; 4];
            grid[1][2] = 3;
        }));
    }

    #[test]
    fn it_can_be_allowed() {
        silent(parse_quote!({
            #[checkpoint(allow(in_place))]
            {
                x.fill_with_zeros();
            }
        }));
    }
}
