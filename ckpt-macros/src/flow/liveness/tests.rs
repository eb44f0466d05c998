use quote::ToTokens;
use syn::parse_quote;

use super::*;
use crate::{
    diagnostic::Findings,
    flow::{Parameters, Returns, aliases, regions, scope, tests::context},
};

struct Analysed {
    text: String,
    /// For each region: inputs (with `*` where they are used again), lent locals, outputs.
    edges: Vec<[String; 3]>,
}

fn analysed(mut block: Block, dissolve: bool) -> Analysed {
    let cx = context();
    let mut findings = Findings::new();
    let marks = regions::read(&mut block, None, Returns::Value, &cx, &mut findings);
    assert_eq!(findings.codes(), []);
    let tensor: syn::Type = parse_quote!(Tensor<S, E, D>);
    let parameters = Parameters {
        modules: Vec::new(),
        values: ["x", "y"]
            .iter()
            .map(|n| {
                let name = Ident::new(n, proc_macro2::Span::call_site());
                (parse_quote!(#name), tensor.clone())
            })
            .collect(),
    };
    let mut locals = scope::resolve(&mut block, &parameters, &cx.roles.dtype);
    aliases::expand(&mut block, &mut locals, &marks, &cx);
    scope::lend(&block, &mut locals);
    let edges = analyse(&mut block, &locals, &marks, dissolve);
    let name = |id: &LocalId| locals.get(*id).name.to_string();
    let names = |ids: &[LocalId]| ids.iter().map(name).collect::<Vec<_>>().join(" ");
    let edges = edges
        .iter()
        .map(|e| {
            let inputs = e.inputs.iter().map(|(id, again)| {
                let mark = if *again { "*" } else { "" };
                format!("{}{mark}", name(id))
            });
            [inputs.collect::<Vec<_>>().join(" "), names(&e.lent), names(&e.outputs)]
        })
        .collect();
    Analysed { text: locals.restore(block.into_token_stream()).to_string(), edges }
}

/// `after` with `c(x)` for a clone of `x`.
fn clones(before: Block, after: Block) {
    let after = after.into_token_stream().to_string();
    assert_eq!(short(&analysed(before, true).text), after);
}

fn short(text: &str) -> String {
    text.replace(":: core :: clone :: Clone :: clone (& ", "c (")
}

#[test]
fn a_straight_line_clones_all_but_the_last() {
    clones(
        parse_quote!({
            let a = x + x;
            let b = f(a, x);
            g(a, b)
        }),
        parse_quote!({
            let a = c(x) + c(x);
            let b = f(c(a), x);
            g(a, b)
        }),
    );
    clones(
        parse_quote!({
            let a = x;
            (x, [a, a], S { a })
        }),
        parse_quote!({
            let a = c(x);
            (x, [c(a), c(a)], S { a })
        }),
    );
    clones(
        parse_quote!({
            let s = S { x };
            (s, x)
        }),
        parse_quote!({
            let s = S { x: c(x) };
            (s, x)
        }),
    );
    clones(parse_quote!({ -x * x }), parse_quote!({ -c(x) * x }));
}

#[test]
fn receivers_are_cloned_where_the_method_is_a_tensors() {
    clones(
        parse_quote!({
            x.relu().mine(x.matmul(y));
            x.mine();
            y.shape();
            y
        }),
        parse_quote!({
            c(x).relu().mine(c(x).matmul(c(y)));
            x.mine();
            y.shape();
            y
        }),
    );
    clones(
        parse_quote!({
            let s = x.shape().0;
            x.try_exp()
        }),
        parse_quote!({
            let s = x.shape().0;
            x.try_exp()
        }),
    );
}

#[test]
fn looking_at_a_value_needs_no_clone() {
    clones(
        parse_quote!({
            f(&x, x.0, x[1], *y, y == z);
            x
        }),
        parse_quote!({
            f(&x, x.0, x[1], *y, y == z);
            x
        }),
    );
    // Moved while borrowed by its neighbour.
    clones(parse_quote!({ f(&x, x) }), parse_quote!({ f(&x, c(x)) }));
}

#[test]
fn branches_join() {
    clones(
        parse_quote!({
            let a = if q { f(x) } else { y };
            a + y
        }),
        parse_quote!({
            let a = if q { f(x) } else { c(y) };
            a + y
        }),
    );
    clones(
        parse_quote!({
            match m {
                Some(v) if g(&x) => v + x,
                Some(v) => v,
                None => x,
            }
        }),
        parse_quote!({
            match m {
                Some(v) if g(&x) => v + x,
                Some(v) => v,
                None => x,
            }
        }),
    );
    clones(
        parse_quote!({
            let m = Some(x);
            match m {
                Some(v) => f(v),
                None => g(),
            }
            h(m)
        }),
        parse_quote!({
            let m = Some(x);
            match c(m) {
                Some(v) => f(v),
                None => g(),
            }
            h(m)
        }),
    );
    clones(
        parse_quote!({
            if let Some(v) = x
                && p(y)
            {
                v
            } else {
                y
            }
        }),
        parse_quote!({
            if let Some(v) = x
                && p(c(y))
            {
                v
            } else {
                y
            }
        }),
    );
}

#[test]
fn a_loop_uses_again_what_it_does_not_make() {
    clones(
        parse_quote!({
            let mut h = y;
            for i in 0..4 {
                h = h + x;
            }
            h
        }),
        parse_quote!({
            let mut h = y;
            for i in 0..4 {
                h = h + c(x);
            }
            h
        }),
    );
    clones(
        parse_quote!({
            loop {
                let t = f(x);
                if g(t) {
                    break t;
                }
            }
        }),
        parse_quote!({
            loop {
                let t = f(c(x));
                if g(c(t)) {
                    break t;
                }
            }
        }),
    );
    clones(
        parse_quote!({
            let mut h = x;
            while p(&h) {
                if q {
                    continue;
                }
                h = f(h, y);
            }
            h
        }),
        parse_quote!({
            let mut h = x;
            while p(&h) {
                if q {
                    continue;
                }
                h = f(h, c(y));
            }
            h
        }),
    );
    clones(
        parse_quote!({
            for v in vs {
                for w in v {
                    f(w, x);
                }
            }
        }),
        parse_quote!({
            for v in vs {
                for w in v {
                    f(w, c(x));
                }
            }
        }),
    );
    // Left at once: the only use there is.
    clones(
        parse_quote!({
            'a: loop {
                loop {
                    break 'a f(x);
                }
            }
        }),
        parse_quote!({
            'a: loop {
                loop {
                    break 'a f(x);
                }
            }
        }),
    );
}

#[test]
fn shadowing_makes_another_local() {
    clones(
        parse_quote!({
            let x = f(x);
            let x = g(x, x);
            {
                let x = h();
                k(x);
            }
            x
        }),
        parse_quote!({
            let x = f(x);
            let x = g(c(x), x);
            {
                let x = h();
                k(x);
            }
            x
        }),
    );
    clones(
        parse_quote!({
            let f = |x| x + x;
            f(x)
        }),
        parse_quote!({
            let f = |x| c(x) + x;
            f(x)
        }),
    );
}

#[test]
fn a_closure_clones_what_is_used_behind_it() {
    clones(
        parse_quote!({
            let f = |t| t + x;
            let g = |t| t + y;
            f(x)
        }),
        parse_quote!({
            let f = |t| t + c(x);
            let g = |t| t + y;
            f(x)
        }),
    );
    clones(
        parse_quote!({
            let f = move |t| t + x;
            f(y)
        }),
        parse_quote!({
            let f = move |t| t + x;
            f(y)
        }),
    );
}

#[test]
fn what_is_copy_or_reborrowed_is_left_alone() {
    clones(
        parse_quote!({
            let n = x.shape().len();
            let k: E = q();
            let m = &mut v();
            f(n, k, m);
            g(n, k, m)
        }),
        parse_quote!({
            let n = x.shape().len();
            let k: E = q();
            let m = &mut v();
            f(n, k, m);
            g(n, k, m)
        }),
    );
}

#[test]
fn macros_are_looked_into() {
    clones(
        parse_quote!({
            let v = vec![x, y];
            assert!(p(x), "{y:?}");
            mine!(x);
            other!(=> x);
            y
        }),
        parse_quote!({
            let v = vec![c(x), c(y)];
            assert!(p(c(x)), "{y:?}");
            mine!(x);
            other!(=> x);
            y
        }),
    );
    clones(
        parse_quote!({
            f(x);
            println!("{x:>w$}");
            g(y);
            println!("{}", y);
        }),
        parse_quote!({
            f(c(x));
            println!("{x:>w$}");
            g(c(y));
            println!("{}", y);
        }),
    );
}

#[test]
fn a_regions_inside_is_a_function_of_its_own() {
    let a = analysed(
        parse_quote!({
            #[checkpoint]
            let h = f(x, y);
            #[checkpoint]
            let g = {
                let t = x;
                t + h
            };
            g + x
        }),
        false,
    );
    assert_eq!(a.edges, [["x* y", "", ""], ["x* h", "", ""]].map(|e| e.map(str::to_owned)));
    assert!(!a.text.contains("Clone"), "{}", a.text);
}

#[test]
fn a_region_hands_back_what_it_changes_and_is_used_behind() {
    let a = analysed(
        parse_quote!({
            let mut h = x;
            let mut k = f();
            let mut v = Vec::new();
            let z;
            #[checkpoint]
            {
                h = h + y;
                k = g(&h);
                v.push(1);
                z = h.len();
            }
            (h, v, z, y)
        }),
        false,
    );
    assert_eq!(a.edges[0], ["y* h v", "", "h v z"].map(str::to_owned));
}

#[test]
fn a_cut_loop_carries_what_goes_round() {
    let a = analysed(
        parse_quote!({
            let mut h = x;
            let mut t = y;
            #[checkpoint(each)]
            for b in &self.blocks {
                t = f(t);
                h = b.forward(h) + y;
            }
            h
        }),
        false,
    );
    // `t` is carried from one iteration to the next though nothing uses it behind the loop.
    assert_eq!(a.edges[0], ["y h t", "", "h t"].map(str::to_owned));
    let bare = analysed(
        parse_quote!({
            let mut h = x;
            for b in &self.blocks {
                #[checkpoint]
                let t = b.forward(h);
                h = t + h;
            }
            h
        }),
        false,
    );
    assert_eq!(bare.edges[0], ["h*", "b", ""].map(str::to_owned));
}

#[test]
fn a_nested_region_gets_its_edges_from_the_outer_body() {
    let a = analysed(
        parse_quote!({
            #[checkpoint]
            let h = {
                #[checkpoint]
                let a = f(x);
                a + x
            };
            h + x
        }),
        false,
    );
    assert_eq!(a.edges[0], ["x*", "", ""].map(str::to_owned));
    assert_eq!(a.edges[1], ["x*", "", ""].map(str::to_owned));
}
