//! `#[derive(Boundary)]`: a struct or enum crosses a region's edge by its fields.
//!
//! [`declaration`] reads the type and finds its dtype, device and tape; [`emit`] writes the impls.

mod declaration;
mod emit;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::diagnostic::Findings;
use declaration::Declaration;

/// The derive.
pub fn derive(item: TokenStream) -> TokenStream {
    let mut findings = Findings::new();
    let declaration = match syn::parse2(item) {
        Ok(input) => Declaration::read(input, &mut findings),
        Err(e) => {
            findings.push_syn(&e);
            None
        }
    };
    let sound = findings.is_empty();
    let mut out = findings.into_tokens();
    if let Some(declaration) = declaration.filter(|_| sound) {
        out.extend(emit::impls(&declaration));
    }
    out
}
