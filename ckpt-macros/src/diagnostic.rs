//! What a macro says when it refuses: coded findings, all of a declaration's reported together.
//!
//! Rules never return early. They [`push`](Findings::push) into a [`Findings`], which must be
//! [read](Findings::into_tokens): one that is dropped unread while it holds something panics, so
//! that no finding can be forgotten.

use std::fmt;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// The stable number of a rule, printed as `CKPTnnn` and explained in `docs/errors/CKPTnnn.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CKPT{:03}", self.0)
    }
}

/// Every code that the macros can print today. The catalogue of misuse inside a region (001 to
/// 011) shares this table with the declarations' codes (020 and up).
pub mod codes {
    use super::Code;

    /// A tensor that is changed in place.
    pub const IN_PLACE: Code = Code(1);
    /// Module state that a forward would change.
    pub const MODULE_STATE: Code = Code(2);
    /// Something changed behind a shared reference.
    pub const INTERIOR_MUTABILITY: Code = Code(3);
    /// Input, output or logging.
    pub const IO: Code = Code(4);
    /// `unsafe`, or a global that is written.
    pub const UNSAFE_CODE: Code = Code(5);
    /// A value that comes out otherwise the second time.
    pub const NOT_REPLAYABLE: Code = Code(6);
    /// The tape taken off, replaced or run, or values read out of it.
    pub const TAPE: Code = Code(7);
    /// Another device or dtype.
    pub const CONVERSION: Code = Code(8);
    /// A region's edge or body that the analysis cannot carry: a `return`, an outer `break`.
    pub const LEAVES_REGION: Code = Code(9);
    /// Threads, channels, tasks.
    pub const THREADS: Code = Code(10);
    /// What a region cannot take in.
    pub const CAPTURES: Code = Code(11);
    /// `segments` is zero, not a literal, or more than there are layers.
    pub const SEGMENTS: Code = Code(20);
    /// An option that does not exist, or does not exist here.
    pub const UNKNOWN_OPTION: Code = Code(21);
    /// The same option written twice.
    pub const OPTION_TWICE: Code = Code(22);
    /// Two options that exclude each other.
    pub const OPTIONS_CLASH: Code = Code(23);
    /// A checkpointed item in which nothing is marked.
    pub const NOTHING_MARKED: Code = Code(24);
    /// The whole model is one region, which saves nothing.
    pub const WHOLE_MODEL: Code = Code(25);
    /// A mark in a place that has no module to run.
    pub const MISPLACED_MARK: Code = Code(26);
    /// No generic dtype or device, so the type cannot be a `TensorCollection`.
    pub const FIXED_DTYPE_OR_DEVICE: Code = Code(27);
    /// A signature that the macro cannot give a tape to.
    pub const SIGNATURE: Code = Code(28);
    /// Tokens that are not this language at all.
    pub const SYNTAX: Code = Code(29);
    /// A fault of the macro itself.
    pub const INTERNAL: Code = Code(99);
}

/// One thing that is wrong, where, and what to write instead.
#[derive(Debug)]
struct Finding {
    code: Code,
    start: Span,
    end: Span,
    message: String,
    help: String,
}

/// Collects findings until they are read.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    read: bool,
}

impl Findings {
    /// An empty collector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that `at` is wrong: `message` says what is wrong here, `help` what to write instead.
    pub fn push(&mut self, code: Code, at: impl quote::ToTokens, message: impl Into<String>, help: impl Into<String>) {
        let mut spans = at.into_token_stream().into_iter().map(|t| t.span());
        let start = spans.next().unwrap_or_else(Span::call_site);
        let end = spans.last().unwrap_or(start);
        self.list.push(Finding { code, start, end, message: message.into(), help: help.into() });
    }

    /// As [`push`](Self::push), at one span.
    pub fn push_span(&mut self, code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.list.push(Finding { code, start: span, end: span, message: message.into(), help: help.into() });
    }

    /// Records a parse error of `syn` as a finding with the code for foreign syntax.
    pub fn push_syn(&mut self, error: &syn::Error) {
        for e in error.clone() {
            self.push_span(
                codes::SYNTAX,
                e.span(),
                e.to_string(),
                "see the macro's documentation for what may stand here",
            );
        }
    }

    /// Records that an item is not Rust that can be read; the compiler mostly says so, too.
    pub fn push_unread(&mut self, error: &syn::Error) {
        for e in error.clone() {
            self.push_span(
                codes::SYNTAX,
                e.span(),
                e.to_string(),
                "the macro reads no further here: what the compiler says of this place comes first",
            );
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The codes found so far, in order.
    #[cfg(test)]
    pub fn codes(&mut self) -> Vec<Code> {
        self.read = true;
        self.list.iter().map(|f| f.code).collect()
    }

    /// All findings as `compile_error!`s, each at its own tokens. Empty when nothing was found.
    pub fn into_tokens(mut self) -> TokenStream {
        self.read = true;
        let mut out = TokenStream::new();
        for f in std::mem::take(&mut self.list) {
            let text = format!("{}: {}\nhelp: {}", f.code, f.message, f.help);
            // As syn does: the path carries the first token's span, the body the last's, so that
            // the compiler underlines the whole range without the unstable `Span::join`.
            let path = quote_spanned!(f.start=> ::core::compile_error!);
            let body = quote_spanned!(f.end=> { #text });
            out.extend(path);
            out.extend(body);
        }
        out
    }
}

impl Drop for Findings {
    fn drop(&mut self) {
        if !self.read && !self.list.is_empty() && !std::thread::panicking() {
            panic!("findings dropped unread: {:?}", self.list);
        }
    }
}

/// The nearest of `known` to `word`, for "did you mean".
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|k| (distance(word, k), *k))
        .filter(|(d, k)| *d <= 1 + k.len() / 3)
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_its_neighbour() {
        let known = ["segments", "each", "keep", "plain"];
        assert_eq!(nearest("segment", &known), Some("segments"));
        assert_eq!(nearest("paln", &known), Some("plain"));
        assert_eq!(nearest("whatever", &known), None);
    }

    #[test]
    #[should_panic(expected = "findings dropped unread")]
    fn a_forgotten_finding_panics() {
        let mut f = Findings::new();
        f.push_span(codes::SYNTAX, Span::call_site(), "wrong", "right");
    }

    /// Every constant of `codes`, by its number.
    fn table() -> Vec<String> {
        let source = include_str!("diagnostic.rs");
        let numbers = source.lines().filter_map(|l| l.trim().strip_prefix("pub const ")?.split_once(": Code = Code("));
        numbers.map(|(_, n)| format!("CKPT{:03}", n.trim_end_matches(");").parse::<u16>().unwrap())).collect()
    }

    /// The helps that are written out where a finding is made; those of tables are held apart by the
    /// tables' own test.
    #[test]
    fn no_help_that_is_written_out_is_written_twice() {
        struct Helps(Vec<String>);
        impl<'ast> syn::visit::Visit<'ast> for Helps {
            fn visit_expr_method_call(&mut self, m: &'ast syn::ExprMethodCall) {
                let reports = ["push", "push_span", "once"].iter().any(|name| m.method == name) && m.args.len() > 2;
                if let (true, Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(help), .. }))) =
                    (reports, m.args.last())
                {
                    self.0.push(help.value());
                }
                syn::visit::visit_expr_method_call(self, m);
            }
        }
        fn read(folder: &std::path::Path, helps: &mut Helps) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    read(&path, helps);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    let file = syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap();
                    syn::visit::Visit::visit_file(helps, &file);
                }
            }
        }
        let mut helps = Helps(Vec::new());
        read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut helps);
        let mut helps = helps.0;
        assert!(helps.len() > 50, "{} helps", helps.len());
        helps.sort();
        let twice: Vec<_> = helps.windows(2).filter(|w| w[0] == w[1]).map(|w| &w[0]).collect();
        assert!(twice.is_empty(), "{twice:#?}");
    }

    #[test]
    fn every_code_has_a_page_and_a_line_in_the_index_and_no_page_is_left_over() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors");
        let index = std::fs::read_to_string(docs.join("README.md")).unwrap();
        let codes = table();
        assert!(codes.is_sorted() && codes.len() > 20, "{codes:?}");
        for code in &codes {
            let page = std::fs::read_to_string(docs.join(format!("{code}.md"))).expect(code);
            let title = page.lines().next().unwrap().strip_prefix(&format!("# {code}: ")).expect(code);
            assert!(index.contains(&format!("| [{code}]({code}.md) | {title} |")), "{code} in the index");
            assert!(page.contains("```rust") || code == "CKPT099", "{code} has an example");
        }
        let mut pages: Vec<_> = std::fs::read_dir(&docs)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".md").filter(|n| *n != "README").map(str::to_owned))
            .collect();
        pages.sort();
        assert_eq!(pages, codes);
    }
}
