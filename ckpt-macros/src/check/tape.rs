//! CKPT007: breaking the tape, and reading values out. Inside a forward all tensors share one tape:
//! what takes it off, puts another on or runs it backward loses gradients. What is read out leaves
//! the tape behind.

use syn::Expr;

use super::{
    Rule,
    forms::{
        Args::{self, Exactly},
        Found, Method, Named,
        On::{self, Anything, MaybeTensor, Tensor, TensorOrField},
        Scope::{Forward, Region},
    },
    in_place,
    values::Sort,
    walk::At,
};
use crate::diagnostic::{Code, codes};

const METHODS: &[Method] = &[
    row(
        "split_tape",
        Exactly(0),
        Anything,
        "use the value itself: clones share the tape, and an unused one costs nothing",
    ),
    row("put_tape", Exactly(1), Anything, "leave it out: all tensors of a forward are on its tape already"),
    row("retaped", Exactly(0), Anything, "write `.clone()`: it shares the forward's tape"),
    row(
        "trace",
        Exactly(1),
        TensorOrField,
        "trace the input where the model is called, `model.forward_mut(x.trace(grads))`: a forward has its tape already",
    ),
    row(
        "traced",
        Exactly(1),
        TensorOrField,
        "trace the input where the model is called, `model.forward_mut(x.traced(grads))`: a forward has its tape already",
    ),
    row(
        "leaky_trace",
        Exactly(0),
        Anything,
        "trace the input where the model is called, `model.forward_mut(x.leaky_trace())`: a forward has its tape already",
    ),
    row(
        "leaky_traced",
        Exactly(0),
        Anything,
        "trace the input where the model is called, `model.forward_mut(x.leaky_traced())`: a forward has its tape already",
    ),
    row("backward", Exactly(0), MaybeTensor, "return the loss, and call `backward` where the model is trained"),
    row("try_backward", Exactly(0), MaybeTensor, "return the loss, and call `try_backward` where the model is trained"),
];

const fn row(name: &'static str, args: Args, on: On, help: &'static str) -> Method {
    Method {
        name,
        args,
        on,
        scope: Forward,
        says: "`{it}` on `{on}` breaks the tape that the forward's tensors share",
        help,
    }
}

const PATHS: &[Named] = &[
    Named {
        form: "OwnedTape::default",
        scope: Forward,
        says: "`{it}` opens a second tape, of which the region's backward knows nothing",
        help: "leave the tape to the macro",
    },
    Named {
        form: "Gradients::leaky",
        scope: Forward,
        says: "`{it}` makes gradients that the training step never sees",
        help: "make gradients where the model is trained",
    },
];

/// The rule of the tape.
pub struct Tape;

impl Rule for Tape {
    fn code(&self) -> Code {
        codes::TAPE
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        [tables::methods(METHODS), tables::named(PATHS)].concat()
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        found.methods(METHODS, e, at);
        found.paths(PATHS, e, at);
    }
}

const READS: &[Method] = &[
    read(
        "array",
        Exactly(0),
        MaybeTensor,
        "choose by tensor operations (`choose`, `select`, `gather`), or read it outside of the region; `#[checkpoint(allow(reading))]` lets through what is only looked at",
    ),
    read(
        "as_vec",
        Exactly(0),
        MaybeTensor,
        "compute with the tensor itself, or read it outside of the region; `#[checkpoint(allow(reading))]` lets through what is only looked at",
    ),
    read("copy_into", Exactly(1), Tensor, "copy the values out after the forward"),
    read("tensor_to_vec", Exactly(1), Anything, "return the tensor, and read it after the forward"),
    read("tensor_to_array", Exactly(1), Anything, "return the tensor, and make the array after the forward"),
];

const fn read(name: &'static str, args: Args, on: On, help: &'static str) -> Method {
    Method {
        name,
        args,
        on,
        scope: Region,
        says: "`{it}` reads the values of `{on}` out of the region, which leaves their gradients behind",
        help,
    }
}

/// The rule of what is read out.
pub struct Reading;

impl Rule for Reading {
    fn code(&self) -> Code {
        codes::TAPE
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        tables::methods(READS)
    }

    fn allowed_by(&self) -> Option<&'static str> {
        Some("reading")
    }

    fn once_in_first_pass(&self) -> bool {
        true
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        found.methods(READS, e, at);
        if let Expr::Index(i) = e
            && !at.is_assigned()
            && Region.holds(at)
            && at.values.of_expr(&i.expr) == Sort::Tensor
            && in_place::is_element(i, at)
        {
            let x = at.show(&i.expr);
            found.push(
                e,
                format!("this reads an element of `{x}` out of the region, without its gradient"),
                "take it with `select`, which stays on the tape",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{every_method_once, every_path_once, found, found_outside, silent, silent_outside};
    use syn::parse_quote;

    #[test]
    fn every_row_is_met() {
        every_method_once(METHODS, codes::TAPE, |_| "x");
        every_method_once(READS, codes::TAPE, |_| "x");
        every_path_once(PATHS, codes::TAPE);
    }

    #[test]
    fn the_tape_is_guarded_in_all_of_a_forward() {
        found_outside(
            codes::TAPE,
            parse_quote!({
                let (x, tape) = x.split_tape();
            }),
        );
        found(
            codes::TAPE,
            parse_quote!({
                let w = self.weight.leaky_trace();
            }),
        );
        found(
            codes::TAPE,
            parse_quote!({
                if x[[0]] > 0.5 {
                    f()
                }
            }),
        );
    }

    #[test]
    fn look_alikes_are_silent() {
        silent(parse_quote!({
            let m = Matrix::new();
            let t = m.trace(1);
            m.array();
        }));
        silent(parse_quote!({
            let v = vec![1];
            let first = v[0];
            let w = rows[2];
        }));
        silent(parse_quote!({
            let h = self.trace(x);
            let s = self.backward.forward(h);
        }));
        silent(parse_quote!({
            let k = ids.array();
        }));
        silent(parse_quote!({
            #[checkpoint(allow(reading))]
            {
                x.array();
            }
        }));
        silent_outside(parse_quote!({
            let v = x.array();
        }));
    }
}
