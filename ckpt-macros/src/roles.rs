//! Which generic parameter is the dtype and which the device.
//!
//! A bound tells: `E: Dtype` (or `Real`), `D: Device<E>` (or `Storage<E>`), inline or in the
//! where-clause. Where bounds hide it, `dtype = E, device = D` says it.

use proc_macro2::Ident;
use syn::{Generics, TypeParamBound, WherePredicate};

use crate::{
    diagnostic::{Findings, codes},
    options::Options,
};

/// The two generic parameters that every checkpointed item has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles {
    /// The dtype, `E` in dfdx's habit.
    pub dtype: Ident,
    /// The device, `D` in dfdx's habit.
    pub device: Ident,
}

/// What bounds a dtype.
pub const DTYPE_BOUNDS: &[&str] = &["Dtype", "Real"];
/// What bounds a device.
pub const DEVICE_BOUNDS: &[&str] = &["Device", "Storage"];

impl Roles {
    /// Finds the roles in `generics`, or reports that there are none at `what` (the item's name).
    pub fn find(
        generics: &Generics,
        options: &Options,
        what: &dyn quote::ToTokens,
        findings: &mut Findings,
    ) -> Option<Self> {
        let dtype = role(generics, options.dtype.as_ref(), DTYPE_BOUNDS, findings);
        let device = role(generics, options.device.as_ref(), DEVICE_BOUNDS, findings);
        match (dtype, device) {
            (Some(dtype), Some(device)) => Some(Self { dtype, device }),
            (dtype, device) => {
                let missing = match (dtype, device) {
                    (None, None) => "neither a generic dtype nor a generic device",
                    (None, _) => "no generic dtype",
                    _ => "no generic device",
                };
                findings.push(
                    codes::FIXED_DTYPE_OR_DEVICE,
                    what,
                    format!("this item has {missing}, so it cannot be moved, saved or trained as dfdx's modules are"),
                    "add `E: Dtype, D: Device<E>` to its generics, or name yours with `dtype = .., device = ..`",
                );
                None
            }
        }
    }
}

fn role(generics: &Generics, named: Option<&Ident>, bounds: &[&str], findings: &mut Findings) -> Option<Ident> {
    if let Some(name) = named {
        let found = generics.type_params().any(|p| p.ident == *name);
        if !found {
            findings.push(
                codes::FIXED_DTYPE_OR_DEVICE,
                name,
                format!("`{name}` is not a type parameter of this item"),
                "name one of its type parameters",
            );
        }
        return Some(name.clone());
    }
    bounded(generics, bounds)
}

/// The first type parameter that is bounded by one of `bounds`, inline or in the where-clause.
pub fn bounded(generics: &Generics, bounds: &[&str]) -> Option<Ident> {
    let is = |b: &TypeParamBound| {
        matches!(b, TypeParamBound::Trait(t)
        if t.path.segments.last().is_some_and(|s| bounds.contains(&s.ident.to_string().as_str())))
    };
    let inline = generics.type_params().find(|p| p.bounds.iter().any(is));
    let clause = || generics.type_params().find(|p| bounds_of(generics, &p.ident).into_iter().any(is));
    inline.or_else(clause).map(|p| p.ident.clone())
}

/// All that is asked of the type parameter `name`.
pub fn bounds_of<'a>(generics: &'a Generics, name: &Ident) -> Vec<&'a TypeParamBound> {
    let inline = generics.type_params().filter(|p| p.ident == *name).flat_map(|p| &p.bounds);
    let clause = generics.where_clause.iter().flat_map(|w| &w.predicates).filter_map(|p| match p {
        WherePredicate::Type(p) if matches!(&p.bounded_ty, syn::Type::Path(t) if t.path.is_ident(name)) => {
            Some(&p.bounds)
        }
        _ => None,
    });
    inline.chain(clause.flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn roles(item: syn::ItemStruct, options: &Options) -> Option<(String, String)> {
        let mut f = Findings::new();
        let r = Roles::find(&item.generics, options, &item.ident, &mut f);
        f.codes();
        r.map(|r| (r.dtype.to_string(), r.device.to_string()))
    }

    #[test]
    fn bounds_tell_inline_and_in_the_where_clause() {
        let none = Options::default();
        let inline = roles(
            parse_quote!(
                struct A<const N: usize, T: dfdx::shapes::Dtype, V: Device<T>>(T, V);
            ),
            &none,
        );
        assert_eq!(inline, Some(("T".into(), "V".into())));
        let clause = roles(
            parse_quote!(
                struct A<E, D>
                where
                    E: Dtype,
                    D: Device<E>,
                {
                    a: (E, D),
                }
            ),
            &none,
        );
        assert_eq!(clause, Some(("E".into(), "D".into())));
        assert_eq!(
            roles(
                parse_quote!(
                    struct A<D: Device<f32>> {
                        a: D,
                    }
                ),
                &none
            ),
            None
        );
    }

    #[test]
    fn options_tell_where_bounds_hide_it() {
        let o = Options { dtype: Some(parse_quote!(T)), device: Some(parse_quote!(V)), ..Options::default() };
        assert_eq!(
            roles(
                parse_quote!(
                    struct A<T: Mine, V: Yours<T>> {
                        a: (T, V),
                    }
                ),
                &o
            ),
            Some(("T".into(), "V".into()))
        );
    }
}
