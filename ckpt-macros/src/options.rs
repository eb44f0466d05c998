//! The options of a mark, the same words everywhere: `segments = N`, `each`, `keep`, `plain`,
//! `verify`, `verify(tolerance = ..)`, `name = ".."`, `allow(..)`, `crate = ::path`, and for
//! declarations `builder = Name`, `dtype = E`, `device = D`, `tape = T`, `forward = custom`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Expr, ExprLit, Lit, LitFloat, LitStr, Path, Token, ext::IdentExt, parenthesized, parse::ParseStream,
    spanned::Spanned,
};

use crate::diagnostic::{Findings, codes, nearest};

/// A place where options stand.
#[derive(Debug)]
pub struct Position {
    /// The words that it understands.
    words: &'static [&'static str],
    /// What can be let through there by `allow(..)`.
    allow: &'static [&'static str],
    /// Where else to write `allow({what})`, which would do nothing here.
    elsewhere: &'static str,
}

/// A position.
pub type Words = &'static Position;

/// On a field of a checkpointed struct.
pub const FIELD: Words = &Position {
    words: &["segments", "each", "keep", "plain", "verify", "name", "allow"],
    allow: &["whole_model", "interior_mutability"],
    elsewhere: "a layer's code is its own type's: write `allow({what})` on the impl that has its forward",
};
/// On a field that takes no part.
pub const SKIP: Words = &Position {
    words: &["allow"],
    allow: &["interior_mutability"],
    elsewhere: "a field that is skipped is not run: write `allow({what})` where the code is",
};
/// On a `let` or a block of a checkpointed forward.
pub const STATEMENT: Words =
    &Position { words: &["keep", "plain", "verify", "name", "allow"], allow: CODE, elsewhere: ON_THE_ITEM };
/// On a `for` over blocks in a checkpointed forward.
pub const LOOP: Words = &Position {
    words: &["segments", "each", "keep", "plain", "verify", "name", "allow"],
    allow: CODE,
    elsewhere: ON_THE_ITEM,
};
/// On a checkpointed function.
pub const FUNCTION: Words = &Position {
    words: &["keep", "plain", "verify", "name", "allow", "dtype", "device", "crate"],
    allow: CODE,
    elsewhere: "a function is one region, and marked: leave `allow({what})` out",
};
/// On a checkpointed struct.
pub const STRUCT: Words = &Position {
    words: &["forward", "builder", "dtype", "device", "name", "allow", "crate"],
    allow: &["whole_model", "interior_mutability"],
    elsewhere: "the struct's macro does not see the impl: write `#[checkpointed(allow({what}))]` on the impl, or `#[checkpoint(allow({what}))]` on a region in it",
};
/// On the impl of a checkpointed struct with a forward of its own.
pub const IMPL: Words = &Position {
    words: &["dtype", "device", "name", "allow", "crate"],
    allow: &["nothing_marked", "io", "interior_mutability", "in_place", "threads", "unsafe_code", "reading"],
    elsewhere: "write `#[checkpointed(allow({what}))]` on the struct, or leave it out where the forward is custom",
};
/// At the head of `checkpoint!`.
pub const EXPRESSION: Words = &Position {
    words: &["keep", "plain", "verify", "name", "allow", "crate"],
    allow: &[],
    elsewhere: "there is no code in this region but its module's: write `allow({what})` on the impl that has the module's forward",
};
/// At the head of `checkpoint_sequential!`.
pub const SEQUENCE: Words = &Position {
    words: &["segments", "each", "keep", "plain", "verify", "name", "allow", "builder", "crate"],
    allow: &[],
    elsewhere: "there is no code in a sequence but its layers': write `allow({what})` on the impl that has the layer's forward",
};

/// On a type that derives `Boundary`.
pub const BOUNDARY: Words = &Position { words: &["dtype", "device", "tape", "crate"], allow: &[], elsewhere: "" };
/// On a field of such a type.
pub const BOUNDARY_FIELD: Words = &Position { words: &["plain"], allow: &[], elsewhere: "" };

/// What code can be let through.
const CODE: &[&str] = &["io", "interior_mutability", "in_place", "threads", "unsafe_code", "reading"];
const ON_THE_ITEM: &str = "this concerns the whole item: write `#[checkpointed(allow({what}))]` on it";

/// How a run of layers is cut.
#[derive(Clone, Debug)]
pub enum Segments {
    /// Into this many, their sizes differing by at most one, the last one kept.
    Count(usize, Span),
    /// Every layer a region of its own.
    Each(Span),
}

/// What a region compares in its recompute.
#[derive(Clone, Debug)]
pub enum Verify {
    /// The outputs must agree to the bit.
    Exact,
    /// The outputs must agree within this relative tolerance.
    Tolerance(f64),
}

/// How a region runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Its inside is computed again in the backward pass.
    #[default]
    Recompute,
    /// Its inside is stored, its temporary gradients freed as it ends.
    Keep,
    /// It is not a region: dfdx's own tape.
    Plain,
}

/// The options of one mark, read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `segments = N` or `each`.
    pub segments: Option<Segments>,
    /// `keep` or `plain`; a region recomputes when neither is written.
    pub kind: Kind,
    /// `verify`.
    pub verify: Option<Verify>,
    /// `name = ".."`.
    pub name: Option<LitStr>,
    /// `allow(..)`.
    pub allow: Vec<Ident>,
    /// `crate = ::path`.
    pub krate: Option<Path>,
    /// `builder = Name`.
    pub builder: Option<Ident>,
    /// `dtype = E`.
    pub dtype: Option<Ident>,
    /// `device = D`.
    pub device: Option<Ident>,
    /// `tape = T`.
    pub tape: Option<Ident>,
    /// `forward = custom`.
    pub custom_forward: bool,
    /// `forward = ..` says something else, so that nobody knows what marks it should have.
    pub forward_unread: bool,
}

/// What may stand in `allow(..)`.
const ALLOWED: &[&str] =
    &["whole_model", "nothing_marked", "io", "interior_mutability", "in_place", "threads", "unsafe_code", "reading"];

impl Options {
    /// Reads a comma-separated list until its end, or until a token that no option starts with
    /// when `stop_at_other` is set. Everything wrong goes to `findings`; what could be read is kept.
    pub fn parse(
        input: ParseStream<'_>,
        words: Words,
        stop_at_other: bool,
        findings: &mut Findings,
    ) -> syn::Result<Self> {
        let mut options = Self::default();
        let mut seen: Vec<Ident> = Vec::new();
        while !input.is_empty() {
            if stop_at_other && !starts_option(input, words) {
                break;
            }
            let word = input.call(Ident::parse_any)?;
            let text = word.to_string();
            if !words.words.contains(&text.as_str()) {
                let near = nearest(&text, words.words).map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
                findings.push(
                    codes::UNKNOWN_OPTION,
                    &word,
                    format!("`{text}` is not an option here"),
                    format!("{near}the options here are {}", list(words.words)),
                );
                skip_value(input)?;
            } else {
                if seen.contains(&word) {
                    findings.push(codes::OPTION_TWICE, &word, format!("`{text}` is written twice"), "keep one of them");
                }
                if needs_value(&text) && !input.peek(Token![=]) {
                    findings.push(
                        codes::SYNTAX,
                        &word,
                        format!("`{text}` needs a value"),
                        format!("write `{text} = ..`"),
                    );
                    skip_value(input)?;
                } else {
                    options.read(&word, &text, words, input, findings)?;
                    if input.peek(Token![=]) {
                        let how =
                            if text == "verify" { "`verify`, or `verify(tolerance = 1e-5)`" } else { "the word alone" };
                        findings.push(
                            codes::SYNTAX,
                            &word,
                            format!("`{text}` takes no value"),
                            format!("write {how}, or leave it out"),
                        );
                        skip_value(input)?;
                    }
                }
                seen.push(word);
            }
            // A sequence's options may also end with `;`, which its caller reads.
            if input.is_empty() || input.peek(Token![;]) {
                break;
            }
            input.parse::<Token![,]>()?;
        }
        options.exclusions(&seen, findings);
        Ok(options)
    }

    /// Reads the options of `#[checkpoint]` or `#[checkpoint(..)]`.
    pub fn of_attribute(attribute: &syn::Attribute, words: Words, findings: &mut Findings) -> Self {
        match &attribute.meta {
            syn::Meta::Path(_) => Self::default(),
            syn::Meta::List(list) => Self::of_tokens(list.tokens.clone(), words, findings),
            syn::Meta::NameValue(nv) => {
                findings.push(
                    codes::SYNTAX,
                    nv,
                    "a mark takes its options in parentheses",
                    "write `#[checkpoint(segments = 4)]`",
                );
                Self::default()
            }
        }
    }

    /// Reads options from a token stream of their own.
    pub fn of_tokens(tokens: TokenStream, words: Words, findings: &mut Findings) -> Self {
        let mut options = Self::default();
        let parser = |input: ParseStream<'_>| {
            options = Self::parse(input, words, false, findings)?;
            Ok(())
        };
        let says_forward = tokens.clone().into_iter().any(|t| matches!(t, TokenTree::Ident(i) if i == "forward"));
        if let Err(e) = syn::parse::Parser::parse2(parser, tokens) {
            findings.push_syn(&e);
            options.custom_forward = says_forward;
            options.forward_unread = says_forward;
        }
        options
    }

    fn read(
        &mut self,
        word: &Ident,
        text: &str,
        position: Words,
        input: ParseStream<'_>,
        findings: &mut Findings,
    ) -> syn::Result<()> {
        match text {
            "segments" => {
                input.parse::<Token![=]>()?;
                let value: Expr = input.parse()?;
                match literal(&value) {
                    Some(0) => findings.push(
                        codes::SEGMENTS,
                        &value,
                        "a model cannot be cut into 0 segments",
                        "write 1 or more; without checkpointing write `plain`",
                    ),
                    Some(n) => self.segments = Some(Segments::Count(n, value.span())),
                    None => findings.push(
                        codes::SEGMENTS,
                        &value,
                        "the number of segments must be an integer literal",
                        "write a number here; to choose it at run time use `with_policy(Policy::segments(n), ..)`",
                    ),
                }
            }
            "each" => self.segments = Some(Segments::Each(word.span())),
            "keep" => self.kind = Kind::Keep,
            "plain" => self.kind = Kind::Plain,
            "verify" => {
                self.verify = Some(Verify::Exact);
                if input.peek(syn::token::Paren) {
                    let inner;
                    parenthesized!(inner in input);
                    let key = inner.call(Ident::parse_any)?;
                    if key != "tolerance" {
                        findings.push(
                            codes::UNKNOWN_OPTION,
                            &key,
                            format!("`{key}` is not an option of `verify`"),
                            "`verify` has one option: `verify(tolerance = 1e-5)`",
                        );
                    }
                    inner.parse::<Token![=]>()?;
                    let value: Lit = inner.parse()?;
                    match tolerance(&value) {
                        Some(t) => self.verify = Some(Verify::Tolerance(t)),
                        None => findings.push(
                            codes::SYNTAX,
                            &value,
                            "a tolerance is a positive number",
                            "write a number above zero: `verify(tolerance = 1e-5)`",
                        ),
                    }
                }
            }
            "name" => {
                input.parse::<Token![=]>()?;
                match input.parse()? {
                    Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => self.name = Some(name),
                    other => findings.push(
                        codes::SYNTAX,
                        &other,
                        "a region's name is a string literal",
                        "write `name = \"encoder\"`",
                    ),
                }
            }
            "allow" => {
                let inner;
                parenthesized!(inner in input);
                for what in inner.parse_terminated(Ident::parse_any, Token![,])? {
                    let word = what.to_string();
                    if position.allow.contains(&word.as_str()) {
                        self.allow.push(what);
                    } else if ALLOWED.contains(&word.as_str()) {
                        findings.push(
                            codes::UNKNOWN_OPTION,
                            &what,
                            format!("`allow({word})` lets nothing through here"),
                            position.elsewhere.replace("{what}", &word),
                        );
                    } else {
                        let near = nearest(&word, ALLOWED).map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
                        findings.push(
                            codes::UNKNOWN_OPTION,
                            &what,
                            format!("`{what}` cannot be allowed"),
                            format!("{near}what can be allowed is {}", list(ALLOWED)),
                        );
                    }
                }
            }
            "crate" => {
                input.parse::<Token![=]>()?;
                self.krate = Some(input.call(Path::parse_mod_style)?);
            }
            "builder" => {
                input.parse::<Token![=]>()?;
                self.builder = Some(input.parse()?);
            }
            "dtype" => {
                input.parse::<Token![=]>()?;
                self.dtype = Some(input.parse()?);
            }
            "device" => {
                input.parse::<Token![=]>()?;
                self.device = Some(input.parse()?);
            }
            "tape" => {
                input.parse::<Token![=]>()?;
                self.tape = Some(input.parse()?);
            }
            "forward" => {
                input.parse::<Token![=]>()?;
                let what = input.call(Ident::parse_any)?;
                // Whatever it says, the forward is not the fields', which would be a second one.
                self.custom_forward = true;
                self.forward_unread = what != "custom";
                if self.forward_unread {
                    findings.push(
                        codes::UNKNOWN_OPTION,
                        &what,
                        format!("`forward = {what}` does not exist"),
                        "write `forward = custom` and the forward on a `#[checkpointed] impl`, or leave it out to run the fields in order",
                    );
                }
            }
            other => unreachable!("option `{other}` is in a word list but not read"),
        }
        Ok(())
    }

    fn exclusions(&self, seen: &[Ident], findings: &mut Findings) {
        const CLASHES: &[(&str, &str, &str)] = &[
            ("segments", "each", "`each` makes one segment of every layer: keep one of the two"),
            (
                "keep",
                "plain",
                "`keep` stores activations in a scope, `plain` leaves them on dfdx's tape: keep one of the two",
            ),
            ("segments", "plain", "`plain` makes no region, so there is nothing to cut: keep one of the two"),
            ("each", "plain", "`plain` makes no region, so no layer can be one: keep one of the two"),
            (
                "segments",
                "keep",
                "`keep` recomputes nothing, so the segments would change nothing: keep one of the two",
            ),
            ("each", "keep", "`keep` recomputes no layer, so `each` would change nothing: keep one of the two"),
            ("verify", "keep", "`keep` recomputes nothing, so there is nothing to verify: keep one of the two"),
            ("verify", "plain", "`plain` recomputes nothing, so there is nothing to verify: keep one of the two"),
        ];
        // A word that clashes with several is said to clash once.
        let mut said = Vec::new();
        for (a, b, help) in CLASHES {
            let first = seen.iter().position(|s| s == a);
            let second = seen.iter().position(|s| s == b);
            if let (Some(first), Some(second)) = (first, second)
                && !said.contains(&first.max(second))
            {
                said.push(first.max(second));
                findings.push(
                    codes::OPTIONS_CLASH,
                    &seen[first.max(second)],
                    format!("`{a}` and `{b}` exclude each other"),
                    *help,
                );
            }
        }
    }

    /// Whether `allow(what)` is written.
    pub fn allows(&self, what: &str) -> bool {
        self.allow.iter().any(|a| a == what)
    }

    /// The path to the run-time crate.
    pub fn runtime(&self) -> TokenStream {
        runtime(self.krate.as_ref())
    }

    /// The constant that describes this region at run time, named `default` unless `name` is given.
    pub fn site(&self, rt: &TokenStream, default: &str) -> TokenStream {
        let name = self.name.as_ref().map_or_else(|| default.to_owned(), LitStr::value);
        let kind = match self.kind {
            Kind::Recompute => TokenStream::new(),
            Kind::Keep => quote!(.keep()),
            Kind::Plain => quote!(.plain()),
        };
        let verify = match self.verify {
            None => TokenStream::new(),
            Some(Verify::Exact) => quote!(.verify(0.0)),
            Some(Verify::Tolerance(t)) => quote!(.verify(#t)),
        };
        quote!({
            const __CKPT_SITE: #rt::__private::Site = #rt::__private::Site::new(#name) #kind #verify;
            &__CKPT_SITE
        })
    }
}

impl Segments {
    /// The run-time value.
    pub fn to_value(&self, rt: &TokenStream) -> TokenStream {
        match self {
            Self::Count(n, span) => quote_spanned!(*span=> #rt::Segments::Count(#n)),
            Self::Each(span) => quote_spanned!(*span=> #rt::Segments::Each),
        }
    }
}

/// The path to the run-time crate: the one named, or `::ckpt_runtime`.
pub fn runtime(krate: Option<&Path>) -> TokenStream {
    krate.map_or_else(|| quote!(::ckpt_runtime), ToTokens::to_token_stream)
}

fn starts_option(input: ParseStream<'_>, words: Words) -> bool {
    let ahead = input.fork();
    let Ok(word) = ahead.call(Ident::parse_any) else {
        return false;
    };
    let known = words.words.contains(&word.to_string().as_str());
    // `keep` alone could be a variable; an option is followed by `=`, `(`, `,` or the end.
    (known && (ahead.is_empty() || ahead.peek(Token![,]) || ahead.peek(Token![;]) || ahead.peek(syn::token::Paren)))
        || (ahead.peek(Token![=]) && !ahead.peek(Token![==]))
}

/// Whether a word is followed by `= value`.
fn needs_value(word: &str) -> bool {
    ["segments", "name", "crate", "builder", "dtype", "device", "forward"].contains(&word)
}

fn skip_value(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) && !input.peek(Token![;]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

fn literal(value: &Expr) -> Option<usize> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(n), .. }) => n.base10_parse().ok(),
        _ => None,
    }
}

fn tolerance(value: &Lit) -> Option<f64> {
    let t = match value {
        Lit::Float(f) => LitFloat::base10_parse::<f64>(f).ok()?,
        Lit::Int(n) => n.base10_parse::<f64>().ok()?,
        _ => return None,
    };
    (t > 0.0 && t.is_finite()).then_some(t)
}

fn list(words: &[&str]) -> String {
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    fn read(words: Words, tokens: TokenStream) -> (Options, Vec<Code>) {
        let mut f = Findings::new();
        let o = Options::of_tokens(tokens, words, &mut f);
        (o, f.codes())
    }

    #[test]
    fn every_word_is_read() {
        let (o, found) = read(LOOP, quote!(segments = 4, verify(tolerance = 1e-5), name = "enc", allow(io)));
        assert!(found.is_empty());
        assert!(matches!(o.segments, Some(Segments::Count(4, _))));
        assert!(matches!(o.verify, Some(Verify::Tolerance(t)) if t == 1e-5));
        assert_eq!(o.name.as_ref().map(LitStr::value).as_deref(), Some("enc"));
        assert!(o.allows("io"));
    }

    /// An `allow` that would change nothing where it stands says where it would.
    #[test]
    fn what_is_allowed_in_vain_is_a_finding() {
        for (position, what) in [
            (STRUCT, quote!(allow(io))),
            (STRUCT, quote!(allow(nothing_marked))),
            (FIELD, quote!(allow(threads))),
            (SKIP, quote!(allow(whole_model))),
            (STATEMENT, quote!(allow(whole_model))),
            (FUNCTION, quote!(allow(nothing_marked))),
            (IMPL, quote!(allow(whole_model))),
            (EXPRESSION, quote!(allow(io))),
            (SEQUENCE, quote!(allow(reading))),
        ] {
            let (o, found) = read(position, what.clone());
            assert_eq!(found, [codes::UNKNOWN_OPTION], "{what}");
            assert!(o.allow.is_empty());
        }
    }

    #[test]
    fn several_mistakes_are_all_reported() {
        let (_, found) = read(FIELD, quote!(segment = 4, each, each, keep, plain, segments = 0));
        for code in [codes::UNKNOWN_OPTION, codes::OPTION_TWICE, codes::OPTIONS_CLASH, codes::SEGMENTS] {
            assert!(found.contains(&code), "{code} in {found:?}");
        }
    }

    #[test]
    fn a_word_without_its_value_is_named() {
        let (o, found) = read(FIELD, quote!(segments, name, each, verify));
        assert_eq!(found, [codes::SYNTAX, codes::SYNTAX, codes::OPTIONS_CLASH]);
        assert!(o.verify.is_some());
        assert_eq!(read(FIELD, quote!(name = encoder, each)).1, [codes::SYNTAX]);
    }

    #[test]
    fn a_sequences_options_end_where_its_layers_begin() {
        let mut f = Findings::new();
        let parser = |input: ParseStream<'_>| {
            let o = Options::parse(input, SEQUENCE, true, &mut f)?;
            assert!(matches!(o.segments, Some(Segments::Count(3, _))));
            assert_eq!(input.to_string(), "Linear < 2 , 3 > , ReLU");
            input.parse::<TokenStream>()
        };
        syn::parse::Parser::parse2(parser, quote!(segments = 3, Linear<2, 3>, ReLU)).unwrap();
        assert!(f.codes().is_empty());
    }
}
