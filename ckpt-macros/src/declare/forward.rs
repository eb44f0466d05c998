//! The forward that runs the fields in order: `Module` and `ModuleMut`, for any input.
//!
//! One flat impl each: every value between two fields is a type parameter of its own, bound by the
//! output of the field before it. The run time tells a taped input from an untaped one.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use super::{
    check::not_a_layer,
    markers::at,
    syntax::{Declaration, Step},
};
use crate::{
    direction::Direction,
    hygiene::{call_site, numbered},
};

/// Both impls; nothing with `forward = custom`, where the impl's macro writes them.
pub fn modules(d: &Declaration, sound: bool) -> TokenStream {
    if d.options.custom_forward || d.steps().is_empty() {
        return TokenStream::new();
    }
    Direction::BOTH.into_iter().map(|direction| module(d, direction, sound)).collect()
}

fn module(d: &Declaration, direction: Direction, sound: bool) -> TokenStream {
    let (rt, this) = (&d.rt, d.this());
    let (dtype, device) = (&d.roles.dtype, &d.roles.device);
    // A field that cannot be a layer is reported, and the forward of what is left stands for it.
    let steps: Vec<_> = d.steps().into_iter().filter(|s| not_a_layer(&s.field.ty).is_none()).collect();
    let values: Vec<_> = (0..=steps.len()).map(|n| numbered("__CkptX", n)).collect();
    let (first, last) = (&values[0], &values[steps.len()]);

    let parameters = d.parameters();
    let predicates = d.predicates();
    let children = &d.children;
    let before = before(&steps);
    let layers = steps
        .iter()
        .zip(&before)
        .zip(values.windows(2))
        .map(|((step, before), x)| bound(d, direction, step, before, &x[0], &x[1]));

    let error = quote!(<#device as #rt::__private::dfdx::tensor::HasErr>::Err);
    let body = if sound { body(d, direction, &steps) } else { quote!(::core::panic!("this declaration has errors")) };
    let trait_ = direction.module(rt);
    let (borrow, try_forward, forward) =
        (direction.borrow(), direction.method("try_forward"), direction.method("forward"));
    quote! {
        #[automatically_derived]
        #[allow(unused_variables)]
        impl<#(#parameters,)* #(#values),*> #trait_<#first> for #this
        where
            #(#predicates,)*
            #(#children: #rt::__private::dfdx::nn::TensorCollection<#dtype, #device> + ::core::clone::Clone + 'static,)*
            #(#layers,)*
        {
            type Output = #last;
            type Error = #error;

            fn #try_forward(#borrow self, __ckpt_x: #first) -> ::core::result::Result<#last, #error> {
                #body
            }

            fn #forward(#borrow self, __ckpt_x: #first) -> #last {
                #rt::__private::expect(<Self as #trait_<#first>>::#try_forward(self, __ckpt_x))
            }
        }
    }
}

/// What the value before a field must be: asked of the value, so that what does not fit is said of
/// the layers, and not of the whole model's method.
fn bound(
    d: &Declaration,
    direction: Direction,
    step: &Step<'_>,
    before: &TokenStream,
    input: &proc_macro2::Ident,
    output: &proc_macro2::Ident,
) -> TokenStream {
    let (rt, ty) = (&d.rt, &step.field.ty);
    let (dtype, device) = (&d.roles.dtype, &d.roles.device);
    let taken = if !step.is_region() {
        let trait_ = direction.trait_of("Taken");
        quote! {
            #input: #rt::__private::#trait_<
                #ty, #before, Output = #output, Error = <#device as #rt::__private::dfdx::tensor::HasErr>::Err
            >
        }
    } else if step.options.segments.is_some() {
        let trait_ = direction.trait_of("Cut");
        quote! {
            #input: #rt::__private::Boundary<#dtype, #device>
                + #rt::__private::#trait_<#ty, #before, #dtype, #device, Output = #output>
        }
    } else {
        let trait_ = direction.trait_of("Fed");
        quote!(#input: #rt::__private::#trait_<#ty, #before, #dtype, #device, Output = #output>)
    };
    // Of a layer that is known the macro asserts it once, beside the impls.
    let replay = (step.recomputes() && d.mentions_child(ty)).then(|| quote!(, #ty: #rt::ReplaySafe));
    quote!(#taken #replay)
}

/// The layer before each one, which is named where one does not take what comes before it.
fn before(steps: &[Step<'_>]) -> Vec<TokenStream> {
    std::iter::once(quote!(())).chain(steps.iter().map(|s| s.field.ty.to_token_stream())).collect()
}

fn body(d: &Declaration, direction: Direction, steps: &[Step<'_>]) -> TokenStream {
    let rt = &d.rt;
    let (dtype, device) = (&d.roles.dtype, &d.roles.device);
    let (x, this, borrow) = (call_site("__ckpt_x"), call_site("self"), direction.borrow());
    let lines = steps.iter().zip(before(steps)).map(|(step, before)| {
        let (member, options, ty) = (&step.field.member, step.options, &step.field.ty);
        let site = options.site(rt, &d.region_name(step.field));
        let span = at(ty);
        let call = if !step.is_region() {
            let (trait_, method) = (direction.trait_of("Taken"), direction.function("taken"));
            quote_spanned!(span=> #rt::__private::#trait_::<#ty, #before>::#method(#x, #borrow #this.#member))
        } else if let Some(segments) = &options.segments {
            let (trait_, method) = (direction.trait_of("Cut"), direction.function("taken_cut"));
            let segments = segments.to_value(rt);
            quote_spanned! {span=>
                #rt::__private::#trait_::<#ty, #before, #dtype, #device>::#method(
                    #x, #site, #segments, #borrow #this.#member
                )
            }
        } else {
            let (trait_, method) = (direction.trait_of("Fed"), direction.function("fed"));
            quote_spanned! {span=>
                #rt::__private::#trait_::<#ty, #before, #dtype, #device>::#method(#x, #site, #borrow #this.#member)
            }
        };
        quote!(let #x = #call?;)
    });
    let run = quote! {
        #(#lines)*
        ::core::result::Result::Ok(#x)
    };
    let Some(policy) = d.policy() else {
        return run;
    };
    let member = &policy.member;
    match direction {
        Direction::Ref => quote!(#rt::__private::under(&#this.#member, || { #run })),
        Direction::Mut => quote! {
            let __ckpt_policy = ::core::clone::Clone::clone(&#this.#member);
            #rt::__private::under(&__ckpt_policy, || { #run })
        },
    }
}

/// Where a custom forward finds the model's policy, which only the struct's macro knows of.
pub fn held_policy(d: &Declaration) -> TokenStream {
    if !d.options.custom_forward {
        return TokenStream::new();
    }
    let (rt, this) = (&d.rt, d.this());
    let parameters = d.parameters();
    let predicates = d.predicates();
    let policy = d.policy().map_or_else(
        || quote!(::core::option::Option::None),
        |p| {
            let member = &p.member;
            quote!(::core::option::Option::Some(&self.#member))
        },
    );
    quote! {
        #[automatically_derived]
        impl<#(#parameters),*> #rt::__private::CustomForward for #this
        where
            #(#predicates,)*
        {
            fn held_policy(&self) -> ::core::option::Option<&#rt::Policy> {
                #policy
            }
        }
    }
}
