//! Shapes whose last dimension counts features.

use dfdx::shapes::{Const, ConstDim, Dim, Shape};

/// A dimension that may be `N`: the constant, or one known as the program runs.
#[diagnostic::on_unimplemented(
    message = "this layer takes `Const<{N}>` channels or features, and gets `{Self}`",
    label = "`Const<{N}>` fits, and so does `usize`"
)]
pub trait Fits<const N: usize>: Dim {}
impl<const N: usize> Fits<N> for Const<N> {}
impl<const N: usize> Fits<N> for usize {}

/// A shape of one to four dimensions whose last one may be `N`: a vector of `N` features, or rows
/// of them in any arrangement.
#[diagnostic::on_unimplemented(
    message = "a layer of {N} features does not take a tensor of shape `{Self}`",
    label = "the last dimension must be `Const<{N}>` or `usize`, behind up to three others"
)]
pub trait Features<const N: usize>: Shape {
    /// The shape with `M` features.
    type With<const M: usize>: Shape;
    /// The shape with `M` features.
    fn with<const M: usize>(&self) -> Self::With<M>;
}

macro_rules! features {
    ($($($Lead:ident $lead:tt),*; $last:tt;)*) => { $(
        impl<const N: usize, $($Lead: Dim,)* L: Fits<N>> Features<N> for ($($Lead,)* L,) {
            type With<const M: usize> = ($($Lead,)* Const<M>,);
            fn with<const M: usize>(&self) -> Self::With<M> {
                ($(self.$lead,)* Const,)
            }
        }
    )* };
}
features! {
    ; 0;
    A 0; 1;
    A 0, B 1; 2;
    A 0, B 1, C 2; 3;
}

/// An equal share of `N` channels that `GROUPS` groups have, as a dimension: `N / GROUPS`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Share<const N: usize, const GROUPS: usize>;

impl<const N: usize, const GROUPS: usize> Dim for Share<N, GROUPS> {
    fn size(&self) -> usize {
        Self::SIZE
    }

    fn from_size(size: usize) -> Option<Self> {
        (size == Self::SIZE).then_some(Self)
    }
}

impl<const N: usize, const GROUPS: usize> ConstDim for Share<N, GROUPS> {
    // Layers refuse 0 groups with a message of their own.
    const SIZE: usize = match N.checked_div(GROUPS) {
        Some(share) => share,
        None => 0,
    };
}

/// The number of rows in a shape of `layer`'s input.
///
/// # Panics
/// Where the last dimension is not `features`, or another one is 0.
pub(super) fn rows_in<S: Shape>(layer: &str, shape: &S, features: usize) -> usize {
    let dims: Vec<usize> = shape.concrete().into_iter().collect();
    let last = dims.last().copied().unwrap_or_default();
    assert!(last == features, "{layer} takes {features} features, not {last}: its input is {dims:?}");
    let rows = dims[..dims.len() - 1].iter().product();
    assert!(rows > 0 && features > 0, "{layer} cannot run on nothing: its input is {dims:?}");
    rows
}
