//! No input makes a macro panic: token soup, and declarations that work, the files of
//! `tests/ui/pass` among them, with a few tokens broken.
//!
//! What comes out is an expansion that can be read as Rust, or coded errors, or both. Cases are
//! few in CI; `CKPT_CASES` asks for more.

use std::{panic::catch_unwind, str::FromStr};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};

use crate::{boundary, call, declare, dispatch, mark, passing, sequence};

/// A macro, and what reads its output.
struct Entry {
    name: &'static str,
    expand: fn(TokenStream, TokenStream) -> TokenStream,
    reads: fn(&TokenStream) -> bool,
}

fn items(tokens: &TokenStream) -> bool {
    syn::parse2::<syn::File>(tokens.clone()).is_ok()
}

fn anything(tokens: &TokenStream) -> bool {
    items(tokens)
        || syn::parse2::<syn::Type>(tokens.clone()).is_ok()
        || syn::parse2::<syn::Expr>(tokens.clone()).is_ok()
}

const ENTRIES: &[Entry] = &[
    Entry { name: "checkpointed", expand: dispatch::checkpointed, reads: items },
    Entry { name: "checkpoint", expand: mark::attribute, reads: items },
    Entry { name: "derive(__CheckpointedStruct)", expand: |_, item| declare::derive(item), reads: items },
    Entry { name: "derive(Boundary)", expand: |_, item| boundary::derive(item), reads: items },
    Entry { name: "checkpoint_sequential!", expand: |_, input| sequence::expand(input), reads: anything },
    Entry { name: "checkpoint!", expand: |_, input| call::expand(input), reads: anything },
];

/// Inputs that work, which the second test breaks: options and item.
const SEEDS: &[(&str, &str)] = &[
    (
        "",
        "#[derive(Clone)] pub struct Mlp<const N: usize, E: Dtype, D: Device<E>> { #[checkpoint] a: (Linear<N, N, E, D>, ReLU), #[checkpoint(segments = 2)] b: Repeated<Linear<N, N, E, D>, 4>, #[checkpoint(keep, name = \"c\")] c: Tanh, #[skip] d: PhantomData<E> }",
    ),
    (
        "forward = custom",
        "pub struct Net<E: Dtype, D: Device<E>> where E: Copy { pub l: Linear<2, 2, E, D>, #[param(init = zeros)] p: Tensor<Rank1<2>, E, D>, #[buffer] q: Tensor<Rank1<2>, E, D>, #[scalar(default = 0.5)] s: f64, #[policy] policy: Policy }",
    ),
    (
        "",
        "impl<const M: usize, E: Dtype, D: Device<E>> Block<M, E, D> { fn forward<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>, m: Option<Tensor<(B, Const<M>), bool, D>>) -> Tensor<(B, Const<M>), E, D> { #[checkpoint] let h = x + self.attn.forward(self.norm.forward(x)); let mut k = h; for (i, b) in self.blocks.iter().enumerate() { if i > 2 { break; } k = b.forward(k); } #[checkpoint(each)] for b in &self.blocks { k = b.forward(k); } #[checkpoint(name = \"last\")] { k = match m { Some(m) => m.choose(k, h), None => self.helper(k)?, }; } let f = |t| self.ff(t); f(k) } fn helper<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>) -> Result<Tensor<(B, Const<M>), E, D>, D::Err> { Ok(x.try_relu()?) } }",
    ),
    (
        "verify(tolerance = 1e-5)",
        "pub fn ffn<'a, B: Dim, E: Dtype, D: Device<E>>(l: &'a Linear<2, 2, E, D>, n: &mut BatchNorm1D<2, E, D>, (x, y): (Tensor<(B, Const<2>), E, D>, usize), f: impl Fn(usize) -> usize) -> Tensor<(B, Const<2>), E, D> { let h = n.forward(l.forward(x)).relu(); if f(y) > 1 { return h; } h + x }",
    ),
    (
        "",
        "#[boundary(dtype = E, device = D)] pub enum State<S: Shape, E: Dtype, D: Device<E>, T> { Empty, One(Tensor<S, E, D, T>), Two { a: Tensor<S, E, D, T>, #[boundary(plain)] b: Config } }",
    ),
    ("", "segments = 2; pub struct Named { first: Linear<2, 2>, act: ReLU, last: Linear<2, 2> }"),
    ("", "segments = 3, Linear<2, 2>, ReLU, (Linear<2, 2>, Tanh), Residual<Linear<2, 2>>"),
    ("", "segments = 2, verify, x, self.a, &mut self.b, self.c.0"),
    ("", "name = \"attn\", keep, &mut self.attn, (x, Some(y))"),
];

/// Words of the language that soup is made of. Without `_`, which syn reads as a field's name, and `+`, with which it
/// reads any type as a trait object: both are the compiler's to refuse.
const WORDS: &[&str] = &[
    "struct",
    "enum",
    "union",
    "impl",
    "fn",
    "pub",
    "for",
    "in",
    "if",
    "else",
    "match",
    "loop",
    "while",
    "break",
    "continue",
    "return",
    "let",
    "mut",
    "ref",
    "self",
    "Self",
    "crate",
    "super",
    "async",
    "await",
    "unsafe",
    "const",
    "static",
    "where",
    "dyn",
    "move",
    "type",
    "use",
    "as",
    "forward",
    "checkpoint",
    "segments",
    "each",
    "keep",
    "plain",
    "verify",
    "tolerance",
    "name",
    "allow",
    "builder",
    "dtype",
    "device",
    "custom",
    "Tensor",
    "Linear",
    "Repeated",
    "E",
    "D",
    "B",
    "Dtype",
    "Device",
    "Dim",
    "Option",
    "Result",
    "x",
    "y",
    "h",
    "r#type",
    "'a",
    "0",
    "1",
    "3.5",
    "\"s\"",
    "b\"s\"",
    "'c'",
    "true",
    "#",
    "!",
    "?",
    "&",
    "*",
    "-",
    "=",
    "==",
    "=>",
    "->",
    "::",
    ":",
    ";",
    ",",
    ".",
    "..",
    "..=",
    "|",
    "<",
    ">",
    "@",
    "$",
    "{}",
    "()",
    "[]",
];

fn cases() -> u32 {
    std::env::var("CKPT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

/// A token of the vocabulary.
fn word(choice: usize) -> TokenStream {
    TokenStream::from_str(WORDS[choice % WORDS.len()]).unwrap_or_default()
}

/// A change of one place in a stream: which token, counted through all groups, and what happens.
#[derive(Clone, Copy, Debug)]
struct Change {
    place: usize,
    how: usize,
    word: usize,
}

fn change() -> impl Strategy<Value = Change> {
    (any::<usize>(), any::<usize>(), any::<usize>()).prop_map(|(place, how, word)| Change { place, how, word })
}

fn count(tokens: &TokenStream) -> usize {
    tokens.clone().into_iter().map(|t| if let TokenTree::Group(g) = t { 1 + count(&g.stream()) } else { 1 }).sum()
}

/// Applies `change` at its place; `at` counts the tokens passed.
fn apply(tokens: TokenStream, change: Change, at: &mut usize) -> TokenStream {
    let mut out = TokenStream::new();
    for token in tokens {
        let here = *at == change.place;
        *at += 1;
        let token = match token {
            TokenTree::Group(g) => {
                let mut group = Group::new(
                    if here && change.how % 6 == 5 { Delimiter::Bracket } else { g.delimiter() },
                    apply(g.stream(), change, at),
                );
                group.set_span(g.span());
                TokenTree::Group(group)
            }
            other => other,
        };
        match (here, change.how % 6) {
            (true, 0) => {}
            (true, 1) => out.extend([token.clone(), token]),
            (true, 2) => out.extend(word(change.word)),
            (true, 3) => {
                out.extend(word(change.word));
                out.extend([token]);
            }
            (true, 4) => {
                if let TokenTree::Group(g) = &token {
                    out.extend(g.stream());
                }
            }
            _ => out.extend([token]),
        }
    }
    out
}

fn mutated(seed: &str, changes: &[Change]) -> TokenStream {
    let mut tokens = TokenStream::from_str(seed).unwrap_or_default();
    for change in changes {
        let place = change.place % count(&tokens).max(1);
        tokens = apply(tokens, Change { place, ..*change }, &mut 0);
    }
    tokens
}

/// Expands by every macro; none may panic, and what is not Rust must be an error that says so.
fn check(options: &TokenStream, item: &TokenStream) -> Result<(), TestCaseError> {
    for entry in ENTRIES {
        let (o, i) = (options.to_string(), item.to_string());
        let expanded = catch_unwind(|| {
            let tokens = |s: &str| TokenStream::from_str(s).unwrap_or_default();
            (entry.expand)(tokens(&o), tokens(&i)).to_string()
        });
        let Ok(expanded) = expanded else {
            return Err(TestCaseError::fail(format!("{} panicked on `{options}` `{item}`", entry.name)));
        };
        let coded = expanded.contains("\"CKPT0");
        let reads = TokenStream::from_str(&expanded).is_ok_and(|t| (entry.reads)(&t));
        prop_assert!(
            coded || reads,
            "{} made no Rust and no error of `{}` `{}`: {}",
            entry.name,
            options,
            item,
            expanded
        );
        prop_assert!(!expanded.contains("CKPT099"), "{}: {}", entry.name, expanded);
    }
    Ok(())
}

fn run<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    // A caught panic is the test's own to report.
    std::panic::set_hook(Box::new(|_| {}));
    // The same cases every time, unless more are asked for: a change that lands is judged by what it changed.
    let mut runner = match std::env::var_os("CKPT_CASES") {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let result = runner.run(&strategy, test);
    drop(std::panic::take_hook());
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

#[test]
fn token_soup_never_panics() {
    let soup = || prop::collection::vec(any::<usize>(), 0..40);
    run((soup(), soup()), |(options, item)| {
        let tokens = |words: Vec<usize>| words.into_iter().map(word).collect::<TokenStream>();
        check(&tokens(options.into_iter().take(6).collect()), &tokens(item))
    });
}

#[test]
fn broken_declarations_never_panic() {
    run(
        (0..SEEDS.len(), prop::collection::vec(change(), 0..4), prop::collection::vec(change(), 0..2)),
        |(seed, item, options)| check(&mutated(SEEDS[seed].0, &options), &mutated(SEEDS[seed].1, &item)),
    );
}

/// The files that pass, each use of a macro broken in a few places and given to that macro.
#[test]
fn broken_passing_files_never_panic() {
    let uses = passing::uses();
    let (count, options) = (uses.len(), prop::collection::vec(change(), 0..2));
    run((0..count, prop::collection::vec(change(), 1..4), options), |(at, item, options)| {
        let u = &uses[at];
        let (item, options) = (mutated(&u.item, &item).to_string(), mutated(&u.options, &options).to_string());
        let expanded = catch_unwind(|| {
            let tokens = |s: &str| TokenStream::from_str(s).unwrap_or_default();
            passing::expand(tokens(&options), tokens(&item), u.name).to_string()
        });
        let Ok(expanded) = expanded else {
            return Err(TestCaseError::fail(format!("`{}` of {} panicked on `{options}` `{item}`", u.name, u.file)));
        };
        let reads = TokenStream::from_str(&expanded).is_ok_and(|t| anything(&t));
        prop_assert!(
            reads || expanded.contains("\"CKPT0"),
            "`{}` of {} made no Rust and no error of `{}` `{}`: {}",
            u.name,
            u.file,
            options,
            item,
            expanded
        );
        prop_assert!(!expanded.contains("CKPT099"), "{}: {}", u.file, expanded);
        Ok(())
    });
}

#[test]
fn the_seeds_work() {
    for (i, (options, item)) in SEEDS.iter().enumerate() {
        let tokens = |s: &str| TokenStream::from_str(s).expect("a seed is tokens");
        let takes = |entry: &&Entry| {
            let out = (entry.expand)(tokens(options), tokens(item)).to_string();
            !out.contains("\"CKPT0") && (entry.reads)(&tokens(&out))
        };
        assert!(ENTRIES.iter().any(|entry| takes(&entry)), "no macro takes seed {i}");
    }
}
