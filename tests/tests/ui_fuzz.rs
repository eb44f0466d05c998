//! The files of `ui/pass`, each broken in one place and given to the compiler: what the macros accept
//! type-checks, or the compiler finds the mistake in what the user wrote.
//!
//! Told by words: the compiler and the macros end; a file that does not compile has an error with a
//! code, or one that stands in the file's own tokens and not on an attribute of ckpt's. (Beside that
//! one there may be others on the attribute: an impl that is written anew repeats what is wrong with
//! the user's bounds.)
//!
//! One rustc a file, which a syntax error then has for itself; the crates are those that this test was
//! built with. One change a file in CI; `CKPT_CASES` asks for more.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// What takes a token's place, besides the file's other tokens.
const WORDS: &[&str] = &[
    "x", "y", "h", "0", "4", "self", "E", "D", "B", "&", "?", ".", ",", ";", "return", "break", "forward", "keep",
    "each", "usize", "Option", "mut", "clone", "relu", "a", "b",
];

/// Where ckpt's own tokens stand.
const MACROS: &[&str] = &["#[checkpoint", "#[region", "#[derive", "checkpoint_sequential!", "chain!"];

/// Steele's split mix.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % n as u64).unwrap()
    }
}

/// The tokens of a file that may be changed: words and signs between the first attribute and `main`.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let from = text.find("#[").unwrap();
    let to = text.find("pub fn main").unwrap();
    let bytes = text.as_bytes();
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut found = Vec::new();
    let mut at = from;
    while at < to {
        let start = at;
        if text[at..].starts_with("//") {
            at += text[at..].find('\n').unwrap();
        } else if bytes[at] == b'"' {
            at += 1;
            while bytes[at] != b'"' {
                at += 1 + usize::from(bytes[at] == b'\\');
            }
            at += 1;
        } else if word(bytes[at]) {
            while word(bytes[at]) {
                at += 1;
            }
            found.push((start, at));
        } else {
            at += text[at..].chars().next().unwrap().len_utf8();
            if b"&*+-=.,;:<>?!|".contains(&bytes[start]) {
                found.push((start, at));
            }
        }
    }
    found
}

/// `text` with one token gone, doubled, or replaced.
fn broken(text: &str, random: &mut Random) -> String {
    let tokens = tokens(text);
    let (start, end) = tokens[random.below(tokens.len())];
    let old = &text[start..end];
    let new = match random.below(6) {
        0 => String::new(),
        1 => format!("{old} {old}"),
        2 | 3 => WORDS[random.below(WORDS.len())].to_owned(),
        _ => {
            let (start, end) = tokens[random.below(tokens.len())];
            text[start..end].to_owned()
        }
    };
    // Comments of the file itself may stand nowhere else.
    let head = text.find("use ").unwrap().min(start);
    format!("#![allow(warnings)]\n{}{new}{}", &text[head..start], &text[end..])
}

/// The crates that a file needs, where this test's own build has them.
fn crates() -> Vec<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--no-run", "--offline", "-p", "tests", "--test", "ui_fuzz", "--message-format=json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let artifact = |name: &str| {
        let line = text
            .lines()
            .find(|l| {
                l.contains("compiler-artifact") && l.contains(&format!("\"name\":\"{name}\"")) && l.contains(".rlib")
            })
            .unwrap_or_else(|| panic!("no {name} in {text}{}", String::from_utf8_lossy(&output.stderr)));
        let end = line.find(".rlib").unwrap() + ".rlib".len();
        let start = line[..end].rfind('"').unwrap() + 1;
        line[start..end].to_owned()
    };
    let externs = ["ckpt_runtime", "dfdx"].map(|name| (name, artifact(name)));
    let deps = Path::new(&externs[0].1).parent().unwrap();
    // A workspace's own crates lie above what they depend on, and are linked there.
    let deps = if deps.ends_with("deps") { deps.to_owned() } else { deps.join("deps") };
    let mut arguments = vec!["-L".to_owned(), format!("dependency={}", deps.display())];
    for (name, path) in externs {
        arguments.extend(["--extern".to_owned(), format!("{name}={path}")]);
    }
    arguments
}

/// Compiles a file: whether it worked, and what the compiler says.
fn compiled(file: &Path, crates: &[String]) -> (bool, String) {
    let output = Command::new("rustc")
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--error-format", "short"])
        .arg("-o")
        .arg(file.with_extension("rmeta"))
        .args(crates)
        .arg(file)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What is wrong with what the compiler says of `file`, if anything is.
fn judge(file: &Path, text: &str, crates: &[String]) -> Option<String> {
    let (works, said) = compiled(file, crates);
    if said.contains("panicked") || said.contains("CKPT099") {
        return Some(said);
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut errors = 0;
    for error in said.lines().filter(|l| l.contains(": error")) {
        // `path:line:column: error[E0277]: ..`
        let (place, message) = error.split_once(": error").unwrap();
        let mut place = place.rsplit(':');
        let (column, line) = (place.next(), place.next());
        let (Some(Ok(column)), Some(Ok(line))) = (column.map(str::parse::<usize>), line.map(str::parse::<usize>))
        else {
            continue;
        };
        errors += 1;
        let own = lines.get(line - 1).and_then(|l| l.get(column - 1..)).unwrap_or_default();
        if message.contains("CKPT0") || !MACROS.iter().any(|m| own.starts_with(m)) {
            return None;
        }
    }
    (errors > 0 || !works).then_some(said)
}

#[test]
fn what_is_accepted_type_checks_or_is_wrong_in_the_users_tokens() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ui_fuzz");
    fs::create_dir_all(&folder).unwrap();
    let per_file = env::var("CKPT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut random = Random(7);
    let mut sources: Vec<_> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/pass"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    sources.sort();
    let mut cases = Vec::new();
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        let name = source.file_stem().unwrap().to_str().unwrap();
        for n in 0..per_file {
            cases.push((folder.join(format!("{name}_{n}.rs")), broken(&text, &mut random)));
        }
    }
    let crates = crates();
    // As it is, a file compiles: what is said of the broken ones is said of the change.
    let whole = folder.join("whole.rs");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/pass/several_impls.rs")).unwrap();
    fs::write(&whole, text).unwrap();
    let (works, said) = compiled(&whole, &crates);
    assert!(works, "{said}");
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((file, text)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    fs::write(file, text).unwrap();
                    if let Some(said) = judge(file, text, &crates) {
                        wrong.lock().unwrap().push(format!("{}:\n{said}", file.display()));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
