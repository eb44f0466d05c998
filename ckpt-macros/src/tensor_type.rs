//! Tensors in the types that users write: `Tensor<S, E, D>`, at any depth of a type.
//!
//! Macros see tokens, so a tensor is what is called `Tensor`, under any path.

use proc_macro2::Ident;
use syn::{
    GenericArgument, PathArguments, Type, TypePath,
    visit::{self, Visit},
};

/// The last two or three arguments of a `Tensor<S, E, D, T>`.
#[derive(Clone, Copy, Debug)]
pub struct TensorType<'a> {
    /// Its dtype.
    pub dtype: &'a Type,
    /// Its device.
    pub device: &'a Type,
    /// Its tape, where one is written.
    pub tape: Option<&'a Type>,
}

impl<'a> TensorType<'a> {
    /// Reads the arguments, if `path` is a tensor's.
    pub fn of(path: &'a TypePath) -> Option<Self> {
        let last = path.path.segments.last().filter(|s| s.ident == "Tensor")?;
        let PathArguments::AngleBracketed(arguments) = &last.arguments else {
            return None;
        };
        let mut types = arguments.args.iter().map(|a| match a {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        types.next()??;
        Some(Self { dtype: types.next()??, device: types.next()??, tape: types.next().flatten() })
    }

    /// Whether its dtype is one that carries gradients.
    pub fn is_float(&self) -> bool {
        const OTHERS: &[&str] = &["bool", "usize", "isize", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];
        !OTHERS.iter().any(|name| is(self.dtype, name))
    }
}

/// All tensors in `ty`, in order.
pub fn tensors(ty: &Type) -> Vec<TensorType<'_>> {
    struct Tensors<'a>(Vec<TensorType<'a>>);
    impl<'a> Visit<'a> for Tensors<'a> {
        fn visit_type_path(&mut self, path: &'a TypePath) {
            self.0.extend(TensorType::of(path));
            visit::visit_type_path(self, path);
        }
    }
    let mut found = Tensors(Vec::new());
    found.visit_type(ty);
    found.0
}

/// Whether `ty` is the plain name `name`.
pub fn is(ty: &Type, name: impl AsRef<str>) -> bool {
    name_of(ty).is_some_and(|ident| ident == name.as_ref())
}

/// The plain name that `ty` is.
pub fn name_of(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.get_ident(),
        Type::Group(group) => name_of(&group.elem),
        Type::Paren(paren) => name_of(&paren.elem),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;
    use syn::parse_quote;

    #[test]
    fn tensors_are_found_at_any_depth() {
        let ty: Type =
            parse_quote!((Option<dfdx::tensor::Tensor<(B, S), E, D>>, [Tensor<S, usize, Cpu, T>; 2], Cfg<E, D>));
        let found = tensors(&ty);
        let dtypes: Vec<_> = found.iter().map(|t| t.dtype.to_token_stream().to_string()).collect();
        assert_eq!(dtypes, ["E", "usize"]);
        assert!(found[0].is_float() && !found[1].is_float());
        assert!(found[0].tape.is_none() && is(found[1].tape.unwrap(), "T"));
    }

    #[test]
    fn a_tensor_without_arguments_is_none_of_ours() {
        assert!(tensors(&parse_quote!(Tensor)).is_empty());
        assert!(tensors(&parse_quote!(Tensor<S>)).is_empty());
    }
}
