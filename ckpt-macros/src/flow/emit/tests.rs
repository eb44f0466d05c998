use super::*;

fn expanded(item: TokenStream) -> String {
    expand_impl(TokenStream::new(), syn::parse2(item.clone()).unwrap_or_else(|e| panic!("{e}: {item}"))).to_string()
}

fn in_impl(items: TokenStream) -> String {
    expanded(quote!(impl<const M: usize, E: Dtype, D: Device<E>> Net<M, E, D> { #items }))
}

fn forward(body: TokenStream) -> String {
    in_impl(quote!(fn forward(&self, x: Tensor<Rank1<M>, E, D>) -> Tensor<Rank1<M>, E, D> { #body }))
}

#[test]
fn misuse_is_reported_beside_an_item_that_still_parses() {
    let mark = quote!(#[checkpoint] let h = self.a.forward(x); h);
    let sig = quote!(x: Tensor<Rank1<M>, E, D>);
    let table: &[(&str, String)] = &[
        ("CKPT024", forward(quote!(self.a.forward(x)))),
        ("CKPT002", in_impl(quote!(fn forward(&mut self, #sig) -> Tensor<Rank1<M>, E, D> { #mark }))),
        ("CKPT028", in_impl(quote!(fn run(&self, #sig) -> Tensor<Rank1<M>, E, D> { #mark }))),
        ("CKPT028", in_impl(quote!(fn forward(&self, x: f32) -> f32 { #mark }))),
        ("CKPT026", in_impl(quote!(#[checkpoint] fn forward(&self, #sig) -> Tensor<Rank1<M>, E, D> { #mark }))),
        (
            "CKPT026",
            expanded(quote!(
                impl<E: Dtype, D: Device<E>> Module<X> for Net<E, D> {}
            )),
        ),
        ("CKPT027", expanded(quote!(impl Net { fn forward(&self, x: X) -> X { x } }))),
        (
            "CKPT002",
            in_impl(quote!(
                fn forward(&self, #sig) -> Tensor<Rank1<M>, E, D> { self.count(); #mark }
                fn count(&mut self) { self.n += 1; }
            )),
        ),
    ];
    for (code, text) in table {
        assert!(text.contains(code), "{code} in {text}");
        syn::parse_str::<syn::File>(text).expect("the expansion parses");
    }
}

#[test]
fn odd_bodies_expand_to_what_parses() {
    let bodies = [
        quote!(
            #[checkpoint]
            {}
        ),
        quote!(#[checkpoint] let _ = x; x),
        quote!(#[checkpoint] for b in &self.b {} x),
        quote!(#[checkpoint(each)] for b in self.b.iter() { continue } x),
        quote!(#[checkpoint] let (a, mut b, ..) = self.f(x, x); a + b),
        quote!(#[checkpoint] let Some(a) = x else { panic!() }; a),
        quote!(#[checkpoint] let h = match x { y @ (1 | 2) if y > 1 => y, ref z => *z, }; h),
        quote!(let h = #[checkpoint] { x }; return h;),
        quote!(
            #[checkpoint]
            {
                'a: { break 'a x }
            }
        ),
        quote!(let f = |a, (b, c): (X, Y)| async move { a + b + c + x }; #[checkpoint] { f(x) }),
        quote! { fn inner(x: X) -> X { x } const N: usize = 1; #[checkpoint] { inner(x) } },
        quote!(
            #[checkpoint]
            {
                m! { x => self.f }
            }
        ),
        quote!(
            #[checkpoint]
            {
                let S { a, b: _, .. } = x;
                S { a, ..y }
            }
        ),
        quote!(checkpoint!(self.a, x + x).unwrap() + checkpoint_sequential!(each, x, self.a, self.b).unwrap()),
        quote!(#[checkpoint(allow(unsafe_code))] { unsafe { x } }; x[0..1]; &raw const x; (self.f)(x)),
        quote!(#[checkpoint] { self } ; self.0.1(x)),
        quote!(if let Some(l) = &self.l
            && let Some(m) = self.m.as_ref()
        {
            #[checkpoint]
            {
                l.forward(m.forward(x))
            }
        } else {
            x
        }),
        quote!(while let Some(y) = x.next() { #[checkpoint] { y; } } loop { break x }),
    ];
    for body in bodies {
        let text = forward(body.clone());
        assert!(!text.contains("CKPT0"), "{body}: {text}");
        assert!(!text.contains("__ckpt_local_") && !text.contains("__ckpt_region_"), "{body}: {text}");
        syn::parse_str::<syn::File>(&text).unwrap_or_else(|e| panic!("{body}: {e}: {text}"));
    }
}

#[test]
fn modules_in_options_and_matches_are_borrowed_to_be_trained() {
    let text = forward(quote! {
        #[checkpoint]
        let h = match &self.down { Some(l) => l.forward(x), None => x };
        if let Some(l) = self.up.as_ref() { l.forward(h) } else { h }
    });
    for part in [
        "match & mut * __ckpt_field_down { Some (l) =>",
        "replayed_mut (__ckpt_tape , & mut * l , x)",
        "Some (l) = self . up . as_mut ()",
        "match & self . down { Some (l) => :: ckpt_runtime :: __private :: infer (l , x)",
        "Some (l) = self . up . as_ref ()",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_child_is_bounded_for_each_pass() {
    let text = expanded(quote! {
        impl<F: Module<Tensor<Rank1<2>, E, D>, Output = Tensor<Rank1<2>, E, D>>, E: Dtype, D: Device<E>> Net<F, E, D> {
            fn forward(&self, x: Tensor<Rank1<2>, E, D>) -> Tensor<Rank1<2>, E, D> {
                #[checkpoint(keep)]
                let h = self.f.forward(x);
                h
            }
        }
    });
    assert!(text.contains("nn :: Module < Tensor < Rank1 < 2 > , E , D > , Output"), "{text}");
    assert!(text.contains("nn :: ModuleMut < Tensor < Rank1 < 2 > , E , D , :: ckpt_runtime"), "{text}");
    // Nothing recomputes, so nothing has to be replay-safe.
    assert!(!text.contains("ReplaySafe") && !text.contains("replayed_"), "{text}");
}

#[test]
fn a_clone_of_what_self_owns_is_taken_on_the_tape_in_training() {
    let text =
        forward(quote!(#[checkpoint] let h = x + self.w.clone().exp(); for b in &self.b { h = h + b.w.clone(); } h));
    // Training and replay, each with two clones; inference clones as it stands.
    let taken = text.matches("taken !").count();
    assert!(taken >= 2 && text.contains("self . w . clone () . exp ()"), "{taken} in {text}");
}
