//! The struct as the macro understands it.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Data, DeriveInput, Generics, Index, Member, Meta, Type, Visibility};

use super::{CARRIER, generics};
use crate::{
    diagnostic::{Findings, codes},
    hygiene::{numbered, spoken},
    options::{Kind, Options, STRUCT},
    roles::Roles,
};

pub use super::marks::Role;

/// A checkpointed struct.
#[derive(Debug)]
pub struct Declaration {
    /// The options of `#[checkpointed(..)]`.
    pub options: Options,
    /// The path to the run-time crate.
    pub rt: TokenStream,
    /// Its dtype and device.
    pub roles: Roles,
    /// Type parameters that are layers themselves.
    pub children: Vec<Ident>,
    pub visibility: Visibility,
    pub name: Ident,
    pub generics: Generics,
    pub fields: Vec<Field>,
    /// Whether its bounds let dfdx name it for any dtype and device, without which no impl can be
    /// written.
    pub rebuildable: bool,
}

/// One field that is there after `#[cfg]`.
#[derive(Debug)]
pub struct Field {
    pub member: Member,
    /// Its name in saved files and in regions' names.
    pub tensor_name: String,
    /// The variable that holds it while the struct is put together.
    pub local: Ident,
    pub ty: Type,
    pub role: Role,
}

/// A field that the forward runs, in order.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    pub field: &'a Field,
    pub options: &'a Options,
}

impl Declaration {
    /// Reads a struct; `None` if too little of it can be understood to write any impl.
    pub fn read(input: DeriveInput, findings: &mut Findings) -> Option<Self> {
        let options = options(&input.attrs, findings);
        let roles = Roles::find(&input.generics, &options, &input.ident, findings);
        let Data::Struct(data) = input.data else {
            findings.push(
                codes::MISPLACED_MARK,
                &input.ident,
                "only a struct has fields to run in order",
                "make this a struct of layers",
            );
            return None;
        };
        let fields: Vec<_> = data.fields.into_iter().enumerate().map(|(n, f)| Field::read(n, f, findings)).collect();
        let roles = roles?;
        let children = generics::children(&input.generics, &roles, &fields);
        let rebuildable = generics::check(&input.generics, &roles, &children, findings);
        Some(Self {
            rt: options.runtime(),
            options,
            roles,
            children: children.into_iter().map(|c| c.name).collect(),
            rebuildable,
            visibility: input.vis,
            name: input.ident,
            generics: input.generics,
            fields,
        })
    }

    /// The fields that the macro's own forward runs.
    pub fn steps(&self) -> Vec<Step<'_>> {
        self.fields
            .iter()
            .filter_map(|field| match &field.role {
                Role::Module { options, .. } => Some(Step { field, options }),
                _ => None,
            })
            .collect()
    }

    /// The field that holds the model's policy.
    pub fn policy(&self) -> Option<&Field> {
        self.fields.iter().find(|f| matches!(f.role, Role::Policy))
    }

    /// Whether the type mentions a generic child, so that nothing can be said of it before the
    /// child is known.
    pub fn mentions_child(&self, ty: &Type) -> bool {
        self.children.iter().any(|c| crate::hygiene::mentions(ty, c))
    }

    /// The name of a region around `field`.
    pub fn region_name(&self, field: &Field) -> String {
        let name = self.options.name.as_ref().map_or_else(|| spoken(&self.name), syn::LitStr::value);
        format!("{name}.{}", field.tensor_name)
    }
}

impl Field {
    fn read(n: usize, field: syn::Field, findings: &mut Findings) -> Self {
        let (member, tensor_name) = match field.ident {
            Some(name) => {
                let spoken = spoken(&name);
                (Member::Named(name), spoken)
            }
            None => (Member::Unnamed(Index::from(n)), n.to_string()),
        };
        Self {
            member,
            tensor_name,
            local: numbered("__ckpt_field", n),
            role: Role::read(&field.attrs, findings),
            ty: crate::hygiene::as_operand(field.ty),
        }
    }
}

impl Step<'_> {
    /// Whether its activations are computed again in the backward pass.
    pub fn recomputes(&self) -> bool {
        self.options.kind == Kind::Recompute
    }

    /// Whether it is a region at all.
    pub fn is_region(&self) -> bool {
        self.options.kind != Kind::Plain
    }
}

fn options(attributes: &[Attribute], findings: &mut Findings) -> Options {
    let carrier = attributes.iter().find(|a| a.path().is_ident(CARRIER));
    match carrier.map(|a| &a.meta) {
        Some(Meta::List(list)) => Options::of_tokens(list.tokens.clone(), STRUCT, findings),
        _ => Options::default(),
    }
}
