//! CKPT010: threads, channels and tasks. A region's replay belongs to its thread, and what another
//! one sends is not sent again.

use syn::Expr;

use super::{
    Rule,
    forms::{
        Args::{self, Exactly},
        Found, Method, Named,
        On::{self, Anything, Shared},
        Scope::Recompute,
    },
    walk::At,
};
use crate::diagnostic::{Code, codes};

const PATHS: &[Named] = &[
    thread(
        "thread::spawn",
        "compute in the region itself: the layers use all cores; or write `#[checkpoint(allow(threads))]` where no tensor is touched",
    ),
    thread(
        "thread::scope",
        "call one after the other: the layers use all cores; `#[checkpoint(allow(threads))]` lets through what touches no tensor",
    ),
    thread(
        "rayon::*",
        "use tensor operations, which run on all cores; `#[checkpoint(allow(threads))]` lets through what touches no tensor",
    ),
    thread(
        "crossbeam::*",
        "compute on the region's own thread; `#[checkpoint(allow(threads))]` lets through what touches no tensor",
    ),
    wait("thread::sleep", "sleep before the region, or between two steps"),
    wait("thread::park", "park before the region"),
    wait("thread::yield_now", "leave it out: the region's layers hand out their work themselves"),
    wait("Barrier::new", "meet other threads before the region"),
    wait("Condvar::new", "wait for other threads before the region"),
    channel("mpsc::channel", "receive before the region and pass the values in"),
    channel("mpsc::sync_channel", "receive what was sent before the region and pass it in"),
    channel("crossbeam_channel::*", "keep channels outside of the model and pass in what came through"),
    task("tokio::*", "start tasks outside of the model and pass in what they give"),
    task("async_std::*", "spawn tasks outside of the model and pass in what they give"),
    task("smol::*", "run tasks outside of the model and pass in what they give"),
    task("executor::block_on", "wait for the future before the region and pass its value in"),
];

const fn thread(form: &'static str, help: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}` runs code on other threads, where no draw is replayed and no tape is shared",
        help,
    }
}

const fn wait(form: &'static str, help: &'static str) -> Named {
    Named { form, scope: Recompute, says: "`{it}` waits for something that the recompute waits for once more", help }
}

const fn channel(form: &'static str, help: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}` opens a channel, whose messages are not sent again in the recompute",
        help,
    }
}

const fn task(form: &'static str, help: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}` hands work to a runtime, which the recompute hands it once more",
        help,
    }
}

const METHODS: &[Method] = &[
    row("par_iter", Exactly(0), Anything, "iterate with `iter`: one tape records one thread"),
    row("par_iter_mut", Exactly(0), Anything, "iterate with `iter_mut`: one tape records one thread"),
    row("into_par_iter", Exactly(0), Anything, "iterate with `into_iter`: one tape records one thread"),
    row("par_chunks", Exactly(1), Anything, "iterate with `chunks`: one tape records one thread"),
    row("par_bridge", Exactly(0), Anything, "leave it out, and iterate as it stands: one tape records one thread"),
    row("send", Exactly(1), Shared, "send after the step, or in `first_pass! { .. }`"),
    row("try_send", Exactly(1), Shared, "try to send after the step, or in `first_pass! { .. }`"),
    row("recv", Exactly(0), Shared, "receive before the region and pass the value in"),
    row("try_recv", Exactly(0), Shared, "look for messages before the region"),
    row("recv_timeout", Exactly(1), Shared, "wait for messages before the region"),
    row("spawn", Exactly(1), Shared, "run it in the region itself"),
];

const fn row(name: &'static str, args: Args, on: On, help: &'static str) -> Method {
    Method {
        name,
        args,
        on,
        scope: Recompute,
        says: "`{it}` on `{on}` has to do with other threads, which a recompute cannot bring back",
        help,
    }
}

/// The rule.
pub struct Threads;

impl Rule for Threads {
    fn code(&self) -> Code {
        codes::THREADS
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        [tables::named(PATHS), tables::methods(METHODS)].concat()
    }

    fn allowed_by(&self) -> Option<&'static str> {
        Some("threads")
    }

    fn once_in_first_pass(&self) -> bool {
        true
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        found.paths(PATHS, e, at);
        found.methods(METHODS, e, at);
        if let Expr::Async(a) = e
            && Recompute.holds(at)
        {
            found.push(
                a.async_token,
                "an `async` block runs when it is polled, not where the region stands",
                "compute the value here, or await it before the region",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{every_method_once, every_path_once, found, silent, silent_outside};
    use syn::parse_quote;

    #[test]
    fn every_row_is_met() {
        every_path_once(PATHS, codes::THREADS);
        every_method_once(METHODS, codes::THREADS, |_| "self.field");
    }

    #[test]
    fn tasks_are_found() {
        found(
            codes::THREADS,
            parse_quote!({
                let f = async { 1 };
            }),
        );
        found(
            codes::THREADS,
            parse_quote!({
                std::thread::spawn(move || f(x)).join();
            }),
        );
        found(
            codes::THREADS,
            parse_quote!({
                sender.send(1);
            }),
        );
    }

    #[test]
    fn look_alikes_are_silent() {
        silent(parse_quote!({
            let line = ["a", "b"].join(" ");
            let q = Queue::new();
            q.send(1);
        }));
        silent(parse_quote!({
            let h = self.send(x);
            let t = thread::Count::of(3);
        }));
        silent(parse_quote!({
            #[checkpoint(allow(threads))]
            {
                rayon::join(a, b);
            }
        }));
        silent_outside(parse_quote!({
            std::thread::spawn(f);
        }));
    }
}
