//! The rules' tables, held to what is promised of them: each row says by itself what to write in its
//! form's place, and a case that does not compile shows it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::{
    RULES,
    forms::{Method, Named},
    interior_mutability, leaving,
};
use crate::diagnostic::{Code, codes};

/// What the tests want of a row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The method's name, the path or the macro.
    pub form: &'static str,
    /// What to write instead.
    pub help: &'static str,
}

/// The rows of a table of methods.
pub fn methods(table: &[Method]) -> Vec<Row> {
    table.iter().map(|m| Row { form: m.name, help: m.help }).collect()
}

/// The rows of a table of paths or macros.
pub fn named(table: &[Named]) -> Vec<Row> {
    table.iter().map(|n| Row { form: n.form, help: n.help }).collect()
}

fn rows() -> Vec<(Code, Row)> {
    let of_rules = RULES.iter().flat_map(|rule| rule.rows().into_iter().map(|row| (rule.code(), row)));
    of_rules.chain(leaving::rows().into_iter().map(|row| (codes::LEAVES_REGION, row))).collect()
}

/// What the compiler says of each case: the file's name, and its text.
pub fn cases() -> Vec<(String, String)> {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui");
    let folders = fs::read_dir(ui).unwrap().map(|f| f.unwrap().path()).filter(|f| f.is_dir());
    let files = folders.flat_map(|f| fs::read_dir(f).unwrap()).map(|f| f.unwrap().path());
    let said = files.filter(|f| f.extension().is_some_and(|e| e == "stderr"));
    said.map(|f| (f.display().to_string(), fs::read_to_string(&f).unwrap())).collect()
}

#[test]
fn no_help_serves_two_mistakes() {
    let rows = rows();
    assert!(rows.len() > 200, "{} rows: the tables are not where they were", rows.len());
    let mut seen = BTreeMap::new();
    for (code, row) in rows {
        if let Some((other, form)) = seen.insert(row.help, (code, row.form)) {
            panic!("{other} `{form}` and {code} `{}` say the same: {}", row.form, row.help);
        }
    }
}

#[test]
fn every_row_has_a_case() {
    let said: String = cases().into_iter().map(|(_, text)| text).collect();
    let silent: Vec<_> = rows()
        .into_iter()
        .filter(|(_, row)| !said.lines().any(|l| l.trim().strip_prefix("help: ") == Some(row.help)))
        .map(|(code, row)| format!("{code} {}", row.form))
        .collect();
    assert!(silent.is_empty(), "no case under tests/ui is about {silent:#?}");
}

#[test]
fn every_type_that_writes_has_a_case() {
    let said: String = cases().into_iter().map(|(_, text)| text).collect();
    for name in interior_mutability::TYPES {
        assert!(said.contains(&format!("through `{name}` the forward can change")), "no case is about {name}");
    }
}

#[test]
fn every_family_has_three_cases() {
    let mut files = BTreeMap::<u16, BTreeSet<String>>::new();
    for (name, text) in cases() {
        for n in (1..=11).filter(|n| text.contains(&format!("error: CKPT{n:03}: "))) {
            files.entry(n).or_default().insert(name.clone());
        }
    }
    for n in 1..=11 {
        let cases = files.get(&n).map_or(0, BTreeSet::len);
        assert!(cases >= 3, "CKPT{n:03} has {cases} cases");
    }
    // A declaration's mistakes are small, and several are in one file.
    for n in 20..=29 {
        let count: usize = cases().iter().map(|(_, text)| text.matches(&format!("error: CKPT{n:03}: ")).count()).sum();
        assert!(count >= 3, "CKPT{n:03} is said {count} times");
    }
}
