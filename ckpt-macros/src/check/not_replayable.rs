//! CKPT006: values that come out otherwise the second time: random draws that nothing records,
//! clocks, the environment, threads' and memory's own numbers.

use syn::{Expr, Lit, Macro, Type};

use super::{
    Rule,
    forms::{
        Args::{self, Any, Exactly, Exclusive},
        Found, Method, Named,
        On::{self, Anything, Device, MaybeTensor, Shared},
        Scope::{self, Forward, Recompute},
    },
    walk::At,
};
use crate::{
    diagnostic::{Code, codes},
    flow::arguments::{self, Arguments},
};

// Dropout and draws from a device are wrong in all of a forward: the model may be a layer in a
// region of another.
const DRAWS: &[Method] = &[
    dropout(
        "dropout",
        "make a `ckpt_runtime::nn::Dropout` a field of the model and call `self.dropout.forward(..)`: its draws are replayed",
    ),
    dropout(
        "try_dropout",
        "make a `ckpt_runtime::nn::Dropout` a field of the model and call `self.dropout.try_forward(..)?`: its draws are replayed",
    ),
    draw("sample_uniform", Any, Anything, "draw `dev.sample_uniform()` before the model runs and pass the tensor in"),
    draw(
        "sample_uniform_like",
        Any,
        Anything,
        "draw `dev.sample_uniform_like(..)` before the model runs and pass the tensor in",
    ),
    draw("sample_normal", Any, Anything, "draw `dev.sample_normal()` before the model runs and pass the tensor in"),
    draw(
        "sample_normal_like",
        Any,
        Anything,
        "draw `dev.sample_normal_like(..)` before the model runs and pass the tensor in",
    ),
    draw(
        "sample_like",
        Exactly(2),
        Anything,
        "draw before the model runs and pass the tensor in, or seed a generator of your own from `ckpt_runtime::draw`",
    ),
    draw(
        "try_sample_like",
        Exactly(2),
        Anything,
        "draw before the model runs, where its error can be handled, and pass the tensor in",
    ),
    draw("sample", Exactly(1), Device, "draw `dev.sample(..)` before the model runs and pass the tensor in"),
    draw("try_sample", Exactly(1), Device, "draw `dev.try_sample(..)?` before the model runs and pass the tensor in"),
    draw("random_u64", Exactly(0), Anything, "take the seed from `ckpt_runtime::draw`, which is replayed"),
];

const METHODS: &[Method] = &[
    rng("gen_range", Exactly(1), "draw from the range before the region and pass the number in"),
    rng("gen_bool", Exactly(1), "throw the coin before the region and pass the answer in"),
    rng("random_range", Exactly(1), "draw before the region, from the same range, and pass the number in"),
    rng("random_bool", Exactly(1), "decide before the region and pass the decision in"),
    rng("next_u32", Exactly(0), "draw the 32 bits before the region and pass them in"),
    rng(
        "next_u64",
        Exactly(0),
        "draw the 64 bits before the region, or take them from `ckpt_runtime::draw`, which is replayed",
    ),
    rng("fill_bytes", Exactly(1), "fill the buffer before the region and pass the bytes in"),
    Method {
        name: "shuffle",
        args: Exclusive,
        on: Anything,
        scope: Recompute,
        says: "`{it}` puts `{on}` in another order each time the region runs",
        help: "shuffle before the region and pass the order in",
    },
    Method {
        name: "elapsed",
        args: Exactly(0),
        on: Shared,
        scope: Recompute,
        says: "the time that `{on}.{it}()` tells is another in the recompute",
        help: "measure around the region, or in `first_pass! { .. }`",
    },
    address("as_ptr", "compare by value, or by `id()` outside of the region"),
    address("as_mut_ptr", "write through `&mut` to a local of the region's own"),
];

const fn dropout(name: &'static str, help: &'static str) -> Method {
    Method {
        name,
        args: Exactly(1),
        on: MaybeTensor,
        scope: Forward,
        says: "`{it}` on `{on}` draws a mask that nothing records, so a recompute drops other elements",
        help,
    }
}

const fn draw(name: &'static str, args: Args, on: On, help: &'static str) -> Method {
    Method { name, args, on, scope: Forward, says: "`{it}` draws from `{on}`, and a recompute would draw again", help }
}

const fn rng(name: &'static str, args: Args, help: &'static str) -> Method {
    Method {
        name,
        args,
        on: Shared,
        scope: Recompute,
        says: "`{it}` advances the generator `{on}`, which the recompute meets further on",
        help,
    }
}

const fn address(name: &'static str, help: &'static str) -> Method {
    Method {
        name,
        args: Exactly(0),
        on: Anything,
        scope: Recompute,
        says: "`{it}` gives the address of `{on}`, which the recompute stores elsewhere",
        help,
    }
}

const PATHS: &[Named] = &[
    random("rand::random", "draw with `rand::random` before the region and pass the value in"),
    random("rand::random_range", "draw from the range before the model runs and pass the number in"),
    random("rand::thread_rng", "draw from the thread's generator before the region and pass the values in"),
    random("rand::rng", "draw from `rand::rng()` before the region and pass the values in"),
    random("thread_rng", "draw from `thread_rng()` before the region and pass the values in"),
    random("fastrand::*", "draw with `fastrand` before the region and pass the values in"),
    random("getrandom::*", "fetch the bytes before the region and pass them in"),
    random(
        "StdRng::from_entropy",
        "seed it: `StdRng::seed_from_u64(seed)` with a seed that comes in, or one from `ckpt_runtime::draw`",
    ),
    random(
        "SmallRng::from_entropy",
        "seed it: `SmallRng::seed_from_u64(seed)` with a seed that comes in, or one from `ckpt_runtime::draw`",
    ),
    random(
        "StdRng::from_os_rng",
        "seed it with `StdRng::seed_from_u64(seed)`, where the seed comes in or is from `ckpt_runtime::draw`",
    ),
    random(
        "SmallRng::from_os_rng",
        "seed it with `SmallRng::seed_from_u64(seed)`, where the seed comes in or is from `ckpt_runtime::draw`",
    ),
    random("rngs::OsRng", "draw from the system before the region and pass the values in"),
    random("Uuid::new_v4", "make the name before the region and pass it in"),
    random("RandomState::new", "use a `BTreeMap`, or a hasher with fixed keys"),
    clock("Instant::now", "measure around the region; a time that is only reported goes into `first_pass! { .. }`"),
    clock("SystemTime::now", "take the time before the model runs and pass it in"),
    clock("Utc::now", "take the date before the model runs and pass it in"),
    clock("Local::now", "take the local time before the model runs and pass it in"),
    environment("std::env::*", "read the environment before the model runs and keep what it says in a field"),
    environment("env::var", "read the variable where the module is built and keep it in a field"),
    environment("env::var_os", "read the variable where the module is built and keep the `OsString` in a field"),
    environment("env::vars", "read the variables where the module is built and keep those that matter in a field"),
    environment("env::args", "read the arguments in `main` and keep what they say in a field"),
    environment("env::current_dir", "find the directory in `main` and keep it in a field"),
    Named {
        form: "thread::current",
        scope: Recompute,
        says: "`{it}` tells which thread runs the region, and the backward pass may run on another",
        help: "pass in what depends on the thread",
    },
    pointer("Rc::as_ptr", "compare what the `Rc`s point to, or number them where they are made"),
    pointer("Arc::as_ptr", "compare what the `Arc`s point to, or number them where they are made"),
    pointer("Rc::strong_count", "decide by the values: a region holds clones of its own, which count"),
    pointer("Arc::strong_count", "decide by the values: a region holds clones of its own, and other threads may"),
    pointer("ptr::from_ref", "decide by the values, not by where they are"),
];

const fn random(form: &'static str, help: &'static str) -> Named {
    named(form, "`{it}` is seeded anew each time the region runs", help)
}

const fn clock(form: &'static str, help: &'static str) -> Named {
    named(form, "`{it}` tells another time in the recompute", help)
}

const fn environment(form: &'static str, help: &'static str) -> Named {
    named(form, "`{it}` reads what may have changed when the region is recomputed", help)
}

const fn pointer(form: &'static str, help: &'static str) -> Named {
    named(form, "`{it}` tells of memory, which the recompute uses otherwise", help)
}

const fn named(form: &'static str, says: &'static str, help: &'static str) -> Named {
    let scope: Scope = Recompute;
    Named { form, scope, says, help }
}

const MACROS: &[Named] = &[
    pointer("ptr::addr_of", "compare the values themselves"),
    pointer("ptr::addr_of_mut", "write by `&mut` to a value that the region made"),
    pointer("addr_of", "use the value, or a reference to it"),
    pointer("addr_of_mut", "use a local of the region's own, by `&mut`"),
];

/// The rule.
pub struct NotReplayable;

impl Rule for NotReplayable {
    fn code(&self) -> Code {
        codes::NOT_REPLAYABLE
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        [tables::methods(DRAWS), tables::methods(METHODS), tables::named(PATHS), tables::named(MACROS)].concat()
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        found.methods(DRAWS, e, at);
        // What a first pass alone looks at stays in it.
        if at.in_first_pass() {
            return;
        }
        found.methods(METHODS, e, at);
        found.paths(PATHS, e, at);
        if let Expr::Cast(c) = e
            && matches!(*c.ty, Type::Ptr(_))
            && Recompute.holds(at)
        {
            let value = at.show(&c.expr);
            found.push(
                c,
                format!("the address of `{value}` is another in the recompute"),
                "use the value itself, or number what must be told apart",
            );
        }
    }

    fn invocation(&self, m: &Macro, at: &At<'_>, found: &mut Found<'_>) {
        if at.in_first_pass() {
            return;
        }
        found.macros(MACROS, m, at);
        if Recompute.holds(at)
            && let Arguments::List(list) = arguments::read(m)
        {
            let printed = list.iter().find_map(|a| match &a.value {
                Expr::Lit(l) => match &l.lit {
                    Lit::Str(s) if s.value().contains(":p}") => Some(s.clone()),
                    _ => None,
                },
                _ => None,
            });
            if let Some(literal) = printed {
                found.push(
                    literal,
                    "`{:p}` prints an address, which is another in the recompute",
                    "print the value with `{:?}`",
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{
        every_macro_once, every_method_once, every_path_once, found, found_outside, silent, silent_outside,
    };
    use syn::parse_quote;

    #[test]
    fn every_row_is_met() {
        every_method_once(DRAWS, codes::NOT_REPLAYABLE, |m| match m {
            "dropout" | "try_dropout" => "x",
            "sample" | "try_sample" => "self.dev",
            _ => "dev",
        });
        every_method_once(METHODS, codes::NOT_REPLAYABLE, |_| "self.field");
        every_path_once(PATHS, codes::NOT_REPLAYABLE);
        every_macro_once(MACROS, codes::NOT_REPLAYABLE);
    }

    #[test]
    fn addresses_are_found() {
        found(
            codes::NOT_REPLAYABLE,
            parse_quote!({
                let p = &x as *const _;
            }),
        );
        found(
            codes::NOT_REPLAYABLE,
            parse_quote!({
                let s = format!("{:p}", y);
            }),
        );
        found(
            codes::NOT_REPLAYABLE,
            parse_quote!({
                let m = x.device().sample(d);
            }),
        );
        found_outside(
            codes::NOT_REPLAYABLE,
            parse_quote!({
                let h = self.a.forward(x).dropout(0.1);
            }),
        );
    }

    #[test]
    fn look_alikes_are_silent() {
        silent(parse_quote!({
            let h = self.dropout.forward(x);
            let h = self.dropout(h);
        }));
        silent(parse_quote!({
            let rng = StdRng::seed_from_u64(7);
            let n = rng.gen_range(0..4);
        }));
        silent(parse_quote!({
            let c = Config::new();
            c.dropout(0.1);
        }));
        silent(parse_quote!({
            let mode = env!("MODE");
            let s = sampler.sample(x);
        }));
        silent(parse_quote!({
            let mut order = vec![1];
            order.shuffle(3);
        }));
        silent(parse_quote!({
            let n = n as usize;
            let t = self.now;
        }));
        silent(parse_quote!({
            first_pass! { let t = Instant::now(); }
        }));
        silent_outside(parse_quote!({
            let t = Instant::now();
            let v = std::env::var("A");
        }));
    }
}
