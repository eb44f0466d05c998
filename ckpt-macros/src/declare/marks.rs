//! The marks of a field: what it is, and how it runs.

use proc_macro2::Ident;
use syn::{Attribute, Expr, Meta, Token, ext::IdentExt, parse::ParseStream, parse_quote};

use crate::{
    diagnostic::{Findings, codes, nearest},
    options::{FIELD, Kind, Options, SKIP},
};

const MARKS: &[&str] = &["checkpoint", "param", "buffer", "scalar", "skip", "policy"];

/// What a field is.
#[derive(Clone, Debug)]
pub enum Role {
    /// A layer.
    Module {
        /// How it runs.
        options: Options,
        /// Whether `#[checkpoint]` is written; a field without it is kept.
        marked: bool,
    },
    /// A bare tensor that learns.
    Parameter(Init),
    /// A bare tensor that does not.
    Buffer(Init),
    /// A saved number and its value in a new model.
    Scalar(Expr),
    /// Anything else: not saved, not run, `Default` in a new model.
    Skip {
        /// What its mark allows.
        options: Options,
    },
    /// The policy under which the model's forward runs.
    Policy,
}

/// What a bare tensor is filled with in a new model.
#[derive(Clone, Debug)]
pub enum Init {
    /// 0.
    Zeros,
    /// 1.
    Ones,
    /// By a `fn(&mut Tensor<..>) -> Result<(), D::Err>`.
    With(Expr),
}

impl Role {
    /// Reads the marks among `attributes`; a field that has none is a layer that is kept.
    pub fn read(attributes: &[Attribute], findings: &mut Findings) -> Self {
        let marks: Vec<_> = attributes.iter().filter(|a| is_mark(a)).collect();
        for (n, second) in marks.iter().enumerate().skip(1) {
            let first = marks[..n].iter().find(|m| m.path() == second.path());
            match first {
                Some(_) => findings.push(
                    codes::OPTION_TWICE,
                    second,
                    "this field has the same mark twice",
                    "keep one of the field's marks, with the options of both",
                ),
                None => findings.push(
                    codes::OPTIONS_CLASH,
                    second,
                    "a field is one thing, and this one already has a mark",
                    "keep the mark that says what the field is",
                ),
            }
        }
        let Some(mark) = marks.first() else {
            let options = Options { kind: Kind::Keep, ..Options::default() };
            return Self::Module { options, marked: false };
        };
        match mark.path().require_ident().map(Ident::to_string).as_deref() {
            Ok("param") => {
                let init = value(mark, Some("init"), findings);
                if init.is_none() && matches!(mark.meta, Meta::Path(_)) {
                    findings.push(
                        codes::SYNTAX,
                        mark,
                        "a parameter needs a first value",
                        "write `#[param(init = zeros)]`, `ones`, or a closure as `|t| t.try_fill_with_distr(..)`",
                    );
                }
                Self::Parameter(Init::of(init))
            }
            Ok("buffer") => Self::Buffer(Init::of(value(mark, Some("init"), findings))),
            Ok("scalar") => Self::Scalar(
                value(mark, Some("default"), findings)
                    .unwrap_or_else(|| parse_quote!(::core::default::Default::default())),
            ),
            Ok("skip") => Self::Skip { options: Options::of_attribute(mark, SKIP, findings) },
            Ok("policy") => {
                value(mark, None, findings);
                Self::Policy
            }
            _ => Self::Module { options: Options::of_attribute(mark, FIELD, findings), marked: true },
        }
    }
}

impl Init {
    fn of(value: Option<Expr>) -> Self {
        match &value {
            None => Self::Zeros,
            Some(Expr::Path(p)) if p.path.is_ident("zeros") => Self::Zeros,
            Some(Expr::Path(p)) if p.path.is_ident("ones") => Self::Ones,
            Some(e) => Self::With(e.clone()),
        }
    }
}

/// Whether this attribute is one of ours.
pub fn is_mark(attribute: &Attribute) -> bool {
    attribute.path().get_ident().is_some_and(|i| MARKS.contains(&i.to_string().as_str()))
}

/// The value of the only option `key` that a mark knows, if it is written; `None` for a mark that
/// knows none.
fn value(mark: &Attribute, key: Option<&str>, findings: &mut Findings) -> Option<Expr> {
    let usage = key.map_or_else(
        || "write it without options".to_owned(),
        |k| format!("the only option here is `{k} = ..`, in parentheses"),
    );
    let list = match &mark.meta {
        Meta::Path(_) => return None,
        Meta::List(list) => list,
        Meta::NameValue(_) => {
            findings.push(codes::SYNTAX, mark, "a mark takes its options in parentheses", usage);
            return None;
        }
    };
    let mut found = None;
    let parser = |input: ParseStream<'_>| -> syn::Result<()> {
        while !input.is_empty() {
            let word = input.call(Ident::parse_any)?;
            input.parse::<Token![=]>()?;
            let expression: Expr = input.parse()?;
            let text = word.to_string();
            if key != Some(text.as_str()) {
                let near = nearest(&text, key.as_slice()).map(|n| format!("did you mean `{n}`? ")).unwrap_or_default();
                findings.push(
                    codes::UNKNOWN_OPTION,
                    &word,
                    format!("`{text}` is not an option here"),
                    format!("{near}{usage}"),
                );
            } else if found.replace(expression).is_some() {
                findings.push(
                    codes::OPTION_TWICE,
                    &word,
                    format!("`{text}` is written twice"),
                    "keep one of the two expressions",
                );
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(e) = syn::parse::Parser::parse2(parser, list.tokens.clone()) {
        findings.push_syn(&e);
    }
    found
}
