//! The generics of emitted impls, made from those of the struct.
//!
//! dfdx builds the struct anew for another dtype or device (`TensorCollection::To`), and the macro
//! for other children. So each parameter is one of four: the dtype, the device, a child, or
//! something that stays as it is (constants, shapes).

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, Type, TypeParam, WherePredicate};

use super::syntax::{Declaration, Field, Role};
use crate::{
    diagnostic::{Findings, codes},
    hygiene::mentions,
    roles::Roles,
};

/// The type parameters that are layers: those in a layer's type that nothing is asked of.
///
/// Nothing can be asked of them on the struct, since no bound could be proved of `F::To<E2, D2>`
/// for any `E2`. A bounded parameter is a shape or the like, unless a field is one, which is a
/// finding.
pub fn children(
    generics: &Generics,
    roles: &Roles,
    fields: &[Field],
    findings: &mut Findings,
) -> Vec<Ident> {
    let mut children = Vec::new();
    for parameter in generics.type_params() {
        let name = &parameter.ident;
        let layers = || {
            fields
                .iter()
                .filter(|f| matches!(f.role, Role::Module { .. }))
        };
        if *name == roles.dtype || *name == roles.device || !layers().any(|f| mentions(&f.ty, name))
        {
            continue;
        }
        let Some(bound) = bound(generics, parameter) else {
            children.push(name.clone());
            continue;
        };
        if layers().any(|f| is_layer(&f.ty, name)) {
            findings.push(
                codes::FIXED_DTYPE_OR_DEVICE,
                bound,
                format!("the layer `{name}` is bounded on the struct, and the bound cannot be proved of the `{name}` of another dtype or device"),
                "remove the bound: the macro asks of the layer what each impl needs",
            );
            children.push(name.clone());
        }
    }
    children
}

fn bound(generics: &Generics, parameter: &TypeParam) -> Option<TokenStream> {
    if !parameter.bounds.is_empty() {
        return Some(parameter.bounds.to_token_stream());
    }
    generics
        .where_clause
        .iter()
        .flat_map(|w| &w.predicates)
        .find_map(|p| match p {
            WherePredicate::Type(p) if is(&p.bounded_ty, &parameter.ident) => {
                Some(p.bounds.to_token_stream())
            }
            _ => None,
        })
}

fn is(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(p) if p.qself.is_none() && p.path.is_ident(name))
}

/// Whether `name` is a layer of `ty` for certain: the type itself, or in a tuple or one of dfdx's
/// combinators.
fn is_layer(ty: &Type, name: &Ident) -> bool {
    match ty {
        Type::Group(g) => is_layer(&g.elem, name),
        Type::Paren(p) => is_layer(&p.elem, name),
        Type::Tuple(t) => t.elems.iter().any(|e| is_layer(e, name)),
        _ if is(ty, name) => true,
        Type::Path(p) => p.path.segments.last().is_some_and(|s| {
            let combinators = ["Residual", "Repeated", "GeneralizedResidual", "SplitInto"];
            combinators.contains(&s.ident.to_string().as_str())
                && matches!(&s.arguments, syn::PathArguments::AngleBracketed(a)
                    if a.args.iter().any(|a| matches!(a, syn::GenericArgument::Type(t) if is_layer(t, name))))
        }),
        _ => false,
    }
}

impl Declaration {
    /// The parameters of an impl, bounds included.
    pub fn parameters(&self) -> Vec<TokenStream> {
        let rt = &self.rt;
        self.generics
            .params
            .iter()
            .map(|p| match p {
                GenericParam::Type(t) if self.is_bounded_dtype(t) => {
                    let mut t = t.clone();
                    t.bounds.push(syn::parse_quote!(#rt::Real));
                    undefaulted(&t.into())
                }
                p => undefaulted(p),
            })
            .collect()
    }

    /// Whether this is the dtype with its bounds inline. Ours joins them there, or those of the
    /// where-clause: bounds in both places are a lint.
    fn is_bounded_dtype(&self, parameter: &TypeParam) -> bool {
        parameter.ident == self.roles.dtype && !parameter.bounds.is_empty()
    }

    /// The struct's type with some of its type parameters replaced.
    pub fn applied(&self, replace: impl Fn(&Ident) -> Option<TokenStream>) -> TokenStream {
        let name = &self.name;
        let arguments = self.generics.params.iter().map(|p| match p {
            GenericParam::Type(t) => replace(&t.ident).unwrap_or_else(|| t.ident.to_token_stream()),
            GenericParam::Const(c) => c.ident.to_token_stream(),
            GenericParam::Lifetime(l) => l.lifetime.to_token_stream(),
        });
        quote!(#name<#(#arguments),*>)
    }

    /// The struct's type.
    pub fn this(&self) -> TokenStream {
        self.applied(|_| None)
    }

    /// What every impl asks beside its parameters' bounds: the user's where-clause, and a dtype
    /// that layers can be built of.
    pub fn predicates(&self) -> Vec<TokenStream> {
        let (rt, dtype) = (&self.rt, &self.roles.dtype);
        let inline = self
            .generics
            .type_params()
            .any(|p| self.is_bounded_dtype(p));
        self.generics
            .where_clause
            .iter()
            .flat_map(|w| &w.predicates)
            .map(ToTokens::to_token_stream)
            .chain((!inline).then(|| quote!(#dtype: #rt::Real)))
            .collect()
    }

    /// The parameters of the builder: all but the dtype and the device.
    pub fn builder_parameters(&self) -> Vec<&GenericParam> {
        self.generics
            .params
            .iter()
            .filter(|p| match p {
                GenericParam::Type(t) => {
                    t.ident != self.roles.dtype && t.ident != self.roles.device
                }
                GenericParam::Const(_) => true,
                GenericParam::Lifetime(_) => false,
            })
            .collect()
    }
}

/// A parameter's name.
pub fn name(parameter: &GenericParam) -> TokenStream {
    match parameter {
        GenericParam::Type(t) => t.ident.to_token_stream(),
        GenericParam::Const(c) => c.ident.to_token_stream(),
        GenericParam::Lifetime(l) => l.lifetime.to_token_stream(),
    }
}

/// A parameter as an impl declares it, without its default.
pub fn undefaulted(parameter: &GenericParam) -> TokenStream {
    let mut parameter = parameter.clone();
    match &mut parameter {
        GenericParam::Type(t) => t.default = None,
        GenericParam::Const(c) => c.default = None,
        GenericParam::Lifetime(_) => {}
    }
    parameter.into_token_stream()
}
