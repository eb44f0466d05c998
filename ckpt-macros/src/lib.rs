//! The procedural macros of ckpt. Use them through `ckpt-runtime`, which re-exports them.
#![forbid(unsafe_code)]

mod check;
mod declare;
mod diagnostic;
mod direction;
mod dispatch;
#[cfg(test)]
mod expansions;
mod flow;
mod hygiene;
mod options;
mod roles;
mod sequence;

use proc_macro::TokenStream;

/// Makes a struct of layers a checkpointed model: its fields run in order, and a field marked
/// `#[checkpoint]` keeps no activations but computes them again in the backward pass.
///
/// Options: `builder = Name`, `forward = custom`, `dtype = E`, `device = D`, `name = ".."`,
/// `allow(whole_model)`, `crate = ::path`.
#[proc_macro_attribute]
pub fn checkpointed(options: TokenStream, item: TokenStream) -> TokenStream {
    dispatch::checkpointed(options.into(), item.into()).into()
}

/// What `#[checkpointed]` on a struct hands over to: a derive sees the fields after their `#[cfg]`s
/// are resolved, an attribute before.
#[doc(hidden)]
#[proc_macro_derive(__CheckpointedStruct, attributes(__ckpt, checkpoint, param, buffer, scalar, skip, policy))]
pub fn derive_checkpointed_struct(item: TokenStream) -> TokenStream {
    declare::derive(item.into()).into()
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
    sequence::expand(input.into()).into()
}
