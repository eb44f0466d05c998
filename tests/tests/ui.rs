//! What the macros refuse, and how they say it: each file under `ui/` does not compile, and what
//! the compiler says is beside it. `TRYBUILD=overwrite cargo test -p tests --test ui` writes it anew.
//!
//! A folder is a family of mistakes, a file one mistake in all its forms. What is near to a mistake
//! but right is in `ui/pass`, which `ui_pass` compiles and runs.

use std::{collections::BTreeSet, fs, path::Path};

/// The families. A folder that is not named here is not tested, which
/// [`every_folder_is_a_family`] would say.
const FAMILIES: &[&str] = &[
    "captures",
    "conversion",
    "declaration",
    "in_place",
    "interior_mutability",
    "io",
    "leaving",
    "not_replayable",
    "options",
    "region",
    "sequence",
    "several",
    "signature",
    "state",
    "syntax",
    "tape",
    "threads",
    "types",
    "unsafe_code",
];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn refused() {
    let cases = trybuild::TestCases::new();
    for family in FAMILIES {
        cases.compile_fail(format!("ui/{family}/*.rs"));
    }
}

#[test]
fn every_folder_is_a_family() {
    let folders: BTreeSet<_> = fs::read_dir(here().join("ui"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "pass")
        .collect();
    assert_eq!(folders, FAMILIES.iter().map(|f| (*f).to_owned()).collect());
}

/// Every code that the macros can print is printed by some case.
#[test]
fn every_code_has_a_case() {
    let table = fs::read_to_string(here().join("../ckpt-macros/src/diagnostic.rs")).unwrap();
    let codes: BTreeSet<u16> =
        table.lines().filter_map(|l| l.split_once(": Code = Code(")?.1.strip_suffix(");")?.parse().ok()).collect();
    assert!(codes.len() > 10, "the table of codes is not where it was: {codes:?}");
    let mut said = String::new();
    for family in FAMILIES {
        for entry in fs::read_dir(here().join("ui").join(family)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "stderr") {
                said += &fs::read_to_string(path).unwrap();
            }
        }
    }
    // 99 is a fault of the macro itself, which no input is known to cause.
    let silent: Vec<_> = codes.iter().filter(|c| **c != 99 && !said.contains(&format!("CKPT{c:03}"))).collect();
    assert!(silent.is_empty(), "no case says {silent:?}");
}

/// A layer that is wrong is told as such, and never as a model that has lost its methods.
#[test]
fn no_mistake_hides_the_forward() {
    for family in FAMILIES {
        for entry in fs::read_dir(here().join("ui").join(family)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "stderr") {
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains("E0599"), "{} blames a method", path.display());
            }
        }
    }
}
