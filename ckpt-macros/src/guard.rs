//! A macro that panics must not take the compiler's other messages with it.
//!
//! No input should make these macros panic. If one does, it is our fault and not the user's: the
//! user's item stays, and one coded error asks for a report.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::{Span, TokenStream};

use crate::diagnostic::{Findings, codes};

/// Runs `expand`; should it panic, gives `item` back beside an error.
pub fn guarded(item: TokenStream, expand: impl FnOnce() -> TokenStream) -> TokenStream {
    catch_unwind(AssertUnwindSafe(expand)).unwrap_or_else(|panic| {
        let what = panic
            .downcast_ref::<&str>()
            .map(|s| (*s).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        let mut findings = Findings::new();
        findings.push_span(
            codes::INTERNAL,
            Span::call_site(),
            format!("ckpt's macro failed on this item: {what}"),
            "this is a fault of ckpt; please report the item it fails on",
        );
        let mut out = item;
        out.extend(findings.into_tokens());
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn a_panic_keeps_the_item_and_says_whose_fault_it_is() {
        let out = guarded(
            quote!(
                struct Mine;
            ),
            || panic!("odd"),
        )
        .to_string();
        assert!(out.starts_with("struct Mine ;"), "{out}");
        assert!(out.contains("CKPT099") && out.contains("odd"), "{out}");
    }
}
