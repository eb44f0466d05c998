//! CKPT011: what cannot go into a region. Its body is a function of its own that may run later:
//! values go in by being owned, and it is one body, whatever is configured.

use syn::{Attribute, Expr};

use super::{
    Rule,
    forms::{Found, Scope::Region},
    walk::At,
};
use crate::{
    diagnostic::{Code, codes},
    flow::names::decode,
};

/// The rule.
pub struct Captures;

impl Rule for Captures {
    fn code(&self) -> Code {
        codes::CAPTURES
    }

    fn expr(&self, e: &Expr, at: &At<'_>, found: &mut Found<'_>) {
        let Expr::Path(p) = e else { return };
        let Some(id) = p.path.get_ident().and_then(decode) else {
            return;
        };
        if at.region().is_none() || !Region.holds(at) || !at.comes_in(e) {
            return;
        }
        let (name, region) = (at.show(&p.path), at.region().unwrap_or("the region"));
        if at.values.is_exclusive(id) {
            found.once(
                p,
                format!("`{name}` is an `&mut` from outside of the region `{region}`, which outlives what it borrows"),
                format!("use what `{name}` borrows by its own name in the region, or borrow it inside"),
            );
        } else if let Some(borrowed) = at.values.borrowed_by(id) {
            found.once(
                p,
                format!("the closure `{name}` borrows `{borrowed}` from outside of the region `{region}`"),
                if borrowed == "self" {
                    format!("write what `{name}` does in the region, or make it a method")
                } else {
                    "write `move |..|`, so that it owns what it uses".to_owned()
                },
            );
        }
    }

    fn attribute(&self, a: &Attribute, at: &At<'_>, found: &mut Found<'_>) {
        let conditional = a.path().is_ident("cfg") || a.path().is_ident("cfg_attr");
        if conditional && at.region().is_some() {
            let name = a.path().get_ident().map(ToString::to_string).unwrap_or_default();
            found.push(
                a,
                format!("a statement with `#[{name}]` changes what goes in and out of the region, before which the macro cannot see"),
                "write `if cfg!(..) { .. }`, or put the attribute on the whole region",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tests::{found, found_raw, silent, silent_raw};
    use syn::parse_quote;

    #[test]
    fn what_borrows_cannot_go_in() {
        found_raw(
            codes::CAPTURES,
            parse_quote!({
                let r = &mut v;
                #[checkpoint]
                {
                    r.push(1);
                    r.push(2);
                }
            }),
        );
        found_raw(
            codes::CAPTURES,
            parse_quote!({
                let k = 2;
                let f = |y| y * k;
                #[checkpoint]
                let h = f(x);
            }),
        );
        found_raw(
            codes::CAPTURES,
            parse_quote!({
                let f = |y| self.a.forward(y);
                #[checkpoint]
                let h = f(x);
            }),
        );
    }

    #[test]
    fn conditional_statements_are_found() {
        found(
            codes::CAPTURES,
            parse_quote!({
                #[cfg(test)]
                let y = 1;
            }),
        );
        found(
            codes::CAPTURES,
            parse_quote!({
                #[cfg_attr(test, allow(unused))]
                let y = 1;
            }),
        );
        found(
            codes::CAPTURES,
            parse_quote!({
                match n {
                    #[cfg(test)]
                    0 => {}
                    _ => {}
                }
            }),
        );
    }

    #[test]
    fn look_alikes_are_silent() {
        silent(parse_quote!({
            #[allow(unused)]
            let y = if cfg!(test) { 1 } else { 2 };
            let r = &mut v;
            r.push(1);
        }));
        silent_raw(parse_quote!({
            let k = 2;
            let f = move |y| y * k;
            let g = |y| y + 1;
            #[checkpoint]
            let h = f(g(x));
            #[cfg(test)]
            let z = h;
        }));
    }
}
