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
    print("print"),
    print("println"),
    print("eprint"),
    print("eprintln"),
    Named {
        form: "dbg",
        scope: Recompute,
        says: "`{it}!` prints in the first pass and again in the recompute",
        help: "take it out, or write `first_pass! { eprintln!(\"{y:?}\") }` before the value is used",
    },
    log("log::*"),
    log("tracing::*"),
];

/// Logging macros brought in by `use`: only with the message that they all have.
const LOGGING: &[Named] = &[log("error"), log("warn"), log("info"), log("debug"), log("trace")];

const fn print(form: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}!` prints each time the region runs, so twice a step",
        help: "write `first_pass! { .. }` around it, or print outside of the region; `#[checkpoint(allow(io))]` lets it through",
    }
}

const fn log(form: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}!` logs each time the region runs, so the recompute logs it again",
        help: "write `first_pass! { .. }` around it, or log outside of the region; `#[checkpoint(allow(io))]` lets it through",
    }
}

const PATHS: &[Named] = &[
    file("std::fs::*"),
    file("fs::read"),
    file("fs::read_to_string"),
    file("fs::write"),
    file("fs::create_dir"),
    file("fs::create_dir_all"),
    file("fs::remove_file"),
    file("fs::rename"),
    file("fs::copy"),
    file("File::open"),
    file("File::create"),
    file("File::options"),
    file("OpenOptions::new"),
    net("std::net::*"),
    net("TcpStream::connect"),
    net("TcpListener::bind"),
    net("UdpSocket::bind"),
    process("std::process::*"),
    process("process::exit"),
    process("process::abort"),
    process("Command::new"),
    stream("io::stdin"),
    stream("io::stdout"),
    stream("io::stderr"),
    stream("stdin"),
    stream("stdout"),
    stream("stderr"),
];

const fn file(form: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}` touches the file system each time the region runs",
        help: "read files before the model runs and pass their contents in; write them after the step",
    }
}

const fn net(form: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}` talks to the network each time the region runs",
        help: "do it before the region and pass in what came back",
    }
}

const fn process(form: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}` acts on processes each time the region runs",
        help: "start and end processes outside of the model",
    }
}

const fn stream(form: &'static str) -> Named {
    Named {
        form,
        scope: Recompute,
        says: "`{it}` opens a stream that the recompute would use once more",
        help: "use it outside of the region, or in `first_pass! { .. }`",
    }
}

const METHODS: &[Method] = &[
    row("write_all", Exactly(1), "write after the step"),
    row("flush", Exactly(0), "flush after the step"),
    row("read_line", Exactly(1), "read the line before the region and pass it in"),
    row("read_to_string", Exactly(1), "read the text before the region and pass it in"),
    row("read_to_end", Exactly(1), "read the bytes before the region and pass them in"),
    row("read_exact", Exactly(1), "fill the buffer before the region and pass it in"),
    row("write_fmt", Exactly(1), "format into a local `String` and write it after the step"),
    row("sync_all", Exactly(0), "sync after the step"),
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
