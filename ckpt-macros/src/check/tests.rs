//! What the rules' own tests share: a body with parameters of every sort, and one call for each
//! row of a table.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Block, Expr, Path, parse_quote};

use super::forms::{Args, Method, Named};
use crate::{
    diagnostic::{Code, Findings},
    flow::{Body, Context, Parameters, Returns},
    roles::Roles,
};

/// A context without helpers.
pub fn context() -> Context {
    Context {
        roles: Roles { dtype: parse_quote!(E), device: parse_quote!(D) },
        rt: quote!(rt),
        owner: "Net".to_owned(),
        twins: Vec::new(),
        plain_methods: Vec::new(),
        allow: Vec::new(),
        replayed: false,
    }
}

/// The codes found in `block` as it stands. Of its parameters `x` is a tensor, `mask` and `ids`
/// have no tape, `cell` is a cell, `n` a number, and of the others nothing is known.
pub fn codes_in(block: &Block, cx: &Context) -> Vec<Code> {
    let mut findings = Findings::new();
    let parameters = Parameters {
        modules: Vec::new(),
        values: vec![
            (parse_quote!(x), parse_quote!(Tensor<S, E, D>)),
            (parse_quote!(mask), parse_quote!(Tensor<S, bool, D>)),
            (parse_quote!(ids), parse_quote!(Tensor<S, usize, D>)),
            (parse_quote!(cell), parse_quote!(Rc<Cell<u8>>)),
            (parse_quote!(n), parse_quote!(usize)),
            (parse_quote!(y), parse_quote!(_)),
            (parse_quote!(z), parse_quote!(_)),
            (parse_quote!(v), parse_quote!(_)),
            (parse_quote!(xs), parse_quote!(_)),
            (parse_quote!(sender), parse_quote!(_)),
            (parse_quote!(sampler), parse_quote!(_)),
        ],
    };
    Body::read(block, &parameters, Returns::Unit, cx, &mut findings);
    findings.codes()
}

fn check(code: Option<Code>, block: &Block) {
    let expected: Vec<_> = code.into_iter().collect();
    assert_eq!(codes_in(block, &context()), expected, "in {}", block.to_token_stream());
}

/// A region of what has no mark of its own.
fn region(block: Block) -> Block {
    let marked = block.to_token_stream().to_string().contains("checkpoint");
    if marked { block } else { parse_quote!({ #[checkpoint] #block }) }
}

/// Exactly this code is found in `block` as a region.
pub fn found(code: Code, block: Block) {
    check(Some(code), &region(block));
}

/// As [`found`], in a place that the label names.
pub fn found_in(_: &str, code: Code, block: Block) {
    found(code, block);
}

/// Exactly this code is found in `block`, which is no region.
pub fn found_outside(code: Code, block: Block) {
    check(Some(code), &block);
}

/// Exactly this code is found in `block`, with the marks that it has.
pub fn found_raw(code: Code, block: Block) {
    check(Some(code), &block);
}

/// Nothing is found in `block` as a region, or with its own marks.
pub fn silent(block: Block) {
    check(None, &region(block));
}

/// Nothing is found in `block`, which is no region.
pub fn silent_outside(block: Block) {
    check(None, &block);
}

/// Nothing is found in `block`, with the marks that it has.
pub fn silent_raw(block: Block) {
    check(None, &block);
}

/// Every method of a table is found, called on what `receiver` says for its name.
pub fn every_method_once(table: &[Method], code: Code, receiver: impl Fn(&str) -> &'static str) {
    for row in table {
        let on: Expr = syn::parse_str(receiver(row.name)).unwrap();
        let name: syn::Ident = syn::parse_str(row.name).unwrap();
        let numbers = |n: usize| -> Vec<TokenStream> { (0..n).map(|_| quote!(1)).collect() };
        let args: Vec<TokenStream> = match row.args {
            Args::Any => numbers(1),
            Args::Exactly(n) => numbers(n),
            Args::Ordered(n) => [numbers(n - 1), vec![quote!(Ordering::Relaxed)]].concat(),
            Args::Closure => vec![quote!(|c| c)],
            Args::Exclusive => vec![quote!(&mut y)],
        };
        found(code, parse_quote!({ let r = #on.#name(#(#args),*); }));
        found(code, parse_quote!({ let r = match n { 0 => f(g(|| { #on.#name(#(#args),*) })), _ => h() }; }));
    }
}

/// Every path of a table is found where it is called.
pub fn every_path_once(table: &[Named], code: Code) {
    for row in table {
        let path: Path = syn::parse_str(&row.form.replace('*', "thing")).unwrap();
        found(code, parse_quote!({ let r = #path(1); }));
        found(code, parse_quote!({ let r = xs.iter().map(#path); }));
    }
}

/// Every macro of a table is found.
pub fn every_macro_once(table: &[Named], code: Code) {
    for row in table {
        let path: Path = syn::parse_str(&row.form.replace('*', "thing")).unwrap();
        found(code, parse_quote!({ #path!("text {}", 1); }));
        found(code, parse_quote!({ let r = if n > 1 { #path!("text") } else { 2 }; }));
    }
}

#[test]
fn a_helper_that_a_region_calls_is_checked_as_one() {
    let block: Block = parse_quote!({
        let out = String::new();
        println!("{y}");
        let c = Cell::new(1);
        c.set(2);
        cell.set(3);
    });
    use crate::diagnostic::codes;
    let cx = Context { replayed: true, ..context() };
    assert_eq!(codes_in(&block, &cx), [codes::IO, codes::INTERIOR_MUTABILITY]);
    assert_eq!(codes_in(&block, &context()), []);
}

#[test]
fn five_different_mistakes_are_five_findings() {
    use crate::diagnostic::codes;
    let block = parse_quote!({
        #[checkpoint]
        let h = {
            println!("here");
            self.n += 1;
            let t = std::time::Instant::now();
            let y = x.dropout(0.1);
            return y;
        };
    });
    let mut codes_found = codes_in(&block, &context());
    codes_found.sort();
    assert_eq!(
        codes_found,
        [codes::MODULE_STATE, codes::IO, codes::NOT_REPLAYABLE, codes::NOT_REPLAYABLE, codes::LEAVES_REGION]
    );
}
