//! What the macros take as it is: the declarations of `tests/ui/pass`, on which nothing may be
//! reported, and which the fuzzer breaks.

use std::{fs, path::Path};

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Item, Meta, visit::Visit};

use crate::{declare, dispatch, mark, sequence};

/// A use of a macro: its name, its options and its item, as text.
#[derive(Clone, Debug)]
pub struct Use {
    /// The file, for messages.
    pub file: String,
    /// The macro's own name, whatever it is imported as.
    pub name: &'static str,
    /// What stands in the attribute's parentheses.
    pub options: String,
    /// The item, or what stands in the macro's braces.
    pub item: String,
}

/// The names that the macros are imported by.
const NAMES: &[(&str, &str)] = &[
    ("checkpointed", "checkpointed"),
    ("region_model", "checkpointed"),
    ("checkpoint", "checkpoint"),
    ("region", "checkpoint"),
    ("checkpoint_sequential", "checkpoint_sequential"),
    ("chain", "checkpoint_sequential"),
];

fn known(path: &syn::Path) -> Option<&'static str> {
    let last = path.segments.last()?.ident.to_string();
    NAMES.iter().find(|(name, _)| *name == last).map(|(_, own)| *own)
}

struct Uses {
    file: String,
    found: Vec<Use>,
}

impl Uses {
    /// The item without the macro's attribute, and with it what stands in the parentheses.
    fn attribute(&mut self, attrs: &[Attribute], without: impl FnOnce(Vec<Attribute>) -> TokenStream) {
        let Some((at, name)) = attrs.iter().enumerate().find_map(|(i, a)| Some((i, known(a.path())?))) else { return };
        let options = match &attrs[at].meta {
            Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        let mut rest = attrs.to_vec();
        rest.remove(at);
        self.found.push(Use { file: self.file.clone(), name, options, item: without(rest).to_string() });
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Struct(s) => {
                self.attribute(&s.attrs, |attrs| syn::ItemStruct { attrs, ..s.clone() }.into_token_stream());
            }
            Item::Impl(i) => self.attribute(&i.attrs, |attrs| syn::ItemImpl { attrs, ..i.clone() }.into_token_stream()),
            Item::Fn(f) => self.attribute(&f.attrs, |attrs| syn::ItemFn { attrs, ..f.clone() }.into_token_stream()),
            _ => {}
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_macro(&mut self, m: &'ast syn::Macro) {
        // `checkpoint!` is another macro than `#[checkpoint]`, and the flow's own where it stands in one.
        if let Some(name @ "checkpoint_sequential") = known(&m.path) {
            self.found.push(Use { file: self.file.clone(), name, options: String::new(), item: m.tokens.to_string() });
        }
    }
}

/// Every use of a macro in the passing files, in the files' order.
pub fn uses() -> Vec<Use> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui/pass");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let parsed = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut uses = Uses { file, found: Vec::new() };
        uses.visit_file(&parsed);
        found.extend(uses.found);
    }
    found
}

/// What a use expands to; a struct's derive with it, which sees the fields before their `#[cfg]`s
/// here.
pub fn expand(options: TokenStream, item: TokenStream, name: &str) -> TokenStream {
    match name {
        "checkpointed" => {
            let out = dispatch::checkpointed(options, item);
            let derived = syn::parse2::<syn::File>(out.clone())
                .ok()
                .and_then(|f| f.items.into_iter().find(|i| matches!(i, Item::Struct(_))))
                .filter(|item| item.to_token_stream().to_string().contains("__CheckpointedStruct"))
                .map(|item| declare::derive(item.into_token_stream()));
            quote!(#out #derived)
        }
        "checkpoint" => mark::attribute(options, item),
        _ => sequence::expand(item),
    }
}

/// The text of each code that a stream has in it.
pub fn codes(tokens: &TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens.clone() {
        match token {
            TokenTree::Group(g) => found.extend(codes(&g.stream())),
            TokenTree::Literal(l) if l.to_string().starts_with("\"CKPT") => found.push(l.to_string()),
            _ => {}
        }
    }
    found
}

#[test]
fn nothing_is_reported_on_them() {
    let uses = uses();
    assert!(uses.len() > 60, "{} uses: the files are not where they were", uses.len());
    let mut reported = Vec::new();
    for u in uses {
        let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
        // What a `#[cfg]` takes away is not there any more when the derive runs.
        if u.item.contains("cfg") && u.item.contains("struct") {
            continue;
        }
        let found = codes(&expand(tokens(&u.options), tokens(&u.item), u.name));
        reported.extend(found.into_iter().map(|text| format!("{}: {text}", u.file)));
    }
    assert!(reported.is_empty(), "{reported:#?}");
}
