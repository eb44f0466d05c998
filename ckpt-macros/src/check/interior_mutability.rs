//! CKPT003: interior mutability. Through a cell, a lock or an atomic a forward changes what no
//! `&mut` shows: again in every recompute, and by whatever thread runs the backward pass.
//!
//! The type is an error by itself where it stands in a field of a `#[checkpointed]` struct, since a
//! helper may write through it where no macro sees. `#[skip(allow(interior_mutability))]` on the
//! field, or `allow(interior_mutability)` on the struct, says that it is not written in a region.

use syn::{Expr, GenericArgument, Ident, PathArguments, Type};

use super::{
    Rule,
    forms::{
        Args::{self, Exactly, Ordered},
        Found, Method,
        On::{self, KnownCell, KnownShared, Shared},
        Scope::Forward,
    },
    walk::At,
};
use crate::diagnostic::{Code, codes};

const METHODS: &[Method] = &[
    row("borrow_mut", Exactly(0), Shared, "read it with `borrow()`, and give what is new back beside the output"),
    row(
        "try_borrow_mut",
        Exactly(0),
        Shared,
        "read it with `try_borrow()`, and give what is new back beside the output",
    ),
    row(
        "lock",
        Exactly(0),
        Shared,
        "take the lock outside of the region and pass in what it guards, or, where it is only read, write `allow(interior_mutability)` in the mark or on the impl",
    ),
    row(
        "try_lock",
        Exactly(0),
        Shared,
        "whether the lock is free changes: take it outside of the region and pass in what it guards",
    ),
    row("write", Exactly(0), Shared, "read it with `read()`, and write it after the step"),
    row("try_write", Exactly(0), Shared, "read it with `try_read()`, and write it between two steps"),
    row("store", Ordered(2), Shared, "store it once a step, in `first_pass! { .. }`, or after the step"),
    row("swap", Ordered(2), Shared, "read it with `load`, and store the new value after the step"),
    row("fetch_add", Ordered(2), Shared, "count once a step, in `first_pass! { .. }`, or outside of the model"),
    row("fetch_sub", Ordered(2), Shared, "count down once a step, in `first_pass! { .. }`, or outside of the model"),
    row("fetch_and", Ordered(2), Shared, "clear the flags before the forward, and read them here with `load`"),
    row("fetch_or", Ordered(2), Shared, "set the flags before the forward, and read them here with `load`"),
    row(
        "fetch_xor",
        Ordered(2),
        Shared,
        "flip the flags before the forward: flipped in both passes they are as before",
    ),
    row("fetch_nand", Ordered(2), Shared, "compute the flags before the forward, and read them here with `load`"),
    row("fetch_max", Ordered(2), Shared, "give the value back beside the output, and keep the greatest after the step"),
    row("fetch_min", Ordered(2), Shared, "give the value back beside the output, and keep the least after the step"),
    row("fetch_update", Exactly(3), Shared, "compute the new value from `load`, and store it after the step"),
    row(
        "compare_exchange",
        Ordered(4),
        Shared,
        "decide by a value that comes in: the recompute finds it exchanged already",
    ),
    row(
        "compare_exchange_weak",
        Ordered(4),
        Shared,
        "decide by a value that comes in: this may fail in one pass and not in the other",
    ),
    row(
        "set",
        Exactly(1),
        KnownShared,
        "give the new value back beside the output; what must be set once a step goes into `first_pass! { .. }`, and what is harmless is let through by `allow(interior_mutability)` in the mark or on the impl, which the struct's does not reach",
    ),
    row("update", Exactly(1), KnownCell, "compute from `get()`, and give the new value back beside the output"),
    row(
        "replace",
        Exactly(1),
        KnownCell,
        "read the old value with `get()` or `borrow()`, and give the new one back beside the output",
    ),
    row(
        "replace_with",
        Exactly(1),
        KnownShared,
        "compute from `borrow()`, and give the new value back beside the output",
    ),
    row("take", Exactly(0), KnownCell, "clone what is in it: the recompute would find it empty"),
    row("get_or_init", Exactly(1), KnownShared, "fill it where the module is built, and read it here with `get()`"),
    row(
        "get_or_try_init",
        Exactly(1),
        KnownShared,
        "fill it where the module is built and its error can be handled, and read it here with `get()`",
    ),
];

const fn row(name: &'static str, args: Args, on: On, help: &'static str) -> Method {
    Method {
        name,
        args,
        on,
        scope: Forward,
        says: "`{it}` changes `{on}` behind a shared reference, and does so again when the region is recomputed",
        help,
    }
}

/// Types through which a shared reference writes.
pub const TYPES: &[&str] = &[
    "AtomicBool",
    "AtomicI8",
    "AtomicI16",
    "AtomicI32",
    "AtomicI64",
    "AtomicIsize",
    "AtomicPtr",
    "AtomicU8",
    "AtomicU16",
    "AtomicU32",
    "AtomicU64",
    "AtomicUsize",
    "Cell",
    "LazyCell",
    "LazyLock",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "RefCell",
    "RwLock",
    "UnsafeCell",
];

/// The rule.
pub struct InteriorMutability;

impl Rule for InteriorMutability {
    fn code(&self) -> Code {
        codes::INTERIOR_MUTABILITY
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        tables::methods(METHODS)
    }

    fn allowed_by(&self) -> Option<&'static str> {
        Some("interior_mutability")
    }

    fn once_in_first_pass(&self) -> bool {
        true
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        found.methods(METHODS, e, at);
    }
}

/// The name in a type through which its values can be written behind a shared reference.
/// `PhantomData` holds nothing, and a function pointer has nothing inside.
pub fn in_type(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(p) => {
            let last = p.path.segments.last()?;
            let name = last.ident.to_string();
            if TYPES.contains(&name.as_str()) {
                return Some(&last.ident);
            }
            match &last.arguments {
                PathArguments::AngleBracketed(a) if name != "PhantomData" => a.args.iter().find_map(|a| match a {
                    GenericArgument::Type(ty) => in_type(ty),
                    _ => None,
                }),
                _ => None,
            }
        }
        Type::Array(a) => in_type(&a.elem),
        Type::Slice(s) => in_type(&s.elem),
        Type::Reference(r) => in_type(&r.elem),
        Type::Paren(p) => in_type(&p.elem),
        Type::Group(g) => in_type(&g.elem),
        Type::Tuple(t) => t.elems.iter().find_map(in_type),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{every_method_once, found, found_outside, silent};
    use syn::parse_quote;

    #[test]
    fn every_row_is_met() {
        every_method_once(METHODS, codes::INTERIOR_MUTABILITY, |m| match m {
            "update" | "replace" | "take" => "cell",
            _ => "self.field",
        });
        for name in TYPES {
            let name: Ident = syn::parse_str(name).unwrap();
            for ty in [parse_quote!(#name<u8>), parse_quote!(Rc<[std::sync::#name<u8>; 2]>)] {
                let ty: Type = ty;
                assert_eq!(in_type(&ty), Some(&name));
            }
        }
    }

    #[test]
    fn what_comes_in_is_found_in_a_region_and_a_field_everywhere() {
        found(
            codes::INTERIOR_MUTABILITY,
            parse_quote!({
                cell.set(1);
            }),
        );
        found(
            codes::INTERIOR_MUTABILITY,
            parse_quote!({
                y.borrow_mut().push(1);
            }),
        );
        found(
            codes::INTERIOR_MUTABILITY,
            parse_quote!({
                self.stats.rows[0].lock().unwrap().n = 1;
            }),
        );
        found_outside(
            codes::INTERIOR_MUTABILITY,
            parse_quote!({
                self.count.fetch_add(1, Ordering::Relaxed);
            }),
        );
    }

    #[test]
    fn look_alikes_are_silent() {
        silent(parse_quote!({
            let mut map = HashMap::new();
            map.set("a", 1);
        }));
        silent(parse_quote!({
            let c = Cell::new(0);
            c.set(1);
            c.replace(2);
            let v = RefCell::new(1);
            *v.borrow_mut() = 2;
        }));
        silent(parse_quote!({
            let t = s.replace("a", "b");
            y.set(1);
        }));
        silent(parse_quote!({
            let h = self.store(x);
            let h = self.set.forward(h);
        }));
        silent(parse_quote!({
            self.bits.set(1, true);
        }));
        silent(parse_quote!({
            first_pass! { self.count.fetch_add(1, Ordering::Relaxed); }
        }));
        silent(parse_quote!({
            #[checkpoint(allow(interior_mutability))]
            {
                cell.set(1);
            }
        }));
        for ty in [parse_quote!(PhantomData<Cell<u8>>), parse_quote!(Rc<Table>), parse_quote!(fn(Cell<u8>))] {
            let ty: Type = ty;
            assert_eq!(in_type(&ty), None);
        }
    }
}
