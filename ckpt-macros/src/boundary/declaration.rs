//! What `#[derive(Boundary)]` reads: the parts of the type, and its dtype, device and tape.
//!
//! The dtype and the device are those that `#[boundary(dtype = .., device = ..)]` names, or the
//! type parameters whose bounds say so, or those of the first float tensor in a field. A type that
//! has none of them holds no tensor and crosses for all.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Field, Fields, Generics, Meta, Type, TypeParam, TypeParamBound, Variant};

use crate::{
    diagnostic::{Findings, codes},
    hygiene::{as_operand, mentions},
    options::{self, Kind, Options},
    roles::{DEVICE_BOUNDS, DTYPE_BOUNDS, bounded, bounds_of},
    tensor_type::{TensorType, name_of, tensors},
};

/// A type that is to cross.
#[derive(Debug)]
pub struct Declaration {
    /// Its name.
    pub name: Ident,
    /// Its generics, as written.
    pub generics: Generics,
    /// The path to the run-time crate.
    pub rt: TokenStream,
    /// The dtype that it crosses for; `None` for all.
    pub dtype: Option<Type>,
    /// The device that it crosses for; `None` for all.
    pub device: Option<Type>,
    /// The tape of its tensors, if one is written.
    pub tape: Option<Tape>,
    /// Whether it is an enum.
    pub is_enum: bool,
    /// Its variants; a struct is one.
    pub variants: Vec<Case>,
}

/// The tape of a type's tensors.
#[derive(Debug)]
pub enum Tape {
    /// A type parameter.
    Parameter(Ident),
    /// This one.
    Fixed(Box<Type>),
}

/// A variant of an enum, or a struct.
#[derive(Debug)]
pub struct Case {
    /// The variant's name.
    pub name: Ident,
    /// Its fields.
    pub parts: Vec<Part>,
}

/// A field.
#[derive(Debug)]
pub struct Part {
    /// How a pattern names it: its name or its index.
    pub member: TokenStream,
    /// Its type.
    pub ty: Type,
    /// Whether it crosses as a plain value.
    pub plain: bool,
}

impl Declaration {
    /// Reads the type; `None`, and a finding, where it can be none that crosses.
    pub fn read(input: DeriveInput, findings: &mut Findings) -> Option<Self> {
        let options = marks(&input.attrs, options::BOUNDARY, findings);
        for lifetime in input.generics.lifetimes() {
            findings.push(
                codes::SIGNATURE,
                lifetime,
                "a value that crosses a region's edge is kept until the backward pass, so it can borrow nothing",
                "hold the value itself, or an `Arc` of it in a field marked `#[boundary(plain)]`",
            );
        }
        let (is_enum, variants) = match input.data {
            Data::Struct(data) => {
                (false, vec![Case { name: input.ident.clone(), parts: parts(data.fields, findings) }])
            }
            Data::Enum(data) => (true, data.variants.into_iter().map(|v| case(v, findings)).collect()),
            Data::Union(_) => {
                findings.push(
                    codes::MISPLACED_MARK,
                    &input.ident,
                    "a union cannot cross a region's edge: nothing says which of its fields is there",
                    "make it an enum",
                );
                return None;
            }
        };
        let fields: Vec<&Part> = variants.iter().flat_map(|v: &Case| &v.parts).filter(|p| !p.plain).collect();
        let found: Vec<TensorType<'_>> = fields.iter().flat_map(|p| tensors(&p.ty)).collect();
        let generics = input.generics;
        let named = |name: &Ident| -> Type { syn::parse_quote!(#name) };
        let device_parameter = bounded(&generics, DEVICE_BOUNDS);
        let dtype = options
            .dtype
            .as_ref()
            .or(bounded(&generics, DTYPE_BOUNDS).as_ref())
            .map(named)
            .or_else(|| found.iter().find(|t| t.is_float()).map(|t| t.dtype.clone()))
            .or_else(|| dtype_of_device(&generics, device_parameter.as_ref()?));
        let device = options
            .device
            .as_ref()
            .or(device_parameter.as_ref())
            .map(named)
            .or_else(|| found.first().map(|t| t.device.clone()));
        let tape = found.iter().filter_map(|t| t.tape).find(|ty| name_of(ty).is_none_or(|n| n != "NoneTape"));
        let tape = match (options.tape, tape) {
            (Some(name), _) => Some(Tape::Parameter(name)),
            (None, Some(ty)) => Some(match name_of(ty) {
                Some(name) if generics.type_params().any(|p| p.ident == *name) => Tape::Parameter(name.clone()),
                _ => Tape::Fixed(Box::new(ty.clone())),
            }),
            (None, None) => bounded(&generics, &["Tape", "InputTape"]).map(Tape::Parameter),
        };
        if let Some(Tape::Parameter(name)) = &tape
            && !generics.type_params().any(|p| p.ident == *name)
        {
            findings.push(
                codes::SIGNATURE,
                name,
                format!("`{name}` is not a type parameter of this type"),
                "name the type parameter that is its tensors' tape",
            );
        }
        Some(Self { rt: options.rt, name: input.ident, generics, dtype, device, tape, is_enum, variants })
    }

    /// The type parameters other than the dtype, the device and the tape.
    fn others(&self) -> impl Iterator<Item = &TypeParam> {
        let is = |ty: &Option<Type>, p: &TypeParam| ty.as_ref().and_then(name_of).is_some_and(|n| *n == p.ident);
        self.generics.type_params().filter(move |p| {
            !is(&self.dtype, p)
                && !is(&self.device, p)
                && !matches!(&self.tape, Some(Tape::Parameter(t)) if *t == p.ident)
        })
    }

    /// Whether `part`'s crossing depends on a type parameter of which nothing is known, so that it
    /// has to be asked for. Of the other fields it must hold, and is checked where they stand.
    pub fn depends(&self, part: &Part) -> bool {
        self.others().any(|p| mentions(&part.ty, &p.ident))
    }

    /// Whether what is stored of `part` is written out in the stored type. The others are arguments
    /// of it, and as such must be as visible as the type itself.
    pub fn is_written_out(&self, part: &Part) -> bool {
        !self.depends(part) && !self.follows_tape(part)
    }

    /// As [`depends`](Self::depends), on one that nothing at all is asked of.
    pub fn depends_on_unbounded(&self, part: &Part) -> bool {
        self.others().any(|p| bounds_of(&self.generics, &p.ident).is_empty() && mentions(&part.ty, &p.ident))
    }

    /// Whether `part` is on the tape that is a type parameter.
    pub fn follows_tape(&self, part: &Part) -> bool {
        matches!(&self.tape, Some(Tape::Parameter(t)) if mentions(&part.ty, t))
    }
}

/// The options of this derive's own marks.
struct Marks {
    dtype: Option<Ident>,
    device: Option<Ident>,
    tape: Option<Ident>,
    plain: bool,
    rt: TokenStream,
}

fn marks(attrs: &[Attribute], words: options::Words, findings: &mut Findings) -> Marks {
    let mut tokens = TokenStream::new();
    for attr in attrs.iter().filter(|a| a.path().is_ident("boundary")) {
        match &attr.meta {
            Meta::List(list) => {
                let list = &list.tokens;
                let comma = (!tokens.is_empty()).then(|| quote!(,));
                tokens.extend(quote!(#comma #list));
            }
            other => findings.push(
                codes::SYNTAX,
                other,
                "`boundary` says nothing by itself",
                "write `#[boundary(plain)]` on a field that is no tensor, `#[boundary(dtype = E, device = D)]` on the type",
            ),
        }
    }
    let options = Options::of_tokens(tokens, words, findings);
    Marks {
        rt: options.runtime(),
        plain: options.kind == Kind::Plain,
        dtype: options.dtype,
        device: options.device,
        tape: options.tape,
    }
}

fn case(variant: Variant, findings: &mut Findings) -> Case {
    for attr in variant.attrs.iter().filter(|a| a.path().is_ident("boundary")) {
        findings.push(
            codes::MISPLACED_MARK,
            attr,
            "a variant has no options of its own",
            "mark the fields in it, or the whole enum",
        );
    }
    Case { name: variant.ident, parts: parts(variant.fields, findings) }
}

fn parts(fields: Fields, findings: &mut Findings) -> Vec<Part> {
    fields.into_iter().enumerate().map(|(i, field)| part(i, field, findings)).collect()
}

fn part(i: usize, field: Field, findings: &mut Findings) -> Part {
    let plain = marks(&field.attrs, options::BOUNDARY_FIELD, findings).plain;
    let member = match field.ident {
        Some(name) => name.into_token_stream(),
        None => syn::Index { index: u32::try_from(i).unwrap_or(u32::MAX), span: Span::call_site() }.into_token_stream(),
    };
    Part { member, ty: as_operand(field.ty), plain }
}

/// The `f32` of a device bounded by `Device<f32>`.
fn dtype_of_device(generics: &Generics, device: &Ident) -> Option<Type> {
    bounds_of(generics, device).into_iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
        match arguments.args.first() {
            Some(syn::GenericArgument::Type(ty)) if DEVICE_BOUNDS.iter().any(|b| last.ident == b) => Some(ty.clone()),
            _ => None,
        }
    })
}

/// The name of the `i`th binding of a pattern.
pub fn binding(i: usize) -> Ident {
    format_ident!("__ckpt_{i}")
}
