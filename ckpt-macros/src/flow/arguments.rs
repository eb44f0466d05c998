//! Looking into the arguments of macro invocations. What parses as expressions is treated as
//! expressions; the rest is scanned, token by token.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Block, Expr, Macro, Stmt, Token,
    ext::IdentExt,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
};

/// The arguments of an invocation, as far as they can be understood.
#[derive(Debug)]
pub enum Arguments {
    /// Expressions, as in `format!("{}", x)`, `vec![x, y]`.
    List(Punctuated<Argument, Token![,]>),
    /// `vec![x; n]`.
    Repeat(Box<Expr>, Box<Expr>),
    /// Statements, as in `first_pass! { .. }`.
    Statements(Vec<Stmt>),
    /// Anything else.
    Opaque(TokenStream),
}

/// An expression, perhaps named as in `format!("{a}", a = x)`.
#[derive(Debug)]
pub struct Argument {
    name: Option<(Ident, Token![=])>,
    /// The expression.
    pub value: Expr,
}

impl Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let named = input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==]);
        let name = if named { Some((input.call(Ident::parse_any)?, input.parse()?)) } else { None };
        Ok(Self { name, value: input.parse()? })
    }
}

impl ToTokens for Argument {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        if let Some((name, eq)) = &self.name {
            name.to_tokens(tokens);
            eq.to_tokens(tokens);
        }
        self.value.to_tokens(tokens);
    }
}

/// Whether an invocation is of the macro of this name, under any path.
pub fn is(mac: &Macro, name: &str) -> bool {
    mac.path.segments.last().is_some_and(|s| s.ident == name)
}

/// Whether the macro takes its arguments by value, as far as is known. The others only look.
pub fn moves(mac: &Macro) -> bool {
    is(mac, "vec") || is(mac, "dbg")
}

/// The arguments of `mac`.
pub fn read(mac: &Macro) -> Arguments {
    if is(mac, "first_pass") {
        return match Block::parse_within.parse2(mac.tokens.clone()) {
            Ok(statements) => Arguments::Statements(statements),
            Err(_) => Arguments::Opaque(mac.tokens.clone()),
        };
    }
    let list = |input: ParseStream<'_>| Punctuated::parse_terminated_with(input, Argument::parse);
    if let Ok(list) = list.parse2(mac.tokens.clone()) {
        return Arguments::List(list);
    }
    let repeat = |input: ParseStream<'_>| {
        let value: Expr = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok((value, input.parse::<Expr>()?))
    };
    match repeat.parse2(mac.tokens.clone()) {
        Ok((value, n)) => Arguments::Repeat(Box::new(value), Box::new(n)),
        Err(_) => Arguments::Opaque(mac.tokens.clone()),
    }
}

/// Lets `edit` change the arguments of `mac` in place.
pub fn edit(mac: &mut Macro, edit: impl FnOnce(&mut Arguments)) {
    let mut arguments = read(mac);
    edit(&mut arguments);
    mac.tokens = match arguments {
        Arguments::List(list) => list.into_token_stream(),
        Arguments::Repeat(value, n) => quote!(#value; #n),
        Arguments::Statements(statements) => quote!(#(#statements)*),
        Arguments::Opaque(tokens) => tokens,
    };
}

/// Calls `f` with every token of `tokens`, groups opened, and whether the token before is a dot.
pub fn scan(tokens: &TokenStream, f: &mut impl FnMut(&TokenTree, bool)) {
    let mut after_dot = false;
    for token in tokens.clone() {
        match &token {
            TokenTree::Group(group) => scan(&group.stream(), f),
            other => f(other, after_dot),
        }
        after_dot = matches!(&token, TokenTree::Punct(p) if p.as_char() == '.');
    }
}
