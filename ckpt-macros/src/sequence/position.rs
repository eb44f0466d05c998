//! Where a `checkpoint_sequential!` stands, which a macro is not told.
//!
//! A `struct` is an item. Lists are read as types and as expressions. Types with generics
//! (`Linear<2, 3>`) cannot be read as expressions, and field accesses, references and calls
//! (`self.a`, `&mut net`) not as types, so nearly every list has one reading. A list of bare paths
//! has two, and there the case of its first name decides, as it does for readers: `ReLU, Tanh` are
//! types, `x, first, second` values.

use proc_macro2::TokenStream;
use syn::{
    Expr, ItemStruct, Token, Type,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
};

use crate::{
    diagnostic::{Findings, codes},
    hygiene::spoken,
};

/// What was written after the options.
pub enum Form {
    /// Layers as types.
    Type(Vec<Type>),
    /// The input and the layers.
    Value(Expr, Vec<Expr>),
    /// A struct of layers.
    Struct(ItemStruct),
}

/// Reads the form; `None` if it is none, which is then reported.
pub fn tell(tokens: TokenStream, findings: &mut Findings) -> Option<Form> {
    if is_item(&tokens) {
        return match syn::parse2(tokens) {
            Ok(item) => Some(Form::Struct(item)),
            Err(e) => {
                findings.push_syn(&e);
                None
            }
        };
    }
    let types = (|input: syn::parse::ParseStream<'_>| {
        Punctuated::<Type, Token![,]>::parse_terminated_with(input, Type::without_plus)
    })
    .parse2(tokens.clone());
    let values = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone());
    let seems_value = starts_as_value(tokens);
    match (types, values) {
        (Ok(types), Err(_)) => Some(Form::Type(types.into_iter().collect())),
        (Ok(types), Ok(_)) if !seems_value => Some(Form::Type(types.into_iter().collect())),
        // `Linear<4, 4> ReLU`, where a comma is missing, reads as comparisons.
        (Err(e), Ok(values)) if !seems_value && values.iter().any(compares) => {
            findings.push_syn(&e);
            None
        }
        (_, Ok(values)) => value(values, findings),
        (Err(t), Err(v)) => {
            findings.push_syn(if seems_value { &v } else { &t });
            None
        }
    }
}

fn compares(value: &Expr) -> bool {
    matches!(value, Expr::Binary(b) if matches!(b.op, syn::BinOp::Lt(_) | syn::BinOp::Gt(_)))
}

fn value(values: Punctuated<Expr, Token![,]>, findings: &mut Findings) -> Option<Form> {
    let mut values = values.into_iter();
    let Some(input) = values.next() else {
        findings.push_span(
            codes::SYNTAX,
            proc_macro2::Span::call_site(),
            "a sequence needs at least one layer",
            "write layers behind the options: `segments = 2, Linear<4, 8>, ReLU`",
        );
        return None;
    };
    Some(Form::Value(input, values.collect()))
}

fn is_item(tokens: &TokenStream) -> bool {
    let peek = |input: ParseStream<'_>| -> syn::Result<bool> {
        syn::Attribute::parse_outer(input)?;
        input.parse::<syn::Visibility>()?;
        let found = input.peek(Token![struct]);
        input.parse::<TokenStream>()?;
        Ok(found)
    };
    peek.parse2(tokens.clone()).unwrap_or(false)
}

/// Whether the first name of the list, or of the tuple that begins it, is written as a variable's.
fn starts_as_value(tokens: TokenStream) -> bool {
    use proc_macro2::TokenTree;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(g) => return starts_as_value(g.stream()),
            TokenTree::Ident(name) => {
                // Of `nn::ReLU` the last name counts.
                if matches!(tokens.peek(), Some(TokenTree::Punct(p)) if p.as_char() == ':') {
                    continue;
                }
                let name = spoken(&name);
                // A sequence in a sequence: as the input it would be a `Result`, so it is a layer.
                if name == "checkpoint_sequential" {
                    return false;
                }
                return name.starts_with(|c: char| c.is_lowercase() || c == '_');
            }
            TokenTree::Punct(p) if p.as_char() == ':' => {}
            // `<Net as Trait>::Type`.
            TokenTree::Punct(p) if p.as_char() == '<' => return false,
            TokenTree::Punct(_) | TokenTree::Literal(_) => return true,
        }
    }
    false
}
