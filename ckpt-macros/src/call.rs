//! `checkpoint!(module, x)`: the call of one module as a region, where no other macro sees the code
//! around it. (Inside a checkpointed forward it is the flow that reads it.)

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Expr, Member, Token, bracketed, ext::IdentExt, parse::ParseStream, punctuated::Punctuated, spanned::Spanned,
};

use crate::{
    diagnostic::{Findings, codes},
    options::{self, Options},
};

/// The macro. The run time's `checkpoint!` gives it its own path first: `@[$crate] self.attn, x`.
pub fn expand(input: TokenStream) -> TokenStream {
    let mut findings = Findings::new();
    let mut rt = options::runtime(None);
    let parser = |stream: ParseStream<'_>| {
        if stream.peek(Token![@]) {
            stream.parse::<Token![@]>()?;
            let path;
            bracketed!(path in stream);
            rt = path.parse()?;
        }
        let options = Options::parse(stream, options::EXPRESSION, true, &mut findings)?;
        let list = Punctuated::<Expr, Token![,]>::parse_terminated(stream)?;
        Ok((options, list.into_iter().collect::<Vec<_>>()))
    };
    let (options, list) = match syn::parse::Parser::parse2(parser, input) {
        Ok(read) => read,
        Err(e) => {
            findings.push_syn(&e);
            return failed(findings);
        }
    };
    let [module, inputs @ ..] = &list[..] else {
        findings.push_span(codes::SYNTAX, Span::call_site(), "this names no module", HELP);
        return failed(findings);
    };
    if inputs.is_empty() {
        findings.push(codes::SYNTAX, module, "this module is given no input", HELP);
    }
    if !findings.is_empty() {
        return failed(findings);
    }
    let (place, exclusive) = match module {
        Expr::Reference(r) => (&*r.expr, r.mutability.is_some()),
        place => (place, false),
    };
    if options.krate.is_some() {
        rt = options.runtime();
    }
    let site = options.site(&rt, &name(place).unwrap_or_else(|| "checkpoint".to_owned()));
    let input = match inputs {
        [one] => one.to_token_stream(),
        several => quote!((#(#several),*)),
    };
    // At the module's place, so that what is wrong with the module is reported there.
    let span = Span::call_site().located_at(module.span());
    if exclusive {
        quote_spanned!(span=> #rt::__private::checkpoint_mut(#site, &mut #place, #input))
    } else {
        let borrow = borrow(&rt, place);
        quote_spanned!(span=> #rt::__private::checkpoint_ref(#site, #borrow, #input))
    }
}

const HELP: &str =
    "write `checkpoint!(self.attn, x)`, or `checkpoint!(&mut self.attn, x)` for a module that training changes";

/// In an expression's place one has to stand beside the errors.
fn failed(findings: Findings) -> TokenStream {
    let errors = findings.into_tokens();
    quote!({ #errors ::core::unreachable!() })
}

/// A module given by its place, borrowed by `&`; a name or a field may be such a borrow already.
pub fn borrow(rt: &TokenStream, place: &Expr) -> TokenStream {
    let of_a_type = |p: &syn::ExprPath| {
        p.path.segments.last().is_some_and(|s| s.ident.unraw().to_string().starts_with(char::is_uppercase))
    };
    match place {
        Expr::Path(p) if of_a_type(p) => quote!(&#place),
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => quote!({
            use #rt::__private::Reached as _;
            #place.reached()
        }),
        Expr::MethodCall(_)
        | Expr::Call(_)
        | Expr::Unary(_)
        | Expr::Paren(_)
        | Expr::Group(_)
        | Expr::Macro(_)
        | Expr::Block(_) => quote!(&#place),
        other => quote!(&(#other)),
    }
}

/// What the module is called: the last field or variable of its place.
fn name(place: &Expr) -> Option<String> {
    match place {
        Expr::Field(f) => Some(match &f.member {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        }),
        Expr::Path(p) => p.path.segments.last().map(|s| s.ident.unraw().to_string()),
        Expr::Index(i) => name(&i.expr),
        Expr::Paren(p) => name(&p.expr),
        Expr::Group(g) => name(&g.expr),
        Expr::Reference(r) => name(&r.expr),
        Expr::Unary(u) => name(&u.expr),
        Expr::MethodCall(m) => name(&m.receiver).filter(|n| n != "self").or(Some(m.method.unraw().to_string())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(input: TokenStream) -> String {
        expand(input).to_string()
    }

    #[test]
    fn the_site_is_named_after_the_last_field() {
        for (input, name) in [
            (quote!(self.attn, x), "\"attn\""),
            (quote!(&mut self.inner.r#type, x), "\"type\""),
            (quote!(self.blocks[i + 1], x), "\"blocks\""),
            (quote!(&*block, x), "\"block\""),
            (quote!(self.0, x), "\"0\""),
            (quote!(name = "mine", self.attn, x), "\"mine\""),
            (quote!(build(), x), "\"checkpoint\""),
        ] {
            let out = expanded(input);
            assert!(out.contains(name), "{name} in {out}");
        }
    }

    #[test]
    fn a_module_is_borrowed_as_it_is_written() {
        assert!(expanded(quote!(self.attn, x)).contains("checkpoint_ref"));
        assert!(expanded(quote!(&self.attn, x)).contains("checkpoint_ref"));
        assert!(expanded(quote!(&mut self.attn, x)).contains("checkpoint_mut"));
        assert!(expanded(quote!(verify, crate = ::other, self.attn, x)).contains(":: other :: __private"));
        assert!(expanded(quote!(self.attn, x, mask)).contains("(x , mask)"));
    }

    #[test]
    fn what_is_no_call_is_reported() {
        for input in [quote!(), quote!(keep), quote!(self.attn), quote!(frobnicate = 1, self.attn, x), quote!(a b)] {
            let out = expanded(input);
            assert!(out.contains("CKPT0"), "{out}");
        }
    }
}
