//! CKPT005: `unsafe` and globals. What raw code does to memory no tape sees, and a global keeps
//! what the first pass left for the recompute to find.

use syn::{Expr, Item};

use super::{
    Rule,
    forms::{
        Args::{self, Any, Closure, Exactly, Ordered},
        Found, Method,
        On::Global,
        Scope::Recompute,
        is_global,
    },
    walk::At,
};
use crate::{
    diagnostic::{Code, codes},
    flow::assigned::is_assignment,
};

const METHODS: &[Method] = &[
    row("set", Any, "pass the value in, and set the global after the step"),
    row(
        "store",
        Ordered(2),
        "give the value back beside the output, and store it after the step or in `first_pass! { .. }`",
    ),
    row("swap", Ordered(2), "pass the old value in, and store the new one after the step"),
    row("replace", Exactly(1), "pass the old value in, and give the new one back beside the output"),
    row("take", Exactly(0), "take it before the region and pass it in: the recompute would find nothing"),
    row("fetch_add", Ordered(2), "count in `first_pass! { .. }`, or where the steps are"),
    row("fetch_sub", Ordered(2), "count down in `first_pass! { .. }`, or where the steps are"),
    row("fetch_or", Ordered(2), "pass the flags in, and set them after the step"),
    row("fetch_and", Ordered(2), "pass the flags in, and clear them after the step"),
    row("fetch_max", Ordered(2), "give the value back beside the output, and keep the greatest where the steps are"),
    row("fetch_min", Ordered(2), "give the value back beside the output, and keep the least where the steps are"),
    row("compare_exchange", Ordered(4), "decide before the region, and pass the decision in"),
    row("lock", Exactly(0), "lock it outside of the region and pass in what it guards"),
    row("write", Exactly(0), "read what it guards outside of the region and pass it in; write after the step"),
    row("borrow_mut", Exactly(0), "borrow it outside of the region and pass in what is in it"),
    row(
        "with_borrow_mut",
        Closure,
        "change it after the step: the recompute may run on another thread, which has another value",
    ),
    row(
        "with",
        Closure,
        "read it outside of the region: the recompute may run on another thread, which has another value",
    ),
    row("get_or_init", Closure, "fill it before the model runs, and read it with `get()`"),
];

const fn row(name: &'static str, args: Args, help: &'static str) -> Method {
    Method {
        name,
        args,
        on: Global,
        scope: Recompute,
        says: "`{it}` reaches the global `{on}`, which the recompute finds as the first pass left it",
        help,
    }
}

/// The rule.
pub struct UnsafeCode;

impl Rule for UnsafeCode {
    fn code(&self) -> Code {
        codes::UNSAFE_CODE
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        tables::methods(METHODS)
    }

    fn allowed_by(&self) -> Option<&'static str> {
        Some("unsafe_code")
    }

    fn once_in_first_pass(&self) -> bool {
        true
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        if !Recompute.holds(at) {
            return;
        }
        found.methods(METHODS, e, at);
        match e {
            Expr::Unsafe(u) => found.push(
                u.unsafe_token,
                "nothing shows what this `unsafe` block writes, and the recompute runs it again",
                "move it into a function that only computes from its arguments, or say so with `#[checkpoint(allow(unsafe_code))]`",
            ),
            Expr::Assign(a) => written(&a.left, at, found),
            Expr::Binary(b) if is_assignment(&b.op) => written(&b.left, at, found),
            Expr::Reference(r) if r.mutability.is_some() && is_global(&r.expr) => lent(&r.expr, e, at, found),
            Expr::RawAddr(r) if is_global(&r.expr) => lent(&r.expr, e, at, found),
            _ => {}
        }
    }

    fn item(&self, i: &Item, at: &At<'_>, found: &mut Found<'_>) {
        if let Item::Static(s) = i
            && Recompute.holds(at)
            && (matches!(s.mutability, syn::StaticMutability::Mut(_)) || super::interior_mutability_in(&s.ty).is_some())
        {
            found.push(
                &s.ident,
                format!("the static `{}` outlives the region, so the recompute finds it changed", s.ident),
                "use a `let` of the region's own",
            );
        }
    }
}

fn written(left: &Expr, at: &At<'_>, found: &mut Found<'_>) {
    if is_global(left) {
        let name = at.show(left);
        found.push(
            left,
            format!("this writes the global `{name}`, and the recompute writes it again"),
            "give the value back beside the output, and store it after the step",
        );
    }
}

fn lent(place: &Expr, whole: &Expr, at: &At<'_>, found: &mut Found<'_>) {
    let name = at.show(place);
    found.push(
        whole,
        format!("the global `{name}` is lent to be written"),
        "pass a local in its place, and store that after the step",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{every_method_once, found, silent, silent_outside};
    use syn::parse_quote;

    #[test]
    fn every_row_is_met() {
        every_method_once(METHODS, codes::UNSAFE_CODE, |_| "GLOBAL");
    }

    #[test]
    fn blocks_writes_and_statics_are_found() {
        found(
            codes::UNSAFE_CODE,
            parse_quote!({
                let y = unsafe { f(x) };
            }),
        );
        found(
            codes::UNSAFE_CODE,
            parse_quote!({
                COUNT += 1;
            }),
        );
        found(
            codes::UNSAFE_CODE,
            parse_quote!({
                globals::LAST = 1;
            }),
        );
        found(
            codes::UNSAFE_CODE,
            parse_quote!({
                f(&mut TABLE);
            }),
        );
        found(
            codes::UNSAFE_CODE,
            parse_quote!({
                let p = &raw mut TABLE;
            }),
        );
        found(
            codes::UNSAFE_CODE,
            parse_quote!({
                static mut N: usize = 0;
            }),
        );
        found(
            codes::UNSAFE_CODE,
            parse_quote!({
                static N: AtomicUsize = AtomicUsize::new(0);
            }),
        );
    }

    #[test]
    fn look_alikes_are_silent() {
        silent(parse_quote!({
            let y = x * SCALE;
            let z = TABLE[3] + LIMITS.max;
        }));
        silent(parse_quote!({
            let y = DEFAULTS.with(3);
            let n = NAMES.iter().count();
        }));
        silent(parse_quote!({
            const N: usize = 4;
            static NAMES: [&str; 1] = ["a"];
        }));
        silent(parse_quote!({
            #[checkpoint(allow(unsafe_code))]
            {
                unsafe { f(x) }
            }
        }));
        silent_outside(parse_quote!({
            unsafe { f(x) };
            COUNT.fetch_add(1, Ordering::Relaxed);
        }));
    }
}
