//! The declaration's rules and what it writes, on tokens.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use super::{check, syntax::Declaration};
use crate::{
    diagnostic::{Code, Findings, codes},
    dispatch,
    hygiene::call_site,
};

/// The codes that a declaration is met with, as after the attribute's hand-over.
fn found(item: TokenStream) -> Vec<Code> {
    let mut findings = Findings::new();
    match syn::parse2::<DeriveInput>(item) {
        Ok(input) => {
            if let Some(d) = Declaration::read(input, &mut findings) {
                check::check(&d, &mut findings);
            }
        }
        Err(e) => findings.push_syn(&e),
    }
    findings.codes()
}

/// A struct over `E` and `D` with these options and fields.
fn model(options: TokenStream, fields: TokenStream) -> TokenStream {
    quote! {
        #[__ckpt(#options)]
        struct Model<E: Dtype, D: Device<E>> { #fields }
    }
}

fn found_in(options: TokenStream, fields: TokenStream) -> Vec<Code> {
    found(model(options, fields))
}

#[test]
fn the_attribute_hands_over_to_the_derive_with_its_options() {
    let out = dispatch::checkpointed(
        quote!(builder = Other, crate = ::ck),
        quote! {
            #[derive(Clone)]
            pub struct Model<E: Dtype, D: Device<E>> { #[checkpoint] #[cfg(a)] a: A<E, D> }
        },
    );
    let item: syn::ItemStruct = syn::parse2(out).unwrap();
    let attributes: Vec<_> = item.attrs.iter().map(|a| quote!(#a).to_string()).collect();
    assert_eq!(
        attributes,
        [
            quote!(#[derive(Clone)]).to_string(),
            quote!(#[derive(::ck::__private::__CheckpointedStruct)]).to_string(),
            quote!(#[__ckpt(builder = Other, crate = ::ck)]).to_string(),
        ]
    );
    assert_eq!(item.fields.iter().next().unwrap().attrs.len(), 2);
}

#[test]
fn sequences_in_types_are_written_out_for_other_derives() {
    let out = dispatch::checkpointed(
        quote!(crate = ::ck),
        quote! {
            struct Model<E: Dtype, D: Device<E>> {
                #[checkpoint]
                a: (rt::checkpoint_sequential!(segments = 1, checkpoint_sequential!(each, A<E, D>), B), C),
                #[checkpoint]
                wrong: checkpoint_sequential!(segments = 2, B),
            }
        },
    );
    let text = out.to_string().replace(' ', "");
    assert!(text.contains("a:(::ck::Sequential<1usize,(::ck::Sequential<0usize,(A<E,D>,)>,B,)>,C)"), "{text}");
    assert!(text.contains("CKPT020"), "{text}");
    assert!(!text.contains("checkpoint_sequential!"), "{text}");
}

#[test]
fn an_enum_or_union_is_given_back_without_marks_beside_the_error() {
    for item in [
        quote!(
            enum Model {
                A {
                    #[checkpoint]
                    a: A,
                },
            }
        ),
        quote!(
            union Model {
                #[checkpoint]
                a: A,
            }
        ),
    ] {
        let out = dispatch::checkpointed(TokenStream::new(), item).to_string();
        assert!(out.contains("CKPT026"), "{out}");
        assert!(out.contains("Model") && !out.contains("# ["), "{out}");
    }
}

#[test]
fn the_attribute_twice_is_one_finding() {
    let once = dispatch::checkpointed(
        TokenStream::new(),
        quote!(
            struct A<E: Dtype> {
                a: E,
            }
        ),
    );
    assert!(dispatch::checkpointed(TokenStream::new(), once).to_string().contains("CKPT022"));
}

#[test]
fn tokens_that_are_no_item_do_not_panic() {
    for bad in [
        quote!(1 + 1),
        quote!(struct),
        quote!(),
        quote!(
            fn f() {}
        ),
    ] {
        let out = dispatch::checkpointed(quote!(segments 3), bad.clone());
        assert!(out.to_string().contains("CKPT"), "{bad}");
        assert!(super::derive(bad.clone()).to_string().contains("CKPT"), "{bad}");
    }
}

#[test]
fn a_good_declaration_has_no_findings() {
    assert!(
        found_in(
            quote!(),
            quote! {
                #[checkpoint(segments = 3)] blocks: Repeated<Block<E, D>, 3>,
                #[checkpoint(each, verify)] pair: (A<E, D>, ReLU),
                #[checkpoint(plain)] cheap: ReLU,
                #[skip] note: PhantomData<E>,
                #[policy] policy: Policy,
                head: Linear<2, 3, E, D>,
            }
        )
        .is_empty()
    );
    assert!(
        found_in(
            quote!(forward = custom),
            quote! {
                #[param(init = ones)] gamma: Tensor<Rank1<3>, E, D>,
                #[param(init = |t| t.try_fill_with_zeros())] beta: Tensor<Rank1<3>, E, D>,
                #[buffer] mean: Tensor<Rank1<3>, E, D>,
                #[scalar(default = 1e-5)] epsilon: f64,
                #[scalar] steps: usize,
            }
        )
        .is_empty()
    );
}

#[test]
fn nothing_marked_is_a_finding_unless_the_forward_is_custom() {
    let fields = quote!(a: A<E, D>, b: B<E, D>);
    assert_eq!(found_in(quote!(), fields.clone()), [codes::NOTHING_MARKED]);
    assert_eq!(found_in(quote!(), quote!(#[checkpoint(plain)] a: A<E, D>)), [codes::NOTHING_MARKED]);
    assert!(found_in(quote!(forward = custom), fields).is_empty());
    assert_eq!(
        found(quote!(
            struct Unit<E: Dtype, D: Device<E>>;
        )),
        [codes::NOTHING_MARKED]
    );
}

#[test]
fn the_whole_model_as_one_region_must_be_allowed() {
    let marked = quote!(#[checkpoint] a: A<E, D>, #[skip] n: usize);
    assert_eq!(found_in(quote!(), marked.clone()), [codes::WHOLE_MODEL]);
    assert!(found_in(quote!(allow(whole_model)), marked).is_empty());
    assert!(found_in(quote!(), quote!(#[checkpoint(allow(whole_model))] a: A<E, D>)).is_empty());
    assert!(found_in(quote!(), quote!(#[checkpoint(segments = 2)] a: A<E, D>)).is_empty());
    assert!(found_in(quote!(), quote!(#[checkpoint(keep)] a: A<E, D>)).is_empty());
}

#[test]
fn more_segments_than_layers_is_a_finding_where_the_type_tells() {
    let tuple = quote!(#[checkpoint(segments = 3)] a: (A<E, D>, B));
    assert_eq!(found_in(quote!(), tuple), [codes::SEGMENTS]);
    let repeated = quote!(#[checkpoint(segments = 3)] a: nn::Repeated<A<E, D>, 2>);
    assert_eq!(found_in(quote!(), repeated), [codes::SEGMENTS]);
    let unknown = quote!(#[checkpoint(segments = 3)] a: Repeated<A<E, D>, N>);
    assert!(found_in(quote!(), unknown).is_empty());
    let message = super::derive(model(quote!(), quote!(#[checkpoint(segments = 3)] a: Repeated<A<E, D>, 2>)));
    assert!(message.to_string().contains("3 segments cannot be cut out of 2 layers"));
}

#[test]
fn fields_that_are_no_layers_need_a_mark_that_says_so() {
    for field in [
        quote!(a: f64),
        quote!(a: Tensor<Rank1<3>, E, D>),
        quote!(a: std::marker::PhantomData<E>),
        quote!(a: &'static str),
        quote!(#[checkpoint(keep)] a: [f32; 3]),
    ] {
        let found = found_in(quote!(), quote!(#[checkpoint] m: A<E, D>, #field));
        assert_eq!(found, [codes::MISPLACED_MARK], "{field}");
    }
}

#[test]
fn bare_tensors_and_numbers_need_a_custom_forward() {
    let found = found_in(
        quote!(),
        quote! {
            #[checkpoint] m: A<E, D>,
            n: B,
            #[param(init = zeros)] w: Tensor<Rank1<3>, E, D>,
            #[buffer] b: Tensor<Rank1<3>, E, D>,
            #[scalar] s: f64,
        },
    );
    assert_eq!(found, [codes::MISPLACED_MARK; 3]);
}

#[test]
fn a_custom_forward_marks_its_statements_and_not_the_fields() {
    let found = found_in(quote!(forward = custom), quote!(#[checkpoint] m: A<E, D>));
    assert_eq!(found, [codes::MISPLACED_MARK]);
}

#[test]
fn interior_mutability_in_a_field_is_a_finding_unless_it_is_allowed() {
    let custom = quote!(forward = custom);
    for field in [quote!(c: Arc<Mutex<u8>>), quote!(#[skip] c: Cell<u8>), quote!(#[scalar] c: AtomicUsize)] {
        assert_eq!(found_in(custom.clone(), quote!(a: A<E, D>, #field)), [codes::INTERIOR_MUTABILITY], "{field}");
    }
    let skipped = quote!(a: A<E, D>, #[skip] c: Rc<RefCell<u8>>);
    assert_eq!(found_in(quote!(forward = custom, allow(interior_mutability)), skipped), []);
    let allowed =
        quote!(a: A<E, D>, #[skip(allow(interior_mutability))] c: Rc<RefCell<u8>>, #[skip] p: PhantomData<Cell<E>>);
    assert_eq!(found_in(custom, allowed), []);
}

#[test]
fn marks_are_read_strictly() {
    for (field, code) in [
        (quote!(#[checkpoint] #[skip] f: A), codes::OPTIONS_CLASH),
        (quote!(#[skip] #[skip] f: A), codes::OPTION_TWICE),
        (quote!(#[param] f: T), codes::SYNTAX),
        (quote!(#[param(ini = zeros)] f: T), codes::UNKNOWN_OPTION),
        (quote!(#[param(init = ones, init = ones)] f: T), codes::OPTION_TWICE),
        (quote!(#[skip(now = 1)] f: T), codes::UNKNOWN_OPTION),
        (quote!(#[buffer = 3] f: T), codes::SYNTAX),
        (quote!(#[scalar(default 3)] f: T), codes::SYNTAX),
        (quote!(#[scalar(default = E::from(1))] f: E), codes::FIXED_DTYPE_OR_DEVICE),
        (quote!(#[policy] p: Policy, #[policy] q: Policy), codes::OPTION_TWICE),
        (quote!(#[checkpoint = 3] f: A), codes::SYNTAX),
        (quote!(#[checkpoint(segments = 0)] f: A), codes::SEGMENTS),
    ] {
        let found = found_in(quote!(forward = custom), field.clone());
        assert!(found.contains(&code), "{field}: {code} in {found:?}");
    }
}

#[test]
fn a_mark_on_the_struct_itself_is_misplaced_and_taken_off() {
    let out = dispatch::checkpointed(
        TokenStream::new(),
        quote!(
            #[checkpoint]
            struct M<E: Dtype, D: Device<E>> {
                #[checkpoint]
                a: A<E, D>,
                b: B,
            }
        ),
    );
    let text = out.to_string();
    assert!(text.contains("CKPT026"), "{text}");
    assert_eq!(text.matches("# [checkpoint]").count(), 1, "{text}");
}

#[test]
fn what_cannot_be_rebuilt_for_another_dtype_is_a_finding_and_has_no_impls() {
    for item in [
        quote!(
            struct M<'a, E: Dtype, D: Device<E>> {
                #[checkpoint]
                a: A<'a, E, D>,
                b: B,
            }
        ),
        quote!(
            struct M<E: Real, D: Device<E>> {
                #[checkpoint]
                a: A<E, D>,
                b: B,
            }
        ),
        quote!(
            struct M<E, D: Device<E>>
            where
                E: Dtype + Float,
            {
                #[checkpoint]
                a: A<E, D>,
                b: B,
            }
        ),
        quote!(
            struct M<F: Layer, E: Dtype, D: Device<E>> {
                #[checkpoint]
                a: Residual<F>,
                b: A<E, D>,
            }
        ),
    ] {
        assert_eq!(found(item.clone()).len(), 1, "{item}");
        let out = super::derive(item).to_string();
        assert!(out.contains("MBuilder") && !out.contains("TensorCollection"), "{out}");
    }
    for item in [
        quote!(
            struct M<D: Device<f32>> {
                #[checkpoint]
                a: A<f32, D>,
                b: B,
            }
        ),
        quote!(
            struct M<E: Dtype> {
                #[checkpoint]
                a: A<E, Cpu>,
                b: B,
            }
        ),
    ] {
        assert_eq!(found(item), [codes::FIXED_DTYPE_OR_DEVICE]);
    }
}

#[test]
fn several_mistakes_are_all_reported_and_the_impls_still_written() {
    let item = model(quote!(bulder = X), quote!(#[checkpoint(segmnts = 2)] a: A<E, D>, b: f64, #[scalar] c: f64));
    let found = found(item.clone());
    assert_eq!(found, [codes::UNKNOWN_OPTION, codes::UNKNOWN_OPTION, codes::MISPLACED_MARK, codes::MISPLACED_MARK]);
    let out = super::derive(item).to_string();
    assert!(out.contains("ModelBuilder") && out.contains("TensorCollection"));
    assert!(out.contains("panic"));
}

#[test]
fn generic_children_are_the_unbounded_parameters_of_layers() {
    let input = syn::parse2(quote! {
        struct M<F, G, P, S: ConstShape, const N: usize, E: Dtype, D: Device<E>> {
            #[checkpoint] f: Residual<F>,
            g: Bias<G, S, E, D>,
            #[skip] p: PhantomData<P>,
        }
    })
    .unwrap();
    let mut findings = Findings::new();
    let d = Declaration::read(input, &mut findings).unwrap();
    assert!(findings.codes().is_empty());
    assert_eq!(d.children, [call_site("F"), call_site("G")]);
}

#[test]
fn names_are_spoken_without_r() {
    let out = super::derive(model(quote!(name = "net"), quote!(#[checkpoint] r#type: A<E, D>, b: B))).to_string();
    assert!(out.contains("\"net.type\"") && out.contains("\"type\""), "{out}");
}

#[test]
fn visited_tuples_nest_at_six() {
    let items: Vec<_> =
        ["a", "b", "c", "d", "e", "f", "g"].map(|n| quote::ToTokens::to_token_stream(&call_site(n))).into();
    assert_eq!(super::nested(&items).to_string(), quote!(((a, b,), (c, d,), (e, f,), (g,),)).to_string());
    assert_eq!(super::nested(&items[..6]).to_string(), quote!((a, b, c, d, e, f,)).to_string());
    assert_eq!(super::nested(&[]).to_string(), "()");
}
