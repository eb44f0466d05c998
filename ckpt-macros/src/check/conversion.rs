//! CKPT008: changing the device or the dtype. Such tensors leave the forward's tape, which is of one
//! dtype on one device.

use syn::Expr;

use super::{
    Rule,
    forms::{
        Args::Exactly,
        Found, Method,
        On::{self, Tensor, TensorOrField},
        Scope::{self, Forward, Region},
    },
    walk::At,
};
use crate::diagnostic::{Code, codes};

const METHODS: &[Method] = &[
    device(
        "to_device",
        TensorOrField,
        Region,
        "move the input before the model runs, and the model with `model.to_device(&dev)`",
    ),
    device(
        "try_to_device",
        TensorOrField,
        Region,
        "move the input before the model runs, and the model with `model.try_to_device(&dev)?`",
    ),
    dtype(
        "to_dtype",
        TensorOrField,
        Region,
        "convert the input before the model runs, and the model with `model.to_dtype::<f16>()`; masks and indices may be converted",
    ),
    dtype(
        "try_to_dtype",
        TensorOrField,
        Region,
        "convert the input before the model runs, and the model with `model.try_to_dtype::<f16>()?`; masks and indices may be converted",
    ),
    // Outside of regions what is known to be on the tape.
    device("to_device", Tensor, Forward, "return it, and move it where the model is called"),
    device("try_to_device", Tensor, Forward, "return it, and move it, where that may fail, after the model"),
    dtype("to_dtype", Tensor, Forward, "return it, and convert it where the model is called"),
    dtype("try_to_dtype", Tensor, Forward, "return it, and convert it, where that may fail, after the model"),
];

const fn device(name: &'static str, on: On, scope: Scope, help: &'static str) -> Method {
    Method {
        name,
        args: Exactly(1),
        on,
        scope,
        says: "`{it}` moves `{on}` to a device on which its tape does not run",
        help,
    }
}

const fn dtype(name: &'static str, on: On, scope: Scope, help: &'static str) -> Method {
    Method { name, args: Exactly(0), on, scope, says: "`{it}` gives `{on}` a dtype that its tape cannot carry", help }
}

/// The rule.
pub struct Conversion;

impl Rule for Conversion {
    fn code(&self) -> Code {
        codes::CONVERSION
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        tables::methods(METHODS)
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        found.methods(METHODS, e, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{every_method_once, found, found_outside, silent, silent_outside};
    use syn::parse_quote;

    #[test]
    fn every_row_is_met() {
        every_method_once(METHODS, codes::CONVERSION, |_| "x");
    }

    #[test]
    fn a_tensor_that_is_known_is_found_outside_of_regions_too() {
        found(
            codes::CONVERSION,
            parse_quote!({
                let h = y.to_dtype::<f16>();
            }),
        );
        found(
            codes::CONVERSION,
            parse_quote!({
                let w = self.w.to_device(&dev);
            }),
        );
        found_outside(
            codes::CONVERSION,
            parse_quote!({
                let h = self.a.forward(x).to_dtype::<f16>();
            }),
        );
    }

    #[test]
    fn masks_and_other_types_are_silent() {
        silent(parse_quote!({
            let m = mask.to_dtype::<E>();
            let m = ids.clone().to_dtype::<u8>();
        }));
        silent(parse_quote!({
            let t = Table::new();
            t.to_device(&d);
        }));
        silent(parse_quote!({
            self.to_device(x);
        }));
        silent_outside(parse_quote!({
            let w = y.to_device(&dev);
        }));
    }
}
