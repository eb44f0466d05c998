//! The marks of a body: `#[checkpoint]` on a `let`, a block or a `for`, and the two expression
//! macros, which become marked blocks here so that one path carries them all.

use proc_macro2::{Ident, Span};
use quote::{format_ident, quote};
use syn::{
    Attribute, Block, Expr, ExprBlock, Macro, Pat, Stmt, Token,
    parse::{ParseStream, Parser},
    parse_quote,
    punctuated::Punctuated,
    spanned::Spanned,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

use super::{Context, Returns, arguments, places};
use crate::{
    diagnostic::{Findings, codes},
    options::{self, Kind, Options, Segments},
};

const MARK: &str = "__ckpt_region_";

/// A marked part of a body.
#[derive(Clone, Debug)]
pub struct Region {
    /// What its mark says.
    pub options: Options,
    /// Its name, unless the options give another.
    pub name: String,
    /// Where it is marked.
    pub span: Span,
}

impl Region {
    /// Whether its layers run again in the backward pass.
    pub fn recomputes(&self) -> bool {
        self.options.kind == Kind::Recompute
    }

    /// How a marked loop is cut, if it is.
    pub fn segments(&self) -> Option<&Segments> {
        self.options.segments.as_ref()
    }
}

/// The number of the region that these attributes mark.
pub fn region_of(attrs: &[Attribute]) -> Option<usize> {
    attrs.iter().find_map(|a| {
        let name = a.path().get_ident()?.to_string();
        name.strip_prefix(MARK)?.parse().ok()
    })
}

/// Removes the internal mark.
pub fn unmark(attrs: &mut Vec<Attribute>) {
    attrs.retain(|a| region_of(std::slice::from_ref(a)).is_none());
}

/// Whether an attribute is the user's mark.
pub fn is_mark(a: &Attribute) -> bool {
    a.path().segments.last().is_some_and(|s| s.ident == "checkpoint")
}

/// Reads the marks of `block`, and leaves at each the number of its region. Where `whole` is given,
/// all of the block is a region too.
pub fn read(
    block: &mut Block,
    whole: Option<&Options>,
    returns: Returns,
    cx: &Context,
    findings: &mut Findings,
) -> Vec<Region> {
    let mut reader = Reader { cx, findings, regions: Vec::new() };
    reader.visit_block_mut(block);
    let mut regions = reader.regions;
    if let Some(options) = whole {
        regions.push(Region { options: options.clone(), name: cx.owner.clone(), span: Span::call_site() });
        wrap(block, regions.len() - 1, returns, cx);
    }
    regions
}

/// Makes all of `block` the region `id`. What it returns it then returns from the region.
fn wrap(block: &mut Block, id: usize, returns: Returns, cx: &Context) {
    let mut body = std::mem::replace(block, parse_quote!({}));
    let mut leaving = Leaving(false);
    leaving.visit_block_mut(&mut body);
    let label: Option<syn::Label> = leaving.0.then(|| parse_quote!('__ckpt_body:));
    *block = if returns == Returns::Result {
        let (rt, d) = (&cx.rt, &cx.roles.device);
        let inner: Block = parse_quote!({
            let __ckpt_result: ::core::result::Result<_, <#d as #rt::__private::dfdx::tensor::HasErr>::Err> =
                #label #body;
            __ckpt_result?
        });
        let region = marked(id, inner);
        parse_quote!({ ::core::result::Result::Ok(#region) })
    } else {
        let region = Expr::Block(ExprBlock { attrs: vec![mark(id)], label, block: body });
        Block { brace_token: syn::token::Brace::default(), stmts: vec![Stmt::Expr(region, None)] }
    };
}

/// Turns `return`s of a body into `break`s of the block that it becomes.
struct Leaving(bool);

impl VisitMut for Leaving {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        visit_mut::visit_expr_mut(self, e);
        if let Expr::Return(r) = e {
            let value = &r.expr;
            *e = parse_quote!(break '__ckpt_body #value);
            self.0 = true;
        }
    }

    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn mark(id: usize) -> Attribute {
    let name = format_ident!("{MARK}{id}");
    parse_quote!(#[#name])
}

fn marked(id: usize, block: Block) -> Expr {
    Expr::Block(ExprBlock { attrs: vec![mark(id)], label: None, block })
}

struct Reader<'a> {
    cx: &'a Context,
    findings: &'a mut Findings,
    regions: Vec<Region>,
}

impl Reader<'_> {
    fn add(&mut self, options: Options, base: &str, span: Span) -> usize {
        let name = format!("{}.{base}", self.cx.owner);
        let again = |n: &str| n == name || n.strip_prefix(&name).is_some_and(|rest| rest.starts_with('#'));
        let same = self.regions.iter().filter(|r| again(&r.name)).count();
        let name = if same == 0 { name } else { format!("{name}#{}", same + 1) };
        self.regions.push(Region { options, name, span });
        self.regions.len() - 1
    }

    /// Reads the mark among `attrs`, if there is one.
    fn take(&mut self, attrs: &mut Vec<Attribute>, words: options::Words, base: &str) {
        let Some(at) = attrs.iter().position(is_mark) else {
            return;
        };
        let options = Options::of_attribute(&attrs[at], words, self.findings);
        let span = attrs[at].path().span();
        attrs[at] = mark(self.add(options, base, span));
        if let Some(second) = attrs.iter().find(|a| is_mark(a)) {
            self.findings.push(
                codes::OPTION_TWICE,
                second,
                "this is marked twice",
                "put the options of both into one mark",
            );
            attrs.retain(|a| !is_mark(a));
        }
    }

    /// A region around the call of one module, or none where the arguments are not such.
    fn module_call(&mut self, mac: &Macro) -> Option<Expr> {
        let (mut options, mut list) = self.arguments(mac, options::EXPRESSION)?;
        if list.len() < 2 {
            self.findings.push(
                codes::SYNTAX,
                &mac.path,
                "a checkpointed call names a module and its input",
                "write `checkpoint!(self.attn, x)`",
            );
            return None;
        }
        let module = list.remove(0);
        let name = self.module_name(&module)?;
        options.segments = None;
        let (lets, inputs): (Vec<_>, Vec<_>) = list
            .into_iter()
            .enumerate()
            .map(|(i, input)| match input {
                Expr::Path(_) | Expr::Lit(_) => (None, input),
                input => {
                    let x = format_ident!("__ckpt_x{i}");
                    let bind: Stmt = parse_quote!(let #x = #input;);
                    (Some(bind), parse_quote!(#x))
                }
            })
            .unzip();
        let module = places::bare(&module);
        let call: Expr = parse_quote!(#module.forward(#(#inputs),*));
        let region = marked(self.add(options, &name, mac.path.span()), parse_quote!({ #call }));
        let lets: Vec<_> = lets.into_iter().flatten().collect();
        Some(if lets.is_empty() { region } else { parse_quote!({ #(#lets)* #region }) })
    }

    /// One region a segment of a written sequence; the last one is kept, since its recompute would
    /// come right after its first pass.
    fn sequence(&mut self, mac: &Macro) -> Option<Expr> {
        let (options, mut list) = self.arguments(mac, options::SEQUENCE)?;
        if list.len() < 2 {
            self.findings.push(
                codes::SYNTAX,
                &mac.path,
                "a checkpointed sequence names an input and its layers",
                "write `checkpoint_sequential!(segments = 2, x, self.a, self.b, self.c)`",
            );
            return None;
        }
        let input = list.remove(0);
        let names: Option<Vec<_>> = list.iter().map(|m| self.module_name(m)).collect();
        let names = names?;
        let n = list.len();
        let k = match &options.segments {
            Some(Segments::Each(_)) => n,
            Some(Segments::Count(k, span)) => {
                if *k > n {
                    self.findings.push_span(
                        codes::SEGMENTS,
                        *span,
                        format!("{k} segments of {n} layers"),
                        format!("write at most `segments = {n}`"),
                    );
                }
                (*k).clamp(1, n)
            }
            None if options.kind == Kind::Recompute => {
                self.findings.push(
                    codes::SEGMENTS,
                    &mac.path,
                    "it is not said how the sequence is cut",
                    "write `segments = 2`, or `each` for a region of every layer",
                );
                1
            }
            None => 1,
        };
        let mut statements: Vec<Stmt> = vec![parse_quote!(let __ckpt_x = #input;)];
        let mut start = 0;
        for segment in 0..k {
            let end = start + n / k + usize::from(segment < n % k);
            let mut call: Expr = parse_quote!(__ckpt_x);
            for module in &list[start..end] {
                let module = places::bare(module);
                call = parse_quote!(#module.forward(#call));
            }
            let mut options = Options { segments: None, ..options.clone() };
            if segment + 1 == k && options.kind == Kind::Recompute {
                options.kind = Kind::Keep;
                options.verify = None;
            }
            let name =
                if end - start == 1 { names[start].clone() } else { format!("{}..{}", names[start], names[end - 1]) };
            let region = marked(self.add(options, &name, mac.path.span()), parse_quote!({ #call }));
            if segment + 1 == k {
                statements.push(Stmt::Expr(region, None));
            } else {
                statements.push(parse_quote!(let __ckpt_x = #region;));
            }
            start = end;
        }
        Some(parse_quote!({ #(#statements)* }))
    }

    fn arguments(&mut self, mac: &Macro, words: options::Words) -> Option<(Options, Vec<Expr>)> {
        let findings = &mut *self.findings;
        let parser = |input: ParseStream<'_>| {
            let options = Options::parse(input, words, true, findings)?;
            if input.peek(Token![;]) {
                input.parse::<Token![;]>()?;
            }
            let list = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
            Ok((options, list.into_iter().collect()))
        };
        match parser.parse2(mac.tokens.clone()) {
            Ok(read) => Some(read),
            Err(e) => {
                self.findings.push_syn(&e);
                None
            }
        }
    }

    fn module_name(&mut self, module: &Expr) -> Option<String> {
        let name = match places::bare(module) {
            Expr::Field(f) => match &f.member {
                syn::Member::Named(n) => Some(n.to_string()),
                syn::Member::Unnamed(i) => Some(i.index.to_string()),
            },
            Expr::Path(p) => p.path.get_ident().map(Ident::to_string),
            Expr::Index(i) => places::field_of_self(&i.expr).map(|m| quote!(#m).to_string()),
            _ => None,
        };
        if name.is_none() {
            self.findings.push(
                codes::SYNTAX,
                module,
                "this is not the place of a module",
                "name a field, as in `checkpoint!(self.attn, x)`",
            );
        }
        name
    }

    /// The marked block for an expression macro; `tried` when a `?` stood behind it.
    fn expression(&mut self, mac: &Macro, tried: bool) -> Option<Expr> {
        let region = if arguments::is(mac, "checkpoint") {
            self.module_call(mac)
        } else if arguments::is(mac, "checkpoint_sequential") {
            self.sequence(mac)
        } else {
            return None;
        };
        let region = region.unwrap_or_else(|| parse_quote!(::core::unreachable!()));
        if tried {
            return Some(region);
        }
        let (rt, d) = (&self.cx.rt, &self.cx.roles.device);
        Some(parse_quote!(
            ::core::result::Result::<_, <#d as #rt::__private::dfdx::tensor::HasErr>::Err>::Ok(#region)
        ))
    }
}

impl VisitMut for Reader<'_> {
    fn visit_local_mut(&mut self, l: &mut syn::Local) {
        if l.init.is_some() {
            let names = names(&l.pat);
            self.take(&mut l.attrs, options::STATEMENT, &names);
        }
        visit_mut::visit_local_mut(self, l);
    }

    fn visit_expr_block_mut(&mut self, b: &mut ExprBlock) {
        self.take(&mut b.attrs, options::STATEMENT, "block");
        visit_mut::visit_expr_block_mut(self, b);
    }

    fn visit_expr_for_loop_mut(&mut self, f: &mut syn::ExprForLoop) {
        let name = match loop_source(&f.expr).and_then(places::field_of_self) {
            Some(syn::Member::Named(n)) => n.to_string(),
            Some(syn::Member::Unnamed(i)) => i.index.to_string(),
            None => "loop".to_owned(),
        };
        self.take(&mut f.attrs, options::LOOP, &name);
        if let Some(id) = region_of(&f.attrs)
            && self.regions[id].segments().is_some()
            && loop_source(&f.expr).is_none()
        {
            self.findings.push(
                codes::MISPLACED_MARK,
                &f.expr,
                "only a loop over the modules themselves can be cut into segments",
                "write `for block in &self.blocks`, and count in a variable of your own where a number is needed",
            );
            self.regions[id].options.segments = None;
        }
        visit_mut::visit_expr_for_loop_mut(self, f);
    }

    fn visit_stmt_mut(&mut self, s: &mut Stmt) {
        if let Stmt::Macro(m) = s
            && let Some(expression) = self.expression(&m.mac, false)
        {
            *s = Stmt::Expr(expression, m.semi_token);
        }
        visit_mut::visit_stmt_mut(self, s);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        let replacement = match e {
            Expr::Macro(m) => self.expression(&m.mac, false),
            Expr::Try(t) => match &*t.expr {
                Expr::Macro(m) => self.expression(&m.mac, true),
                _ => None,
            },
            _ => None,
        };
        if let Some(new) = replacement {
            *e = new;
        }
        visit_mut::visit_expr_mut(self, e);
    }

    fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
        for a in attrs.iter().filter(|a| is_mark(a)) {
            self.findings.push(
                codes::MISPLACED_MARK,
                a,
                "a region cannot be made of this",
                "mark a `let` with a value, a block, or a `for` over modules; put anything else in a block of its own",
            );
        }
        attrs.retain(|a| !is_mark(a));
    }

    // An item inside a body is its own.
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The modules that a plain loop runs over: `self.blocks` of `&self.blocks`, `self.blocks.iter()`.
pub fn loop_source(e: &Expr) -> Option<&Expr> {
    match e {
        Expr::Paren(p) => loop_source(&p.expr),
        Expr::Group(g) => loop_source(&g.expr),
        Expr::Reference(r) => Some(&r.expr),
        Expr::MethodCall(m) if m.method == "iter" && m.args.is_empty() => Some(&m.receiver),
        _ => None,
    }
}

fn names(pat: &Pat) -> String {
    struct Names(Vec<String>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
            self.0.push(p.ident.to_string());
        }
    }
    let mut n = Names(Vec::new());
    n.visit_pat(pat);
    if n.0.is_empty() { "let".to_owned() } else { n.0.join("_") }
}

#[cfg(test)]
mod tests;
