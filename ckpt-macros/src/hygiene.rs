//! Names that emitted code makes up, and what it asks of the names that users wrote.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;

/// A name at the macro's call site.
///
/// Local variables and `self` are hygienic even where types are not: one that is written into
/// tokens spanned at the user's must keep this span, or it is another variable.
pub fn call_site(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// The `n`th name of a family that no user writes.
pub fn numbered(prefix: &str, n: usize) -> Ident {
    call_site(&format!("{prefix}{n}"))
}

/// A name as users say it: `r#type` is "type".
pub fn spoken(name: &Ident) -> String {
    name.unraw().to_string()
}

/// Whether `name` occurs in `tokens` other than as the tail of a path.
pub fn mentions(tokens: &impl ToTokens, name: &Ident) -> bool {
    fn scan(tokens: TokenStream, name: &Ident) -> bool {
        let mut colons = 0;
        for token in tokens {
            match &token {
                TokenTree::Ident(i) if i == name && colons < 2 => return true,
                TokenTree::Group(g) if scan(g.stream(), name) => return true,
                _ => {}
            }
            match token {
                TokenTree::Punct(p) if p.as_char() == ':' => colons += 1,
                _ => colons = 0,
            }
        }
        false
    }
    scan(tokens.to_token_stream(), name)
}

/// A type as it may stand before an `as`, a `,` or a `:` — `A + B` in parentheses.
pub fn as_operand(ty: syn::Type) -> syn::Type {
    match ty {
        ty @ (syn::Type::TraitObject(_) | syn::Type::ImplTrait(_)) => syn::parse_quote!((#ty)),
        ty => ty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn a_name_is_found_in_groups_but_not_behind_a_path() {
        let f = call_site("F");
        assert!(mentions(&quote!(Residual<(F, ReLU)>), &f));
        assert!(mentions(&quote!(F::Built), &f));
        assert!(!mentions(&quote!(Roles::F), &f));
        assert!(!mentions(&quote!(Fill<E>), &f));
    }
}
