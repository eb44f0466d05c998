//! Regions in training: what crosses their edges, and their bodies as functions that capture
//! nothing. The first argument of a body shadows `__ckpt_tape` with the region's own tape.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Expr, Pat, Stmt, Token,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

use super::{
    Access, Failure,
    names::{LocalId, encode},
    places::{self, Root},
    regions::{self, region_of},
    rewrite::{Me, Writer, at, here, parameter},
    scope::bound,
    selfuse::SelfUse,
};

/// What a region hands out.
struct Outputs {
    /// Expressions at the end of its body.
    inside: Vec<TokenStream>,
}

impl Writer<'_> {
    /// Walks a region's inside and writes the call that runs it.
    fn region(
        &mut self,
        id: usize,
        uses: &SelfUse,
        outputs: Outputs,
        inside: impl FnOnce(&mut Self) -> TokenStream,
    ) -> TokenStream {
        let span = at(self.body.regions[id].span);
        let (rt, edges) = (self.rt(span), &self.edges[id]);
        let (lends, parameters) = self.lends(uses, &edges.lent);
        let inputs: Vec<_> = edges.inputs.iter().map(|(x, again)| self.live_in(*x, *again)).collect();
        let names: Vec<_> = edges.inputs.iter().map(|(x, _)| self.name(*x)).collect();
        let unwrap = self.unwrap(edges.inputs.iter().map(|(x, _)| *x));
        let declare = self.declare(&edges.declared);
        let region = &self.body.regions[id];
        let site = region.options.site(&rt, &region.name);
        let body = self.inside(id, uses, inside);
        let result = self.live_outs(span, outputs.inside);
        let (lends, parameters) = (nested(span, &lends), nested(span, &parameters));
        let (inputs, names) = (nested(span, &inputs), nested(span, &names));
        self.value_of(quote_spanned!(span=>
            #rt::__private::region(
                #site, __ckpt_tape, #lends, #inputs,
                |__ckpt_tape, #parameters, #names| { #unwrap #declare #body ::core::result::Result::Ok(#result) },
            )
        ))
    }

    /// Runs `inside` with the walk set for a region's body.
    fn inside<T>(&mut self, id: usize, uses: &SelfUse, inside: impl FnOnce(&mut Self) -> T) -> T {
        let saved = (self.me, self.replayed, self.failure, self.returned);
        self.me = if uses.whole { Me::Whole } else { Me::Fields };
        self.replayed |= self.body.regions[id].recomputes();
        self.failure = Failure::Returned;
        self.returned = None;
        let out = inside(self);
        (self.me, self.replayed, self.failure, self.returned) = saved;
        out
    }

    /// The parameters of a region: what is lent, and the names that the body knows it by.
    fn lends(&self, uses: &SelfUse, lent: &[LocalId]) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let (e, d) = (&self.cx.roles.dtype, &self.cx.roles.device);
        let lend = |span: Span, place: TokenStream| {
            let rt = self.rt(span);
            quote_spanned!(span=> #rt::__private::lend!(#e, #d, #place))
        };
        let (mut lends, mut names) = (Vec::new(), Vec::new());
        let itself = &self.body.itself;
        if uses.whole {
            let place = match self.me {
                Me::Itself => quote!(&mut *#itself),
                _ => quote!(&mut *__ckpt_self),
            };
            lends.push(lend(here(itself), place));
            names.push(quote!(__ckpt_self));
        } else {
            for field in &uses.fields {
                let name = parameter(field);
                let place = match self.me {
                    Me::Itself => quote!(&mut #itself.#field),
                    Me::Fields => quote!(&mut *#name),
                    Me::Whole => quote!(&mut __ckpt_self.#field),
                };
                lends.push(lend(here(field), place));
                names.push(quote!(#name));
            }
        }
        for id in lent {
            let name = self.name(*id);
            let local = self.body.locals.get(*id);
            let place = match local.lent {
                Some(Access::Exclusive) => quote!(&mut *#name),
                _ => quote!(&*#name),
            };
            lends.push(lend(here(&local.name), place));
            names.push(name);
        }
        (lends, names)
    }

    fn name(&self, id: LocalId) -> TokenStream {
        encode(id, self.body.locals.get(id).name.span()).into_token_stream()
    }

    fn live(&self, value: &TokenStream) -> TokenStream {
        let span = here(value);
        let (rt, e, d) = (self.rt(span), &self.cx.roles.dtype, &self.cx.roles.device);
        quote_spanned!(span=> #rt::__private::live!(#e, #d, #value))
    }

    fn live_in(&self, id: LocalId, again: bool) -> TokenStream {
        let name = self.name(id);
        self.live(&if again && !self.body.locals.get(id).copy {
            quote_spanned!(here(&name)=> ::core::clone::Clone::clone(&#name))
        } else {
            name
        })
    }

    fn live_outs(&self, span: Span, values: Vec<TokenStream>) -> TokenStream {
        let mut values: Vec<_> = values.iter().map(|v| self.live(v)).collect();
        match values.len() {
            1 => values.remove(0),
            _ => nested(span, &values),
        }
    }

    fn unwrap(&self, ids: impl Iterator<Item = LocalId>) -> TokenStream {
        ids.map(|id| {
            let name = self.name(id);
            let mutable = self.body.locals.get(id).mutable.then(|| quote!(mut));
            quote!(let #mutable #name = #name.0;)
        })
        .collect()
    }

    fn declare(&self, ids: &[LocalId]) -> TokenStream {
        ids.iter()
            .map(|id| {
                let name = self.name(*id);
                quote!(let mut #name;)
            })
            .collect()
    }

    /// A region as an expression: assigns its outputs and evaluates to its own value, if it has one.
    fn deliver(&self, region: TokenStream, value: &[TokenStream], outputs: &[LocalId]) -> TokenStream {
        let assigned: Vec<_> = outputs.iter().map(|id| self.name(*id)).collect();
        match (value.len(), &assigned[..]) {
            (0, []) => region,
            (1, []) => quote!(#region.0),
            (0, [one]) => quote!(#one = #region.0),
            _ => {
                let all: Vec<_> = (0..value.len() + assigned.len()).map(|i| format_ident!("__ckpt_out{i}")).collect();
                let pattern = nested(Span::call_site(), &all.iter().map(ToTokens::to_token_stream).collect::<Vec<_>>());
                let (own, outer) = all.split_at(value.len());
                let own = match own {
                    [] => TokenStream::new(),
                    [one] => quote!(#one.0),
                    several => quote!((#(#several.0),*)),
                };
                quote!({ let #pattern = #region; #(#assigned = #outer.0;)* #own })
            }
        }
    }

    fn outputs(&self, id: usize, value: &[TokenStream]) -> Outputs {
        let mut inside = value.to_vec();
        inside.extend(self.edges[id].outputs.iter().map(|id| self.name(*id)));
        Outputs { inside }
    }

    pub(super) fn let_region(&mut self, id: usize, l: &mut syn::Local) -> Stmt {
        let ids = bound(&l.pat);
        let names: Vec<_> = ids.iter().map(|id| self.name(*id)).collect();
        let uses = SelfUse::of(self.cx, |f| f.visit_local(l));
        let mut inner = l.clone();
        regions::unmark(&mut inner.attrs);
        Unmut.visit_pat_mut(&mut inner.pat);
        let outputs = self.outputs(id, &names);
        let region = self.region(id, &uses, outputs, |w| {
            w.visit_local_mut(&mut inner);
            inner.to_token_stream()
        });
        let value = self.deliver(region, &names, &self.edges[id].outputs);
        if ids.is_empty() {
            return Stmt::Expr(Expr::Verbatim(value), Some(<Token![;]>::default()));
        }
        let bind: Vec<_> = ids
            .iter()
            .zip(&names)
            .map(|(id, name)| {
                let mutable = self.body.locals.get(*id).mutable.then(|| quote!(mut));
                quote!(#mutable #name)
            })
            .collect();
        let pattern = match &bind[..] {
            [one] => quote!(#one),
            several => quote!((#(#several),*)),
        };
        let ty = match &l.pat {
            Pat::Type(t) if matches!(*t.pat, Pat::Ident(_)) => {
                let mut ty = (*t.ty).clone();
                self.visit_type_mut(&mut ty);
                Some(quote!(: #ty))
            }
            _ => None,
        };
        let attrs = l.attrs.iter().filter(|a| region_of(std::slice::from_ref(a)).is_none());
        Stmt::Expr(Expr::Verbatim(quote!(#(#attrs)* let #pattern #ty = #value)), Some(l.semi_token))
    }

    pub(super) fn block_region(&mut self, id: usize, b: &mut syn::ExprBlock) -> TokenStream {
        let uses = SelfUse::of(self.cx, |f| f.visit_expr_block(b));
        let has_value = match b.block.stmts.last() {
            Some(Stmt::Expr(_, semi)) => semi.is_none(),
            Some(Stmt::Macro(m)) => m.semi_token.is_none(),
            _ => false,
        };
        let value: &[TokenStream] = if has_value { &[quote!(__ckpt_value)] } else { &[] };
        let mut inner = b.clone();
        regions::unmark(&mut inner.attrs);
        let outputs = self.outputs(id, value);
        let region = self.region(id, &uses, outputs, |w| {
            visit_mut::visit_expr_block_mut(w, &mut inner);
            if has_value { quote!(let __ckpt_value = #inner;) } else { inner.into_token_stream() }
        });
        self.deliver(region, value, &self.edges[id].outputs)
    }

    pub(super) fn loop_region(&mut self, id: usize, f: &mut syn::ExprForLoop) -> TokenStream {
        regions::unmark(&mut f.attrs);
        if let Some(segments) = self.body.regions[id].segments() {
            let segments = segments.to_value(&self.cx.rt);
            return self.segmented(id, f, &segments);
        }
        let uses = SelfUse::of(self.cx, |u| u.visit_expr_for_loop(f));
        let outputs = self.outputs(id, &[]);
        let region = self.region(id, &uses, outputs, |w| {
            w.for_loop(f);
            f.to_token_stream()
        });
        self.deliver(region, &[], &self.edges[id].outputs)
    }

    fn segmented(&mut self, id: usize, f: &mut syn::ExprForLoop, segments: &TokenStream) -> TokenStream {
        let uses = SelfUse::of(self.cx, |u| u.visit_block(&f.body));
        let Some(source) = regions::loop_source(&f.expr).cloned() else {
            return TokenStream::new();
        };
        let slice = self.borrow(places::bare(&source), Access::Exclusive);
        let edges = &self.edges[id];
        // The modules themselves are lent by the loop.
        let from = match places::root(&source) {
            Some(Root::Local(id)) => Some(id),
            _ => None,
        };
        let lent: Vec<_> = edges.lent.iter().copied().filter(|l| Some(*l) != from).collect();
        let (lends, parameters) = self.lends(&uses, &lent);
        let carried = &edges.outputs;
        let constants: Vec<_> = edges.inputs.iter().filter(|(x, _)| !carried.contains(x)).collect();
        let carry_in: Vec<_> = carried.iter().map(|x| self.live_in(*x, false)).collect();
        let carried_names: Vec<_> = carried.iter().map(|x| self.name(*x)).collect();
        let constants_in: Vec<_> = constants.iter().map(|(x, again)| self.live_in(*x, *again)).collect();
        let constant_names: Vec<_> = constants.iter().map(|(x, _)| self.name(*x)).collect();
        let unwrap = self.unwrap(carried.iter().copied().chain(constants.iter().map(|(x, _)| *x)));
        let declare = self.declare(&edges.declared);
        let carry_out: Vec<_> = carried_names.iter().map(|x| self.live(x)).collect();
        let region = &self.body.regions[id];
        let span = at(region.span);
        let rt = self.rt(span);
        let site = region.options.site(&rt, &region.name);
        let label = f.label.clone();
        let body = self.inside(id, &uses, |w| {
            let mut body = f.body.clone();
            let mut pat = (*f.pat).clone();
            w.visit_block_mut(&mut body);
            w.visit_pat_mut(&mut pat);
            quote!(#label for #pat in __ckpt_blocks #body)
        });
        let (lends, parameters) = (nested(span, &lends), nested(span, &parameters));
        let (carry_in, carry_out) = (nested(span, &carry_in), nested(span, &carry_out));
        let (constants_in, constant_names) = (nested(span, &constants_in), nested(span, &constant_names));
        let carried_pattern = nested(span, &carried_names);
        let call = self.value_of(quote_spanned!(span=>
            #rt::__private::segmented_loop(
                #site, #segments, __ckpt_tape, #rt::__private::blocks_slice_mut(#slice),
                #lends, #carry_in, #constants_in,
                |__ckpt_tape, __ckpt_blocks, #parameters, #carried_pattern, #constant_names| {
                    #unwrap #declare #body ::core::result::Result::Ok(#carry_out)
                },
            )
        ));
        let outs: Vec<_> =
            (0..carried_names.len()).map(|i| format_ident!("__ckpt_out{i}").into_token_stream()).collect();
        let pattern = nested(span, &outs);
        quote!({ let #pattern = #call; #(#carried_names = #outs.0;)* })
    }
}

/// Inside a region a `let` binds what goes out at once: nothing there needs its `mut`.
struct Unmut;

impl VisitMut for Unmut {
    fn visit_pat_ident_mut(&mut self, p: &mut syn::PatIdent) {
        if p.by_ref.is_none() {
            p.mutability = None;
        }
        visit_mut::visit_pat_ident_mut(self, p);
    }
}

/// A tuple of `items`; the run time takes up to twelve at a time, so longer ones are nested.
fn nested(span: Span, items: &[TokenStream]) -> TokenStream {
    const MOST: usize = 12;
    if items.len() <= MOST {
        return match items {
            [] => quote_spanned!(span=> ()),
            items => quote_spanned!(span=> (#(#items,)*)),
        };
    }
    let size = items.len().div_ceil(MOST).max(2);
    let groups: Vec<_> = items.chunks(size).map(|c| nested(span, c)).collect();
    nested(span, &groups)
}
