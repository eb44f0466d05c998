//! Random declarations against the same forwards on dfdx's plain tape: outputs, losses, every
//! gradient, running statistics and the position of the random stream, to the bit, in every mode.
//!
//! The declarations are written by `cargo run -p tests --bin generate`, and compiled once.

#![allow(missing_docs, missing_debug_implementations)]

#[allow(dead_code, unused_variables, clippy::all, clippy::pedantic)]
#[rustfmt::skip]
mod generated;
mod prelude;
mod run;

use std::process::Command;

use ckpt_runtime::prelude::*;

#[test]
fn every_declaration_trains_as_its_plain_form() {
    let policies = [
        ("no policy", None),
        ("plain", Some(Policy::plain())),
        ("keep", Some(Policy::keep())),
        ("checkpoint", Some(Policy::checkpoint())),
        ("verify", Some(Policy::checkpoint().verify(0.0))),
        ("one segment", Some(Policy::segments(1))),
        ("two segments", Some(Policy::segments(2))),
        ("each", Some(Policy::each())),
    ];
    assert!(generated::CASES.len() >= 200);
    let mut wrong = Vec::new();
    for case in generated::CASES {
        let expected = run::training(case, None, run::Forward::Plain);
        for (name, policy) in &policies {
            let run = run::training(case, policy.clone(), run::Forward::Declared);
            if let Some(difference) = run.difference(&expected) {
                wrong.push(format!("{}, {name}: {difference}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn inference_gives_what_training_gives_where_no_layer_has_a_state() {
    for case in generated::CASES.iter().filter(|c| c.stateless) {
        run::inference(case);
    }
}

#[test]
fn the_declarations_are_those_that_the_generator_writes() {
    let written = Command::new(env!("CARGO_BIN_EXE_generate")).output().unwrap();
    assert!(written.status.success());
    assert!(
        String::from_utf8(written.stdout).unwrap() == include_str!("generated.rs"),
        "run `cargo run -p tests --bin generate > tests/tests/declared/generated.rs`"
    );
}
