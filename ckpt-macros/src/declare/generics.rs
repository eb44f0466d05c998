//! The generics of emitted impls, made from those of the struct.
//!
//! dfdx builds the struct anew for another dtype or device (`TensorCollection::To`), and the macro
//! for other children. So each parameter is one of four: the dtype, the device, a child, or
//! something that stays as it is (constants, shapes).

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, Type, TypeParam, TypeParamBound, WherePredicate};

use super::syntax::{Declaration, Field, Role};
use crate::{
    diagnostic::{Findings, codes},
    hygiene::mentions,
    roles::Roles,
};

/// A type parameter that is a layer.
pub struct Child {
    pub name: Ident,
    /// What the struct asks of it, which it must not.
    bound: Option<TokenStream>,
}

/// The type parameters that are layers: those in a layer's type that nothing is asked of.
///
/// Nothing can be asked of them on the struct, since no bound could be proved of `F::To<E2, D2>`
/// for any `E2`. So a bounded parameter is a shape or the like, unless a field is of that type.
pub fn children(generics: &Generics, roles: &Roles, fields: &[Field]) -> Vec<Child> {
    let layers: Vec<_> = fields.iter().filter(|f| matches!(f.role, Role::Module { .. })).map(|f| &f.ty).collect();
    generics
        .type_params()
        .filter(|p| p.ident != roles.dtype && p.ident != roles.device)
        .map(|p| Child { name: p.ident.clone(), bound: bound(generics, p) })
        .filter(|child| match child.bound {
            None => layers.iter().any(|ty| mentions(ty, &child.name)),
            Some(_) => layers.iter().any(|ty| is_layer(ty, &child.name)),
        })
        .collect()
}

/// Reports what keeps dfdx from naming the struct for any dtype and device; true if nothing does.
pub fn check(generics: &Generics, roles: &Roles, children: &[Child], findings: &mut Findings) -> bool {
    let mut rebuildable = true;
    for lifetime in generics.lifetimes() {
        rebuildable = false;
        findings.push(
            codes::SIGNATURE,
            lifetime,
            "a model owns its parameters, so it can have no lifetime",
            "hold the value itself, or an `Arc` of it in a `#[skip]` field",
        );
    }
    for Child { name, bound } in children {
        let Some(bound) = bound else { continue };
        rebuildable = false;
        findings.push(
            codes::FIXED_DTYPE_OR_DEVICE,
            bound,
            format!("the layer `{name}` is bounded on the struct, and the bound cannot be proved of the `{name}` of another dtype or device"),
            "remove the bound: the macro asks of the layer what each impl needs",
        );
    }
    for (bound, word) in narrow_dtype(generics, roles) {
        rebuildable = false;
        findings.push(
            codes::FIXED_DTYPE_OR_DEVICE,
            bound,
            format!("a struct bounded by `{word}` is not there for every dtype, so its dtype cannot be changed as that of dfdx's modules can"),
            format!("write `{}: Dtype` on the struct: the emitted impls ask for the rest, and so can yours", roles.dtype),
        );
    }
    rebuildable
}

/// Bounds of the dtype that `TensorCollection::To<E2: Dtype, ..>` does not give.
fn narrow_dtype<'a>(generics: &'a Generics, roles: &'a Roles) -> impl Iterator<Item = (&'a TypeParamBound, &'a Ident)> {
    const NARROW: &[&str] = &["Real", "Float", "SampleUniform", "Num", "FromPrimitive"];
    let inline = generics.type_params().filter(|p| p.ident == roles.dtype).flat_map(|p| &p.bounds);
    let clause = generics
        .where_clause
        .iter()
        .flat_map(|w| &w.predicates)
        .filter_map(|p| match p {
            WherePredicate::Type(p) if is(&p.bounded_ty, &roles.dtype) => Some(&p.bounds),
            _ => None,
        })
        .flatten();
    inline.chain(clause).filter_map(|bound| match bound {
        TypeParamBound::Trait(t) => {
            let last = &t.path.segments.last()?.ident;
            NARROW.contains(&last.to_string().as_str()).then_some((bound, last))
        }
        _ => None,
    })
}

fn bound(generics: &Generics, parameter: &TypeParam) -> Option<TokenStream> {
    if !parameter.bounds.is_empty() {
        return Some(parameter.bounds.to_token_stream());
    }
    generics.where_clause.iter().flat_map(|w| &w.predicates).find_map(|p| match p {
        WherePredicate::Type(p) if is(&p.bounded_ty, &parameter.ident) => Some(p.bounds.to_token_stream()),
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
                    undefaulted(&GenericParam::Type(t))
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
        let inline = self.generics.type_params().any(|p| self.is_bounded_dtype(p));
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
                GenericParam::Type(t) => t.ident != self.roles.dtype && t.ident != self.roles.device,
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
