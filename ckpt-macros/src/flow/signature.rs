//! A method's signature: what its parameters are to the engine, and what a module's input and
//! output are in each pass.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{
    FnArg, GenericArgument, GenericParam, Pat, PathArguments, ReceiverKind, ReturnType, Signature, Type, visit::Visit,
};

use super::{
    Access, Parameters, Returns,
    types::{Retape, Tensor, has_float, push_tape, retaped, tensor_type},
};
use crate::{
    diagnostic::{Code, Findings, codes},
    roles::Roles,
};

/// How a method takes `self`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It is a function.
    Nothing,
    /// `&self`.
    Shared,
    /// `&mut self`.
    Exclusive,
    /// By value, or in a box.
    Value,
}

/// How `sig` takes `self`.
pub fn takes(sig: &Signature) -> Takes {
    match sig.receiver().map(|r| &r.kind) {
        None => Takes::Nothing,
        Some(ReceiverKind::Reference(_, _, None)) => Takes::Shared,
        Some(ReceiverKind::Reference(_, _, Some(_))) => Takes::Exclusive,
        Some(_) => Takes::Value,
    }
}

/// The parameters behind `self`.
pub fn typed(sig: &Signature) -> impl Iterator<Item = &syn::PatType> {
    sig.inputs.iter().filter_map(|a| match a {
        FnArg::Typed(t) => Some(t),
        FnArg::Receiver(_) => None,
    })
}

/// The parameters as a body knows them: references to anything but tensors are modules.
pub fn parameters(sig: &Signature, roles: &Roles) -> Parameters {
    let mut p = Parameters::default();
    for t in typed(sig) {
        match (&*t.pat, &*t.ty) {
            (Pat::Ident(name), Type::Reference(r)) if tensor_type(&r.elem, roles).is_none() => {
                let access = if r.mutability.is_some() { Access::Exclusive } else { Access::Shared };
                p.modules.push((name.ident.clone(), access));
            }
            _ => p.values.push(((*t.pat).clone(), (*t.ty).clone())),
        }
    }
    p
}

/// What a body of this signature evaluates to, and the type without the `Result` around it.
pub fn output(sig: &Signature) -> (Returns, Type) {
    let unit = || syn::parse_quote!(());
    match &sig.output {
        ReturnType::Default => (Returns::Unit, unit()),
        ReturnType::Type(_, ty) => match in_result(ty) {
            Some(inner) => (Returns::Result, inner.clone()),
            None => {
                let is_unit = matches!(&**ty, Type::Tuple(t) if t.elems.is_empty());
                let returns = if is_unit { Returns::Unit } else { Returns::Value };
                (returns, (**ty).clone())
            }
        },
    }
}

fn in_result(ty: &Type) -> Option<&Type> {
    let Type::Path(p) = ty else { return None };
    let last = p.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if last.ident == "Result" => Some(inner),
        _ => None,
    }
}

/// The edge of a forward: its types as a module's.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Untaped, as the user wrote them.
    pub inputs: Vec<Type>,
    /// As training gets them.
    pub taped: Vec<Type>,
    /// The generic tapes of further inputs.
    pub tapes: Vec<Ident>,
    /// What the user's forward returns, without a `Result`.
    pub output: Type,
}

impl Edge {
    /// Reads the edge of `sig`, or reports why it has none.
    pub fn read(sig: &Signature, roles: &Roles, rt: &TokenStream, findings: &mut Findings) -> Option<Self> {
        let mut sound = true;
        let mut wrong = |code: Code, at: TokenStream, message: &str, help: &str| {
            findings.push(code, at, message, help);
            sound = false;
        };
        match takes(sig) {
            Takes::Shared => {}
            Takes::Exclusive => wrong(
                codes::MODULE_STATE,
                sig.inputs.first().to_token_stream(),
                "a checkpointed forward does not change its module",
                "write `&self`: the macro makes the training version, which trains what it calls",
            ),
            Takes::Nothing | Takes::Value => wrong(
                codes::SIGNATURE,
                sig.ident.to_token_stream(),
                "a forward borrows its module",
                "write `fn forward(&self, x: ..)`",
            ),
        }
        if let Some(word) = &sig.asyncness {
            wrong(
                codes::SIGNATURE,
                word.to_token_stream(),
                "a forward cannot be `async`",
                "write a plain `fn`; await its inputs before",
            );
        }
        let mut taper = Taper { roles, rt, carried: false, tapes: Vec::new() };
        let (mut inputs, mut taped) = (Vec::new(), Vec::new());
        for (i, t) in typed(sig).enumerate() {
            if let Some(problem) = foreign(&t.ty) {
                wrong(codes::SIGNATURE, t.ty.to_token_stream(), problem.0, problem.1);
            }
            inputs.push((*t.ty).clone());
            let mut ty = (*t.ty).clone();
            taper.tape(&mut ty, i == 0);
            taped.push(ty);
        }
        if !taper.carried {
            wrong(
                codes::SIGNATURE,
                sig.ident.to_token_stream(),
                "no input of this forward can carry the tape",
                "take a `Tensor<.., E, D>` written out, or a `Tensor<.., usize, D>` as the first input",
            );
        }
        let (_, output) = output(sig);
        if let Some(problem) = foreign(&output) {
            wrong(codes::SIGNATURE, output.to_token_stream(), problem.0, problem.1);
        }
        for parameter in &sig.generics.params {
            let name = match parameter {
                GenericParam::Type(t) => &t.ident,
                GenericParam::Const(c) => &c.ident,
                GenericParam::Lifetime(_) => continue,
            };
            if !inputs.iter().any(|t| names(t, name)) {
                wrong(
                    codes::SIGNATURE,
                    name.to_token_stream(),
                    "this generic parameter appears in no input, so a module's input cannot say it",
                    "use it in the type of an input, or make it a parameter of the struct",
                );
            }
        }
        let tapes = taper.tapes;
        sound.then_some(Self { inputs, taped, tapes, output })
    }

    /// The untaped module input.
    pub fn input(&self) -> TokenStream {
        tupled(&self.inputs)
    }

    /// The taped module input.
    pub fn taped_input(&self) -> TokenStream {
        tupled(&self.taped)
    }

    /// The output on a tape that leaves the module.
    pub fn taped_output(&self, roles: &Roles, rt: &TokenStream) -> TokenStream {
        owned(&self.output, roles, rt)
    }
}

/// One type, or a tuple of several.
pub fn tupled<T: ToTokens>(items: &[T]) -> TokenStream {
    match items {
        [one] => one.to_token_stream(),
        several => quote!((#(#several),*)),
    }
}

/// The shared tape's type.
pub fn shared_tape(roles: &Roles, rt: &TokenStream) -> TokenStream {
    let (e, d) = (&roles.dtype, &roles.device);
    quote!(#rt::SharedTape<#e, #d>)
}

fn owned_tape(roles: &Roles, rt: &TokenStream) -> TokenStream {
    let (e, d) = (&roles.dtype, &roles.device);
    quote!(#rt::__private::dfdx::tensor::OwnedTape<#e, #d>)
}

/// `ty` as a module outside of the forward gives or takes it in training.
pub fn owned(ty: &Type, roles: &Roles, rt: &TokenStream) -> TokenStream {
    projected(ty, roles, rt, &quote!(Owned))
}

/// `ty` as a module is fed in training.
pub fn fed(ty: &Type, roles: &Roles, rt: &TokenStream) -> TokenStream {
    projected(ty, roles, rt, &quote!(Fed))
}

fn projected(ty: &Type, roles: &Roles, rt: &TokenStream, form: &TokenStream) -> TokenStream {
    if tensor_type(ty, roles) == Some(Tensor::Float) {
        return retaped(ty, roles, owned_tape(roles, rt)).into_token_stream();
    }
    let (e, d) = (&roles.dtype, &roles.device);
    quote!(<#ty as #rt::Retape<#e, #d>>::#form)
}

/// Gives tapes to inputs, in order: the first float tensor carries the tape, or an index tensor
/// that is the very first input; each further float tensor may have a tape of its own.
struct Taper<'a> {
    roles: &'a Roles,
    rt: &'a TokenStream,
    carried: bool,
    tapes: Vec<Ident>,
}

impl Taper<'_> {
    fn tape(&mut self, ty: &mut Type, first: bool) {
        match ty {
            Type::Tuple(t) => {
                for (i, part) in t.elems.iter_mut().enumerate() {
                    self.tape(part, first && i == 0);
                }
            }
            Type::Paren(t) => self.tape(&mut t.elem, first),
            Type::Group(t) => self.tape(&mut t.elem, first),
            _ => {
                let tape = match tensor_type(ty, self.roles) {
                    Some(Tensor::Index) if first => {
                        self.carried = true;
                        owned_tape(self.roles, self.rt)
                    }
                    Some(Tensor::Float) if !self.carried => {
                        self.carried = true;
                        owned_tape(self.roles, self.rt)
                    }
                    Some(Tensor::Float) => {
                        let name = format_ident!("__CkptT{}", self.tapes.len() + 1);
                        self.tapes.push(name.clone());
                        name.into_token_stream()
                    }
                    _ => return,
                };
                if let Type::Path(p) = ty {
                    push_tape(&mut p.path, &tape);
                }
            }
        }
    }
}

/// Why a module's input or output cannot be of this type.
fn foreign(ty: &Type) -> Option<(&'static str, &'static str)> {
    match ty {
        Type::Reference(_) => Some((
            "a module's input and output are values, not references",
            "take it by value: cloning a tensor shares its data",
        )),
        Type::ImplTrait(_) => {
            Some(("the macro must see this type", "write it out, or name a generic parameter for it"))
        }
        _ => None,
    }
}

fn names(ty: &Type, name: &Ident) -> bool {
    struct Find<'a>(&'a Ident, bool);
    impl<'ast> Visit<'ast> for Find<'_> {
        fn visit_ident(&mut self, i: &'ast Ident) {
            self.1 |= i == self.0;
        }
    }
    let mut f = Find(name, false);
    f.visit_type(ty);
    f.1
}

/// Whether a signature names a float tensor.
pub fn mentions_float(sig: &Signature, roles: &Roles) -> bool {
    typed(sig).any(|t| has_float(&t.ty, roles))
        || matches!(&sig.output, ReturnType::Type(_, ty) if has_float(ty, roles))
}

/// Puts all float tensors of a signature's types on the shared tape.
pub fn share(sig: &mut Signature, roles: &Roles, rt: &TokenStream) {
    use syn::visit_mut::VisitMut;
    let mut retape = Retape { roles, tape: shared_tape(roles, rt) };
    for input in &mut sig.inputs {
        if let FnArg::Typed(t) = input {
            retape.visit_type_mut(&mut t.ty);
        }
    }
    retape.visit_return_type_mut(&mut sig.output);
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn roles() -> Roles {
        Roles { dtype: parse_quote!(E), device: parse_quote!(D) }
    }

    fn taped(sig: Signature) -> (String, Vec<Code>) {
        let mut f = Findings::new();
        let edge = Edge::read(&sig, &roles(), &quote!(rt), &mut f);
        let input = edge.map(|e| e.taped_input().to_string().replace(' ', ""));
        let input = input.map(|t| t.replace("rt::__private::dfdx::tensor::", ""));
        (input.unwrap_or_default(), f.codes())
    }

    #[test]
    fn the_first_input_that_can_carries_the_tape() {
        let table: &[(Signature, &str)] = &[
            (parse_quote!(fn forward(&self, x: Tensor<S, E, D>) -> Tensor<S, E, D>), "Tensor<S,E,D,OwnedTape<E,D>>"),
            (
                parse_quote!(fn forward(&self, m: Option<Tensor<S, bool, D>>, x: Tensor<S, E, D>, y: Tensor<S, E, D>) -> Tensor<S, E, D>),
                "(Option<Tensor<S,bool,D>>,Tensor<S,E,D,OwnedTape<E,D>>,Tensor<S,E,D,__CkptT1>)",
            ),
            (
                parse_quote!(fn forward(&self, ids: Tensor<S, usize, D>, x: Tensor<S, E, D>) -> Tensor<S, E, D>),
                "(Tensor<S,usize,D,OwnedTape<E,D>>,Tensor<S,E,D,__CkptT1>)",
            ),
            (
                parse_quote!(fn forward(&self, x: Tensor<S, E, D>, ids: Tensor<S, usize, D>) -> Tensor<S, E, D>),
                "(Tensor<S,E,D,OwnedTape<E,D>>,Tensor<S,usize,D>)",
            ),
        ];
        for (sig, expected) in table {
            assert_eq!(taped(sig.clone()), ((*expected).to_owned(), vec![]));
        }
    }

    #[test]
    fn what_no_module_can_have_is_reported() {
        let table: &[(Signature, Code)] = &[
            (parse_quote!(fn forward(&mut self, x: Tensor<S, E, D>) -> Tensor<S, E, D>), codes::MODULE_STATE),
            (parse_quote!(fn forward(self, x: Tensor<S, E, D>) -> Tensor<S, E, D>), codes::SIGNATURE),
            (parse_quote!(fn forward(&self, x: Mine<E>) -> Tensor<S, E, D>), codes::SIGNATURE),
            (
                parse_quote!(fn forward(&self, x: Tensor<S, E, D>, y: &Tensor<S, E, D>) -> Tensor<S, E, D>),
                codes::SIGNATURE,
            ),
            (parse_quote!(fn forward<B: Dim>(&self, x: Tensor<S, E, D>) -> Tensor<(B,), E, D>), codes::SIGNATURE),
        ];
        for (sig, code) in table {
            assert_eq!(taped(sig.clone()), (String::new(), vec![*code]));
        }
    }
}
