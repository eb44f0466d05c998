//! The procedural macros of ckpt. Use them through `ckpt-runtime`, which re-exports them.
#![forbid(unsafe_code)]

mod boundary;
mod call;
mod check;
mod declare;
mod diagnostic;
mod direction;
mod dispatch;
#[cfg(test)]
mod expansions;
mod flow;
mod function;
#[cfg(test)]
mod fuzz;
mod guard;
mod hygiene;
mod mark;
mod options;
#[cfg(test)]
mod passing;
mod roles;
mod sequence;
mod tensor_type;
mod unread;

use proc_macro::TokenStream;

use guard::guarded;

/// Makes a struct of layers a checkpointed model: its fields run in order, and a field marked
/// `#[checkpoint]` keeps no activations but computes them again in the backward pass.
///
/// Options: `builder = Name`, `forward = custom`, `dtype = E`, `device = D`, `name = ".."`,
/// `allow(whole_model)`, `crate = ::path`.
#[proc_macro_attribute]
pub fn checkpointed(options: TokenStream, item: TokenStream) -> TokenStream {
    let item: proc_macro2::TokenStream = item.into();
    guarded(item.clone(), || dispatch::checkpointed(options.into(), item)).into()
}

/// What `#[checkpointed]` on a struct hands over to: a derive sees the fields after their `#[cfg]`s
/// are resolved, an attribute before.
#[doc(hidden)]
#[proc_macro_derive(__CheckpointedStruct, attributes(__ckpt, checkpoint, param, buffer, scalar, skip, policy))]
pub fn derive_checkpointed_struct(item: TokenStream) -> TokenStream {
    guarded(Default::default(), || declare::derive(item.into())).into()
}

/// A run of layers cut into segments: as a type, as a struct with named layers, and as an
/// expression.
///
/// ```text
/// type Cnn = checkpoint_sequential!(segments = 2, Linear<4, 8>, ReLU, Linear<8, 2>);
/// checkpoint_sequential! { segments = 2; pub struct Named { first: Linear<4, 8>, act: ReLU, last: Linear<8, 2> } }
/// let y = checkpoint_sequential!(segments = 2, x, self.a, self.b, self.c)?;
/// ```
///
/// A `struct` makes the second form. A macro is not told whether it stands for a type or for an
/// expression, so the list tells: what cannot be read as types is an expression, what cannot be
/// read as expressions is a type, and where both readings are possible, the case of the first
/// name decides, as it does for Rust's readers: `x, first, second` is an expression, `ReLU, Tanh`
/// a type.
#[proc_macro]
pub fn checkpoint_sequential(input: TokenStream) -> TokenStream {
    guarded(Default::default(), || sequence::expand(input.into())).into()
}

/// Makes the body of a function one region: of its inside nothing is stored, and it is computed
/// again in the backward pass.
///
/// ```text
/// #[checkpoint]
/// pub fn ffn<S: Dim, const M: usize, const H: usize, E: Dtype, D: Device<E>>(
///     up: &modules::Linear<M, H, E, D>,
///     norm: &mut modules::BatchNorm1D<M, E, D>,
///     down: &modules::Linear<H, M, E, D>,
///     x: Tensor<(S, Const<M>), E, D>,
///     mask: Option<Tensor<(S, Const<M>), bool, D>>,
/// ) -> Tensor<(S, Const<M>), E, D> {
///     let h = up.forward(norm.forward(x)).relu();
///     down.forward(h)
/// }
/// ```
///
/// becomes two functions, generic over the caller's tape,
///
/// ```text
/// pub fn ffn<S, M, H, E, D, T: ..>(
///     up: &modules::Linear<M, H, E, D>,
///     norm: T::RefMut<'_, modules::BatchNorm1D<M, E, D>>, // `&mut` in training, `&` in inference
///     down: &modules::Linear<H, M, E, D>,
///     x: Tensor<(S, Const<M>), E, D, T>,
///     mask: Option<Tensor<(S, Const<M>), bool, D>>,
/// ) -> Tensor<(S, Const<M>), E, D, T>
///
/// pub fn try_ffn<..>(..) -> Result<Tensor<(S, Const<M>), E, D, T>, D::Err>
/// ```
///
/// with the body written for each kind of tape: for `NoneTape` (inference) as it stands, without a
/// region and without a clone; for `OwnedTape` and for the shared tape of a checkpointed forward or
/// of another region as a region. A function that returns a `Result<Tensor<..>, D::Err>` may use
/// `?`; both functions then return it.
///
/// # Parameters
/// - `&M` and `&mut M` are modules: they run through `Module`, or in training through `ModuleMut`
///   where it is `&mut`. Slices (`&[Block]`, `&mut [Block]`) are too.
/// - `Tensor<S, E, D>` follows the caller's tape. The first tells whether gradients are tracked;
///   where they are, the others may come on any tape or on none, each as it is. A tensor inside an
///   `Option`, a tuple, an array or a `Vec` must be on the first one's tape. In inference none has
///   a tape.
/// - Where no float tensor comes in, the first `Tensor<S, usize, D>` carries the tape, as for dfdx's
///   embedding. Inside a checkpointed forward, where index tensors have none, call the embedding
///   itself instead.
/// - A type of yours that derives [`macro@Boundary`] and has a tape writes `_` for it: `Qkv<S, E, D, _>`.
/// - Everything else is a constant: masks, further index tensors, `Option`s, `impl Trait` values,
///   flags, any value that is `Clone + 'static`.
///
/// The dtype and device are generic, or those of the first float tensor (`Tensor<S, f32, Cpu>`).
///
/// # Options
/// `keep`, `plain`, `verify`, `verify(tolerance = ..)`, `name = ".."` (the region's name; else the
/// function's), `allow(..)`, `dtype = E`, `device = D`, `crate = ::path`.
#[proc_macro_attribute]
pub fn checkpoint(options: TokenStream, item: TokenStream) -> TokenStream {
    let item: proc_macro2::TokenStream = item.into();
    guarded(item.clone(), || mark::attribute(options.into(), item)).into()
}

/// What `ckpt_runtime::checkpoint!` hands over to; a macro crate cannot give a macro the name of
/// its attribute.
///
/// ```text
/// let h = checkpoint!(self.attn, x)?;
/// let h = checkpoint!(&mut self.norm, x)?;
/// let h = checkpoint!(name = "attention", verify, self.attn, x)?;
/// ```
///
/// becomes
///
/// ```text
/// let h = checkpoint_ref(&Site::new("attn"), &self.attn, x)?;
/// let h = checkpoint_mut(&Site::new("norm"), &mut self.norm, x)?;
/// let h = checkpoint_ref(&Site::new("attention").verify(0.0), &self.attn, x)?;
/// ```
#[doc(hidden)]
#[proc_macro]
pub fn checkpoint_call(input: TokenStream) -> TokenStream {
    guarded(Default::default(), || call::expand(input.into())).into()
}

/// Lets a struct or an enum cross a region's edge, field by field.
///
/// ```text
/// #[derive(Boundary)]
/// pub struct Qkv<S: Shape, E: Dtype, D: Device<E>, T> {
///     q: Tensor<S, E, D, T>,
///     k: Tensor<S, E, D, T>,
///     #[boundary(plain)]
///     config: Config,
/// }
/// ```
///
/// becomes
///
/// ```text
/// enum Stored<S0, S1, S2> { Qkv(S0, S1, S2) }
/// impl<S, E, D, T> Boundary<E, D> for Qkv<S, E, D, T> where E: Real, T: InputTape<E, D>, .. {
///     type Stored = Stored<Tensor<S, E, D>, Tensor<S, E, D>, Plain<Config>>;
///     ..
/// }
/// impl<S, E, D> Retape<E, D> for Qkv<S, E, D, NoneTape> { type Shared = Qkv<S, E, D, SharedTape<E, D>>; .. }
/// impl<S, E, D, T> Edge for Qkv<S, E, D, T> { type Tape = T; }
/// ```
///
/// Every field is a boundary value itself, or is marked `#[boundary(plain)]`, which any
/// `Clone + 'static` type without tensors can be. The dtype and device are the type parameters
/// bounded by `Dtype` and `Device`, or those of the first tensor; where they are hidden, write
/// `#[boundary(dtype = f32, device = Cpu)]`. A type that has none crosses for all. The tape is the
/// type parameter that is the last argument of a field's tensor; where it is hidden, write
/// `#[boundary(tape = T)]`. `crate = ::path` names the run time.
#[proc_macro_derive(Boundary, attributes(boundary))]
pub fn derive_boundary(item: TokenStream) -> TokenStream {
    guarded(Default::default(), || boundary::derive(item.into())).into()
}
