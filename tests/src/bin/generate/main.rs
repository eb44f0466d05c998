//! Writes `tests/declared/generated.rs`: random declarations, each beside the same forward written
//! on dfdx's plain tape.
//!
//! `cargo run -p tests --bin generate > tests/tests/declared/generated.rs`. A test of `declared`
//! holds the file to what this writes.

#![forbid(unsafe_code)]

mod fields;
mod flow;
mod layer;
mod random;
mod sequences;

use std::fmt::Write;

use layer::Declared;
use random::Random;

const HEAD: &str = "\
//! Written by `cargo run -p tests --bin generate`: change that, not this.

use dfdx::nn::modules::{BatchNorm1D, LayerNorm1D, Linear};

use super::prelude::*;
";

fn main() {
    let mut random = Random::new(0x5eed);
    let mut out = HEAD.to_owned();
    let mut all: Vec<Declared> = Vec::new();
    for n in 0..210 {
        let name = format!("Case{n}");
        let declared = match n % 7 {
            0 | 2 | 5 => fields::write(&mut random, &name, &all, &mut out),
            6 => sequences::write(&mut random, &name, &mut out),
            _ => flow::write(&mut random, &name, &all, &mut out),
        };
        all.push(declared);
    }
    out.push_str("\npub const CASES: &[Case] = &[\n");
    for Declared { name, builder, stateless, .. } in &all {
        let function = random::snake(name);
        writeln!(
            out,
            "    Case {{ name: \"{name}\", stateless: {stateless}, build: |dev| of::<{builder}>(dev, {function}) }},"
        )
        .unwrap();
    }
    out.push_str("];\n");
    print!("{out}");
}
