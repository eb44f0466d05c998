//! Locals by number. Reading a body renames each local to a name of its own, so that everything
//! after is free of shadowing; the names come back when the tokens leave.

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};

use super::Access;

const PREFIX: &str = "__ckpt_local_";

/// The number of a local of one body.
pub type LocalId = usize;

/// What the syntax tells about a local.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name in the user's code.
    pub name: Ident,
    /// Whether it is declared `mut`.
    pub mutable: bool,
    /// Whether its type is `Copy` for all that can be seen: no clone is worth writing.
    pub copy: bool,
    /// Whether it holds an `&mut`, which Rust reborrows and nothing can clone.
    pub exclusive: bool,
    /// Set where it is a reference into `self` or to a module: it cannot cross into a region by
    /// value and is lent as a parameter.
    pub lent: Option<Access>,
}

/// The locals of a body.
#[derive(Clone, Debug, Default)]
pub struct Locals(Vec<Local>);

impl Locals {
    /// Adds a local and returns its number.
    pub fn add(&mut self, local: Local) -> LocalId {
        self.0.push(local);
        self.0.len() - 1
    }

    /// The local of this number.
    pub fn get(&self, id: LocalId) -> &Local {
        &self.0[id]
    }

    /// The first local of this name: of the parameters each comes before all else that may be
    /// called so.
    pub fn first_named(&self, name: &Ident) -> Option<LocalId> {
        self.0.iter().position(|local| local.name == *name)
    }

    /// The local of this number.
    pub fn get_mut(&mut self, id: LocalId) -> &mut Local {
        &mut self.0[id]
    }

    /// Puts the user's names back.
    pub fn restore(&self, tokens: TokenStream) -> TokenStream {
        tokens
            .into_iter()
            .map(|token| match token {
                TokenTree::Ident(name) => match decode(&name) {
                    Some(id) => {
                        let mut original = self.get(id).name.clone();
                        original.set_span(name.span());
                        original.into()
                    }
                    None => name.into(),
                },
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.restore(group.stream()));
                    inner.set_span(group.span());
                    inner.into()
                }
                TokenTree::Literal(literal) => self.restore_captures(literal).into(),
                punct @ TokenTree::Punct(_) => punct,
            })
            .collect()
    }

    fn restore_captures(&self, literal: Literal) -> Literal {
        let text = literal.to_string();
        if !text.contains(PREFIX) {
            return literal;
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(PREFIX) {
            out.push_str(&rest[..at]);
            rest = &rest[at + PREFIX.len()..];
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            match rest[..digits].parse::<LocalId>() {
                Ok(id) if id < self.0.len() => out.push_str(&self.get(id).name.to_string()),
                _ => {
                    out.push_str(PREFIX);
                    out.push_str(&rest[..digits]);
                }
            }
            rest = &rest[digits..];
        }
        out.push_str(rest);
        relabel(&literal, &out)
    }
}

/// The name that stands for a local while a body is worked on.
pub fn encode(id: LocalId, span: Span) -> Ident {
    Ident::new(&format!("{PREFIX}{id}"), span)
}

/// The local that a name stands for.
pub fn decode(name: &Ident) -> Option<LocalId> {
    name.to_string().strip_prefix(PREFIX)?.parse().ok()
}

/// The locals captured by a format string, read from the literal's own text.
pub fn captured(literal: &Literal) -> Vec<LocalId> {
    let text = literal.to_string();
    let mut found = Vec::new();
    captures(&text, |name| {
        found.extend(name.strip_prefix(PREFIX).and_then(|n| n.parse::<LocalId>().ok()));
        None
    });
    found
}

/// Renames the captures of a format string that `lookup` knows.
pub fn rename_captures(literal: &Literal, lookup: impl Fn(&str) -> Option<LocalId>) -> Literal {
    let text = literal.to_string();
    if !text.contains('{') || !text.ends_with(['"', '#']) {
        return literal.clone();
    }
    let renamed = captures(&text, |name| lookup(name).map(|id| format!("{PREFIX}{id}")));
    if renamed == text { literal.clone() } else { relabel(literal, &renamed) }
}

fn relabel(literal: &Literal, text: &str) -> Literal {
    match text.parse::<Literal>() {
        Ok(mut new) => {
            new.set_span(literal.span());
            new
        }
        Err(_) => literal.clone(),
    }
}

/// Calls `rename` with each name that a format string captures (`{name}`, `{name:?}`, `{:name$}`)
/// and returns the text with the names it gave.
fn captures(text: &str, mut rename: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..=at]);
        // A character escape of the literal's own syntax, `\u{1F600}`, is no capture.
        let escape = rest[..at].ends_with("\\u");
        rest = &rest[at + 1..];
        if let Some(tail) = rest.strip_prefix('{') {
            out.push('{');
            rest = tail;
            continue;
        }
        let Some(end) = rest.find('}') else { break };
        let (inside, tail) = rest.split_at(end);
        rest = tail;
        if escape {
            out.push_str(inside);
            continue;
        }
        let (name, spec) = inside.find(':').map_or((inside, ""), |c| inside.split_at(c));
        rename_word(name, &mut rename, &mut out);
        // Width and precision are names when a `$` follows.
        for word in spec.split_inclusive('$') {
            let Some(body) = word.strip_suffix('$') else {
                out.push_str(word);
                break;
            };
            let start = body
                .rfind(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(0, |i| i + body[i..].chars().next().map_or(1, char::len_utf8));
            out.push_str(&body[..start]);
            rename_word(&body[start..], &mut rename, &mut out);
            out.push('$');
        }
    }
    out.push_str(rest);
    out
}

fn rename_word(word: &str, rename: &mut impl FnMut(&str) -> Option<String>, out: &mut String) {
    let name = word.trim();
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    match is_name.then(|| rename(name)).flatten() {
        Some(new) => out.push_str(&new),
        None => out.push_str(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rename(text: &str) -> String {
        let literal: Literal = text.parse().unwrap();
        rename_captures(&literal, |n| match n {
            "x" => Some(0),
            "w" => Some(7),
            _ => None,
        })
        .to_string()
    }

    #[test]
    fn captures_of_a_format_string_are_found() {
        assert_eq!(rename(r#""{x} {y} {{x}}""#), r#""{__ckpt_local_0} {y} {{x}}""#);
        assert_eq!(rename(r#""{x:>w$.3} {:w$}""#), r#""{__ckpt_local_0:>__ckpt_local_7$.3} {:__ckpt_local_7$}""#);
        assert_eq!(rename(r##"r#"{x:?}"#"##), r##"r#"{__ckpt_local_0:?}"#"##);
        assert_eq!(rename(r#""\u{1F600} {}""#), r#""\u{1F600} {}""#);
        assert_eq!(rename(r#""{x""#), r#""{x""#);
    }

    #[test]
    fn names_come_back() {
        let mut locals = Locals::default();
        let id = locals.add(Local {
            name: syn::parse_quote!(r#type),
            mutable: false,
            copy: false,
            exclusive: false,
            lent: None,
        });
        let name = encode(id, Span::call_site());
        let tokens = quote::quote!(f(#name, "{__ckpt_local_0}"));
        assert_eq!(locals.restore(tokens).to_string(), "f (r#type , \"{r#type}\")");
    }
}
