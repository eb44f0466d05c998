//! The methods of dfdx's tensors that take `self` by value, as of dfdx 0.13: on these, and on no
//! other method, a receiver that is used again is cloned. Each has a fallible `try_` form.

const CONSUMING: &[&str] = &[
    "abs",
    "accurate_gelu",
    "add",
    "bce_with_logits",
    "broadcast",
    "broadcast_like",
    "choose",
    "clamp",
    "concat",
    "concat_along",
    "contiguous",
    "cos",
    "div",
    "dropout",
    "exp",
    "fast_gelu",
    "gather",
    "gelu",
    "huber_error",
    "ln",
    "log_softmax",
    "logsumexp",
    "lower_tri",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mul",
    "nans_to",
    "neg",
    "negate",
    "normalize",
    "not",
    "permute",
    "powf",
    "powi",
    "prelu",
    "put_tape",
    "realize",
    "recip",
    "relu",
    "reshape",
    "reshape_like",
    "roll",
    "select",
    "sigmoid",
    "sin",
    "slice",
    "softmax",
    "split_tape",
    "sqrt",
    "square",
    "stack",
    "stddev",
    "sub",
    "sum",
    "tanh",
    "to_dtype",
    "upper_tri",
    "var",
];

/// Methods known to leave their receiver as it was.
const READING: &[&str] = &[
    "array",
    "as_ref",
    "as_slice",
    "as_vec",
    "clone",
    "device",
    "first",
    "forward",
    "get",
    "ghost",
    "id",
    "is_empty",
    "is_none",
    "is_some",
    "iter",
    "last",
    "len",
    "shape",
    "strides",
    "to_vec",
    "try_forward",
    "with_empty_tape",
];

/// Whether a method of a tensor consumes it.
pub fn consumes(method: &str) -> bool {
    let name = method.strip_prefix("try_").unwrap_or(method);
    CONSUMING.binary_search(&name).is_ok()
}

/// Whether a method may change its receiver in place, for all that is known.
pub fn may_change(method: &str) -> bool {
    !consumes(method) && READING.binary_search(&method).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(CONSUMING.is_sorted());
        assert!(READING.is_sorted());
    }

    #[test]
    fn both_forms_of_an_operation_are_known() {
        assert!(consumes("matmul") && consumes("try_matmul"));
        assert!(!consumes("shape") && !consumes("push"));
        assert!(may_change("push") && !may_change("len") && !may_change("relu"));
    }
}
