//! The rules of a declaration. Each pushes what it finds and none returns early.

use quote::ToTokens;
use syn::{Expr, ExprLit, GenericArgument, Lit, PathArguments, Type};

use super::syntax::{Declaration, Field, Role, Step};
use crate::{
    check,
    diagnostic::{Findings, codes},
    hygiene::mentions,
    options::{Kind, Segments},
    sequence,
};

/// Every rule.
pub fn check(d: &Declaration, findings: &mut Findings) {
    scalars(d, findings);
    interior_mutability(d, findings);
    policies(d, findings);
    layers(d, findings);
    if d.options.custom_forward {
        // Of a forward that is neither nobody knows what marks its fields should have.
        if !d.options.forward_unread {
            marks_of_a_custom_forward(d, findings);
        }
    } else {
        inert_fields(d, findings);
        something_marked(d, findings);
    }
    for step in d.steps() {
        segments(&step, findings);
    }
}

fn scalars(d: &Declaration, findings: &mut Findings) {
    for field in &d.fields {
        if matches!(field.role, Role::Scalar(_)) && mentions(&field.ty, &d.roles.dtype) {
            findings.push(
                codes::FIXED_DTYPE_OR_DEVICE,
                &field.ty,
                "a saved number keeps its type when the model changes its dtype",
                "make it an `f64`, and convert it where it is used",
            );
        }
    }
}

/// Cells, locks and atomics: a helper may write through one where no macro sees it.
fn interior_mutability(d: &Declaration, findings: &mut Findings) {
    for field in &d.fields {
        let (options, help) = match &field.role {
            Role::Module { options, .. } => (
                Some(options),
                "keep what changes outside of the model, or mark the field `#[skip(allow(interior_mutability))]` where no region writes to it",
            ),
            Role::Skip { options } => (
                Some(options),
                "keep what changes outside of the model, or write `#[skip(allow(interior_mutability))]` where no region writes to it",
            ),
            _ => (None, "a number or a tensor of the model is not shared: write its type alone"),
        };
        let allowed = options.is_some_and(|o| o.allows("interior_mutability"));
        if let Some(what) = check::interior_mutability_in(&field.ty)
            && !allowed
            && !d.options.allows("interior_mutability")
        {
            let name = field.member.to_token_stream();
            findings.push(
                codes::INTERIOR_MUTABILITY,
                what,
                format!("through `{what}` the forward can change `{name}` behind `&self`, once more in each recompute"),
                help,
            );
        }
    }
}

fn policies(d: &Declaration, findings: &mut Findings) {
    let policies = d.fields.iter().filter(|f| matches!(f.role, Role::Policy));
    for second in policies.skip(1) {
        findings.push(
            codes::OPTION_TWICE,
            &second.member,
            "a model runs under one policy, and this is its second",
            "keep one `#[policy]` field",
        );
    }
}

/// Layers that cannot be layers, as far as their names tell.
fn layers(d: &Declaration, findings: &mut Findings) {
    for field in &d.fields {
        let Role::Module { marked, .. } = &field.role else {
            continue;
        };
        let Some(help) = not_a_layer(&field.ty).filter(|_| check::interior_mutability_in(&field.ty).is_none()) else {
            continue;
        };
        let message = if *marked {
            "there is no module in this field to run as a region"
        } else {
            "this field is no module, so it cannot run in its place"
        };
        findings.push(codes::MISPLACED_MARK, &field.ty, message, help);
    }
}

/// Whether what a container holds looks like layers: a type with parameters of its own, or a tuple of types.
fn holds_layers(container: &syn::TypePath) -> bool {
    let PathArguments::AngleBracketed(arguments) =
        container.path.segments.last().map_or(&PathArguments::None, |s| &s.arguments)
    else {
        return false;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(Type::Path(inner))) => {
            let last = inner.path.segments.last();
            let standard = ["Vec", "Option", "Box", "Rc", "Arc", "Cell", "RefCell", "Mutex", "HashMap"];
            last.is_some_and(|s| {
                matches!(&s.arguments, PathArguments::AngleBracketed(a) if a.args.len() > 1)
                    && !standard.contains(&s.ident.to_string().as_str())
            })
        }
        Some(GenericArgument::Type(Type::Tuple(t))) => {
            t.elems.len() > 1
                && t.elems.iter().all(
                    |e| matches!(e, Type::Path(p) if p.path.segments.last().is_some_and(|s| !s.arguments.is_empty())),
                )
        }
        _ => false,
    }
}

/// What a field whose type is known to be no layer's is marked instead.
pub fn not_a_layer(ty: &Type) -> Option<&'static str> {
    const NUMBERS: &[&str] =
        &["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"];
    const OTHERS: &[&str] = &[
        "PhantomData",
        "bool",
        "String",
        "str",
        "char",
        "Option",
        "Vec",
        "Box",
        "Rc",
        "Arc",
        "Cell",
        "RefCell",
        "Mutex",
        "HashMap",
    ];
    match ty {
        Type::Group(g) => not_a_layer(&g.elem),
        Type::Paren(p) => not_a_layer(&p.elem),
        Type::Path(p) => {
            let name = p.path.segments.last()?.ident.to_string();
            let name = name.as_str();
            if name == "Tensor" {
                Some(
                    "a tensor that learns is `#[param(init = ..)]`, one that does not `#[buffer]`, and both need `forward = custom`",
                )
            } else if matches!(name, "Vec" | "Option" | "Box" | "Rc" | "Arc") && holds_layers(p) {
                Some(match name {
                    "Vec" => {
                        "dfdx has no module of a `Vec` of layers: write `Repeated<Layer, N>`, or a tuple of different layers"
                    }
                    "Option" => {
                        "dfdx has no module of a layer that may be missing: keep the layer and decide in a forward of your own, or make the layer a generic child"
                    }
                    _ => {
                        "dfdx has no module of a layer behind a pointer: write the layer itself, whose clones share their data"
                    }
                })
            } else if NUMBERS.contains(&name) {
                Some("a number that is saved with the model is `#[scalar(default = ..)]`, one that is not `#[skip]`")
            } else if OTHERS.contains(&name) {
                Some("mark it `#[skip]`: it is then `Default` in a new model and takes no part")
            } else {
                None
            }
        }
        Type::Array(_)
        | Type::FnPtr(_)
        | Type::Never(_)
        | Type::Ptr(_)
        | Type::Reference(_)
        | Type::Slice(_)
        | Type::TraitObject(_) => Some("mark it `#[skip]`: it is then `Default` in a new model and takes no part"),
        _ => None,
    }
}

fn marks_of_a_custom_forward(d: &Declaration, findings: &mut Findings) {
    for field in &d.fields {
        if let Role::Module { marked: true, .. } = field.role {
            findings.push(
                codes::MISPLACED_MARK,
                &field.member,
                "with `forward = custom` this field runs where the forward calls it, not in its place here",
                "mark the `let`, block or `for` of the forward that runs it",
            );
        }
    }
}

/// Fields that only a forward of the user's own can use.
fn inert_fields(d: &Declaration, findings: &mut Findings) {
    for field in &d.fields {
        let what = match field.role {
            Role::Parameter(_) | Role::Buffer(_) => "a bare tensor",
            Role::Scalar(_) => "a number",
            Role::Module { .. } | Role::Skip { .. } | Role::Policy => continue,
        };
        findings.push(
            codes::MISPLACED_MARK,
            &field.member,
            format!("the fields of this struct run in order, and {what} cannot run"),
            "give the struct `#[checkpointed(forward = custom)]` and write the forward on a `#[checkpointed] impl`",
        );
    }
}

fn something_marked(d: &Declaration, findings: &mut Findings) {
    let steps = d.steps();
    let marked: Vec<_> = d.fields.iter().filter(|f| is_checkpointed(f)).map(|f| &f.member).collect();
    if marked.is_empty() {
        findings.push(
            codes::NOTHING_MARKED,
            &d.name,
            "nothing in this struct is checkpointed",
            "mark the fields whose activations are to be computed again with `#[checkpoint]`, or write `#[checkpointed(forward = custom)]` and mark the statements of your forward",
        );
    }
    if let [step @ Step { options, field: Field { role: Role::Module { marked: true, .. }, .. } }] = steps.as_slice()
        && step.recomputes()
        && options.segments.is_none()
        && !options.allows("whole_model")
        && !d.options.allows("whole_model")
    {
        findings.push(
            codes::WHOLE_MODEL,
            &step.field.member,
            "the whole model is one region: its recompute holds all activations at once, so this saves nothing",
            "mark parts of it, cut it with `#[checkpoint(segments = N)]`, or, for a part of a larger model, write `allow(whole_model)`",
        );
    }
}

fn is_checkpointed(field: &Field) -> bool {
    matches!(&field.role, Role::Module { options, marked: true } if options.kind != Kind::Plain)
}

fn segments(step: &Step<'_>, findings: &mut Findings) {
    let Some(Segments::Count(segments, span)) = step.options.segments else {
        return;
    };
    let Some(layers) = layers_in(&step.field.ty) else {
        return;
    };
    if segments > layers {
        sequence::too_many(segments, layers, span, findings);
    }
}

/// How many layers a type has, where its tokens tell.
fn layers_in(ty: &Type) -> Option<usize> {
    match ty {
        Type::Group(g) => layers_in(&g.elem),
        Type::Paren(p) => layers_in(&p.elem),
        Type::Tuple(t) => Some(t.elems.len()),
        Type::Path(p) => {
            let last = p.path.segments.last().filter(|s| s.ident == "Repeated")?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return None;
            };
            match arguments.args.last()? {
                GenericArgument::Const(Expr::Lit(ExprLit { lit: Lit::Int(n), .. })) => n.base10_parse().ok(),
                // A literal may also be read as a type.
                other => other.to_token_stream().to_string().parse().ok(),
            }
        }
        _ => None,
    }
}
