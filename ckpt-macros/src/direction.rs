//! The two ways through a module: by reference (dfdx's `Module`) and by mutable reference
//! (`ModuleMut`). Everything that a forward emits exists once per direction.

use proc_macro2::TokenStream;
use quote::quote;

use crate::hygiene::call_site;

/// `Module` or `ModuleMut`, with the names that belong to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `Module::try_forward(&self, ..)`.
    Ref,
    /// `ModuleMut::try_forward_mut(&mut self, ..)`.
    Mut,
}

impl Direction {
    /// Both, in the order in which they are emitted.
    pub const BOTH: [Self; 2] = [Self::Ref, Self::Mut];

    /// dfdx's trait.
    pub fn module(self, rt: &TokenStream) -> TokenStream {
        match self {
            Self::Ref => quote!(#rt::__private::dfdx::nn::Module),
            Self::Mut => quote!(#rt::__private::dfdx::nn::ModuleMut),
        }
    }

    /// `&` or `&mut`.
    pub fn borrow(self) -> TokenStream {
        match self {
            Self::Ref => quote!(&),
            Self::Mut => quote!(&mut),
        }
    }

    /// `name` for [`Direction::Ref`], `name_mut` for [`Direction::Mut`].
    pub fn method(self, name: &str) -> proc_macro2::Ident {
        match self {
            Self::Ref => call_site(name),
            Self::Mut => call_site(&format!("{name}_mut")),
        }
    }

    /// `name_ref` or `name_mut`, a function of the run time.
    pub fn function(self, name: &str) -> proc_macro2::Ident {
        match self {
            Self::Ref => call_site(&format!("{name}_ref")),
            Self::Mut => call_site(&format!("{name}_mut")),
        }
    }

    /// `NameRef` or `NameMut`, a trait of the run time.
    pub fn trait_of(self, name: &str) -> proc_macro2::Ident {
        match self {
            Self::Ref => call_site(&format!("{name}Ref")),
            Self::Mut => call_site(&format!("{name}Mut")),
        }
    }
}
