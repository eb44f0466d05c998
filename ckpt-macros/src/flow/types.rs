//! Tensors in types: which of them carry a tape, and writing that tape.

use proc_macro2::TokenStream;
use syn::{
    GenericArgument, Path, PathArguments, Type, parse_quote,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

use crate::roles::Roles;

/// What a tensor type holds, as far as tapes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tensor {
    /// Of the item's dtype: it carries the tape.
    Float,
    /// Of `usize`: indices, which carry a tape only where nothing else can.
    Index,
    /// Of `bool` or another dtype, or with a tape written out: left as it is.
    Other,
}

/// What `path` is, if its last segment is a `Tensor`.
pub fn tensor(path: &Path, roles: &Roles) -> Option<Tensor> {
    let last = path.segments.last()?;
    if last.ident != "Tensor" {
        return None;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return Some(Tensor::Other);
    };
    let dtype = match arguments.args.iter().nth(1) {
        Some(GenericArgument::Type(Type::Path(p))) if arguments.args.len() == 3 => &p.path,
        _ => return Some(Tensor::Other),
    };
    Some(if dtype.is_ident(&roles.dtype) {
        Tensor::Float
    } else if dtype.is_ident("usize") {
        Tensor::Index
    } else {
        Tensor::Other
    })
}

/// What a whole type is, if it is a tensor.
pub fn tensor_type(ty: &Type, roles: &Roles) -> Option<Tensor> {
    match ty {
        Type::Path(p) if p.qself.is_none() => tensor(&p.path, roles),
        Type::Paren(t) => tensor_type(&t.elem, roles),
        Type::Group(t) => tensor_type(&t.elem, roles),
        _ => None,
    }
}

/// Writes `tape` into every float tensor under `at`.
pub struct Retape<'a> {
    /// The roles of the item.
    pub roles: &'a Roles,
    /// The tape argument.
    pub tape: TokenStream,
}

impl Retape<'_> {
    /// `path`, if it is a float tensor, with the tape.
    pub fn path(&self, path: &mut Path) {
        if tensor(path, self.roles) == Some(Tensor::Float) {
            push_tape(path, &self.tape);
        }
    }
}

impl VisitMut for Retape<'_> {
    fn visit_path_mut(&mut self, path: &mut Path) {
        visit_mut::visit_path_mut(self, path);
        self.path(path);
    }
}

/// Adds a tape argument to a tensor's path.
pub fn push_tape(path: &mut Path, tape: &TokenStream) {
    if let Some(last) = path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
    {
        arguments.args.push(GenericArgument::Type(parse_quote!(#tape)));
    }
}

/// `ty` with `tape` in every float tensor.
pub fn retaped(ty: &Type, roles: &Roles, tape: TokenStream) -> Type {
    let mut ty = ty.clone();
    Retape { roles, tape }.visit_type_mut(&mut ty);
    ty
}

/// Whether a float tensor stands anywhere in `ty`.
pub fn has_float(ty: &Type, roles: &Roles) -> bool {
    struct Find<'a>(&'a Roles, bool);
    impl<'ast> Visit<'ast> for Find<'_> {
        fn visit_path(&mut self, p: &'ast Path) {
            self.1 |= tensor(p, self.0) == Some(Tensor::Float);
            syn::visit::visit_path(self, p);
        }
    }
    let mut f = Find(roles, false);
    f.visit_type(ty);
    f.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::{ToTokens, quote};

    fn roles() -> Roles {
        Roles { dtype: parse_quote!(E), device: parse_quote!(D) }
    }

    #[test]
    fn only_float_tensors_take_a_tape() {
        let table: &[(Type, &str)] = &[
            (parse_quote!(Tensor<S, E, D>), "Tensor < S , E , D , T >"),
            (parse_quote!(dfdx::tensor::Tensor<(A, B), E, D>), "dfdx :: tensor :: Tensor < (A , B) , E , D , T >"),
            (parse_quote!(Tensor<S, usize, D>), "Tensor < S , usize , D >"),
            (parse_quote!(Tensor<S, bool, D>), "Tensor < S , bool , D >"),
            (parse_quote!(Tensor<S, E, D, NoneTape>), "Tensor < S , E , D , NoneTape >"),
            (parse_quote!(Option<(Tensor<S, E, D>, f32)>), "Option < (Tensor < S , E , D , T > , f32) >"),
        ];
        for (ty, expected) in table {
            let got = retaped(ty, &roles(), quote!(T));
            assert_eq!(got.to_token_stream().to_string(), *expected);
        }
    }
}
