//! CKPT004: input, output and logging in a region that is recomputed: twice a step, and in an
//! order that no reader expects.

use syn::{Expr, Macro};

use super::{
    Rule,
    forms::{
        Args::{self, Exactly},
        Found, Method, Named,
        On::Shared,
        Scope::Recompute,
        invokes, meets,
    },
    values::Sort,
    walk::At,
};
use crate::{
    diagnostic::{Code, codes},
    flow::{
        arguments::{self, Arguments},
        places,
    },
};

const MACROS: &[Named] = &[
    print(
        "print",
        "write `first_pass! { print!(..) }`, or print where the step ends; `#[checkpoint(allow(io))]` lets it through",
    ),
    print(
        "println",
        "write `first_pass! { println!(..) }`, or print where the step ends; `#[checkpoint(allow(io))]` lets it through",
    ),
    print(
        "eprint",
        "write `first_pass! { eprint!(..) }`, or report where the step ends; `#[checkpoint(allow(io))]` lets it through",
    ),
    print(
        "eprintln",
        "write `first_pass! { eprintln!(..) }`, or report where the step ends; `#[checkpoint(allow(io))]` lets it through",
    ),
    Named {
        form: "dbg",
        scope: Recompute,
        says: "`{it}!` prints in the first pass and again in the recompute",
        help: "take it out, or write `first_pass! { eprintln!(\"{y:?}\") }` before the value is used",
    },
    log(
        "log::*",
        "write `first_pass! { log::info!(..) }`, or log outside of the region; `#[checkpoint(allow(io))]` lets it through",
    ),
    log(
        "tracing::*",
        "write `first_pass! { tracing::info!(..) }`, or put the span around the model; `#[checkpoint(allow(io))]` lets it through",
    ),
];

/// Logging macros brought in by `use`: only with the message that they all have.
const LOGGING: &[Named] = &[
    log("error", "return the error as the forward's `Result`, or write `first_pass! { error!(..) }`"),
    log("warn", "write `first_pass! { warn!(..) }`, or warn outside of the region"),
    log("info", "write `first_pass! { info!(..) }`, or log outside of the region"),
    log("debug", "write `first_pass! { debug!(..) }`, or log before and after the region"),
    log("trace", "write `first_pass! { trace!(..) }`, or trace the call of the model"),
];

const fn print(form: &'static str, help: &'static str) -> Named {
    Named { form, scope: Recompute, says: "`{it}!` prints each time the region runs, so twice a step", help }
}

const fn log(form: &'static str, help: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}!` logs each time the region runs, so the recompute logs it again",
        help,
    }
}

const PATHS: &[Named] = &[
    file("std::fs::*", "read files before the model runs and pass their contents in; write them after the step"),
    file("fs::read", "read the file before the model runs and pass its bytes in"),
    file("fs::read_to_string", "read the file before the model runs and pass its text in"),
    file("fs::write", "give back what is to be written, and write it after the step"),
    file("fs::create_dir", "make the directory before training"),
    file("fs::create_dir_all", "make the directories before training"),
    file("fs::remove_file", "remove files after training"),
    file("fs::rename", "rename files between two steps"),
    file("fs::copy", "copy files between two steps"),
    file("File::open", "open and read the file where the data is loaded, and pass the tensors in"),
    file("File::create", "create the file before training, and write to it after each step"),
    file("File::options", "open the file before training, and use it between two steps"),
    file("OpenOptions::new", "open the file outside of the model, and use it between two steps"),
    net("std::net::*", "talk to the network before the region and pass in what came back"),
    net("TcpStream::connect", "connect before training, and pass in what was received"),
    net("TcpListener::bind", "listen outside of the model, and pass in what was received"),
    net("UdpSocket::bind", "bind the socket outside of the model, and send after the step"),
    process("std::process::*", "start and end processes outside of the model"),
    process("process::exit", "return an error, and exit where the model is trained"),
    process("process::abort", "return an error, or `panic!`, which unwinds out of the step"),
    process("Command::new", "run the command before the model and pass in what it printed"),
    stream("io::stdin", "read standard input before the model runs and pass in what was read"),
    stream("io::stdout", "print after the step, or in `first_pass! { .. }`"),
    stream("io::stderr", "report after the step, or in `first_pass! { .. }`"),
    stream("stdin", "read the input before the model runs and pass in what it says"),
    stream("stdout", "write to standard output after the step, or in `first_pass! { .. }`"),
    stream("stderr", "write to standard error after the step, or in `first_pass! { .. }`"),
];

const fn file(form: &'static str, help: &'static str) -> Named {
    Named { form, scope: Recompute, says: "`{it}` touches the file system each time the region runs", help }
}

const fn net(form: &'static str, help: &'static str) -> Named {
    Named { form, scope: Recompute, says: "`{it}` talks to the network each time the region runs", help }
}

const fn process(form: &'static str, help: &'static str) -> Named {
    Named { form, scope: Recompute, says: "`{it}` acts on processes each time the region runs", help }
}

const fn stream(form: &'static str, help: &'static str) -> Named {
    Named { form, scope: Recompute, says: "`{it}` opens a stream that the recompute would use once more", help }
}

const METHODS: &[Method] = &[
    row("write_all", Exactly(1), "write all of it after the step"),
    row("flush", Exactly(0), "flush where the step ends"),
    row("read_line", Exactly(1), "read the line before the region and pass it in"),
    row("read_to_string", Exactly(1), "read the text before the region and pass it in"),
    row("read_to_end", Exactly(1), "read the bytes before the region and pass them in"),
    row("read_exact", Exactly(1), "fill the buffer before the region and pass it in"),
    row("write_fmt", Exactly(1), "format into a local `String` and write it after the step"),
    row("sync_all", Exactly(0), "sync the file where training ends"),
];

const fn row(name: &'static str, args: Args, help: &'static str) -> Method {
    Method {
        name,
        args,
        on: Shared,
        scope: Recompute,
        says: "`{it}` moves bytes through `{on}` each time the region runs",
        help,
    }
}

/// The rule.
pub struct Io;

impl Rule for Io {
    fn code(&self) -> Code {
        codes::IO
    }

    #[cfg(test)]
    fn rows(&self) -> Vec<super::tables::Row> {
        use super::tables;
        [tables::named(MACROS), tables::named(LOGGING), tables::named(PATHS), tables::methods(METHODS)].concat()
    }

    fn allowed_by(&self) -> Option<&'static str> {
        Some("io")
    }

    fn once_in_first_pass(&self) -> bool {
        true
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        found.paths(PATHS, e, at);
        found.methods(METHODS, e, at);
    }

    fn invocation(&self, m: &Macro, at: &At<'_>, found: &mut Found<'_>) {
        found.macros(MACROS, m, at);
        if LOGGING.iter().any(|row| meets(&m.path, row.form)) && logs(m) {
            found.macros(LOGGING, m, at);
        }
        if (invokes(m, "write") || invokes(m, "writeln")) && Recompute.holds(at) {
            destination(m, at, found);
        }
    }
}

/// Whether the arguments are a message, perhaps behind `target: ..` and fields.
fn logs(m: &Macro) -> bool {
    match arguments::read(m) {
        Arguments::List(list) => {
            list.iter().any(|a| matches!(&a.value, Expr::Lit(l) if matches!(l.lit, syn::Lit::Str(_))))
        }
        Arguments::Opaque(tokens) => tokens.to_string().contains('"'),
        _ => false,
    }
}

/// `write!` is formatting when it goes into a local string, and output everywhere else.
fn destination(m: &Macro, at: &At<'_>, found: &mut Found<'_>) {
    let Arguments::List(list) = arguments::read(m) else { return };
    let Some(first) = list.first() else { return };
    let target = places::bare(&first.value);
    let local = places::root(target).is_some() && at.values.field(target).is_none() && !places::is_self(target);
    let formats = match at.values.of_expr(target) {
        Sort::Text => true,
        Sort::Unknown | Sort::Other => local && !at.comes_in(target),
        _ => false,
    };
    if !(local && formats) {
        let (name, target) = (at.show(&m.path), at.show(target));
        found.push(
            &m.path,
            format!("`{name}!` writes to `{target}` each time the region runs"),
            "format into a `String` of the region's own, or write in `first_pass! { .. }`",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{
        every_macro_once, every_method_once, every_path_once, found, found_in, silent, silent_outside,
    };
    use syn::parse_quote;

    #[test]
    fn every_row_is_met() {
        every_macro_once(MACROS, codes::IO);
        every_macro_once(LOGGING, codes::IO);
        every_path_once(PATHS, codes::IO);
        every_method_once(METHODS, codes::IO, |_| "self.field");
    }

    #[test]
    fn it_is_found_wherever_it_hides() {
        found(
            codes::IO,
            parse_quote!({
                std::println!("{x:?}");
            }),
        );
        found(
            codes::IO,
            parse_quote!({
                let y = dbg!(x);
            }),
        );
        found(
            codes::IO,
            parse_quote!({
                write!(self.out, "a").unwrap();
            }),
        );
        found(
            codes::IO,
            parse_quote!({
                writeln!(std::io::sink(), "a").unwrap();
            }),
        );
        found(
            codes::IO,
            parse_quote!({
                tracing::info!(loss = 1, "step");
            }),
        );
        found(
            codes::IO,
            parse_quote!({
                let v = vec![read(std::fs::read("a"))];
            }),
        );
        found_in(
            "chains",
            codes::IO,
            parse_quote!({
                xs.iter()
                    .map(|x| {
                        println!("{x}");
                        x
                    })
                    .count();
            }),
        );
        found_in(
            "arms",
            codes::IO,
            parse_quote!({
                match n {
                    0 => println!("zero"),
                    _ => {}
                }
            }),
        );
        found_in(
            "closures",
            codes::IO,
            parse_quote!({
                let f = || eprintln!("late");
            }),
        );
        found_in(
            "arguments",
            codes::IO,
            parse_quote!({
                assert!({
                    println!("here");
                    true
                });
            }),
        );
    }

    #[test]
    fn look_alikes_are_silent() {
        silent(parse_quote!({
            let mut s = String::new();
            write!(s, "{}", 1).unwrap();
            writeln!(&mut s, "b").unwrap();
        }));
        silent(parse_quote!({
            let log = self.log.forward(x);
            let store = log;
        }));
        silent(parse_quote!({
            let text = format!("{x:?}");
            panic!("{text}");
        }));
        silent(parse_quote!({
            let y = storage::read("weights");
            let d = fs::Dim::new(3);
        }));
        silent(parse_quote!({
            info!(x);
        }));
        silent(parse_quote!({
            first_pass! { println!("once"); }
        }));
        silent(parse_quote!({
            #[checkpoint(allow(io))]
            let h = {
                println!("twice");
                x
            };
        }));
        silent(parse_quote!({
            #[checkpoint(keep)]
            {
                println!("once");
            }
        }));
        silent_outside(parse_quote!({
            println!("once");
        }));
    }
}
