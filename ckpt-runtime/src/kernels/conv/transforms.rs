//! The transforms of Winograd's minimal filtering F(4×4, 3×3), over 16 channels at a time.
//!
//! Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (arXiv 1509.09308), with the
//! points 0, ±1/√2, ±√2 and ∞, whose matrices have small entries of like size: the error is a fraction
//! of that of the usual 0, ±1, ±2, ∞.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use super::super::scalar::Scalar;

/// Channels that are transformed together.
pub(super) const LANES: usize = 16;

/// A number for each of some channels, where whole vectors lie in cache lines of their own.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Lanes<E>(pub(super) [E; LANES]);

/// Of each side of a tile of the input, and of what is multiplied.
pub(super) const SIDE: usize = 6;

/// Of each side of a tile of the output.
pub(super) const STEP: usize = 4;

/// Of each side of a kernel.
pub(super) const KERNEL: usize = 3;

/// Rows of lanes: a square of pixels, or one half of whose transform is done.
pub(super) type Block<E, const N: usize, const M: usize> = [[Lanes<E>; M]; N];

/// A block of zeros.
#[inline(always)]
pub(super) fn zeros<E: Scalar, const N: usize, const M: usize>() -> Block<E, N, M> {
    [[Lanes([E::zero(); LANES]); M]; N]
}

/// Transforms the rows of a square of which `from` shows the lanes, then the columns, whose lanes
/// `to` takes with their row and column.
///
/// Writes all of `between`, which the caller makes once for many squares: to zero it for each would
/// cost as much as the transform.
#[inline(always)]
pub(super) fn along_both<'a, E: Scalar, const N: usize, const M: usize>(
    from: impl Fn(usize, usize) -> &'a [E; LANES],
    between: &mut Block<E, N, M>,
    mut to: impl FnMut(usize, usize, &[E; LANES]),
    f: impl Fn([E; N]) -> [E; M],
) {
    for (i, between) in between.iter_mut().enumerate() {
        let row: [&[E; LANES]; N] = std::array::from_fn(|j| from(i, j));
        for lane in 0..LANES {
            let row = f(std::array::from_fn(|j| row[j][lane]));
            for (between, v) in between.iter_mut().zip(row) {
                between.0[lane] = v;
            }
        }
    }
    #[allow(clippy::needless_range_loop)] // a column of every row
    for j in 0..M {
        let lanes: [&Lanes<E>; N] = std::array::from_fn(|i| &between[i][j]);
        let mut column = [Lanes([E::zero(); LANES]); M];
        for lane in 0..LANES {
            let values = f(std::array::from_fn(|i| lanes[i].0[lane]));
            for (column, v) in column.iter_mut().zip(values) {
                column.0[lane] = v;
            }
        }
        for (i, lanes) in column.iter().enumerate() {
            to(i, j, &lanes.0);
        }
    }
}

/// The transpose of a square of lanes.
#[inline(always)]
pub(super) fn turned<E: Scalar>(from: &[Lanes<E>; LANES], to: &mut [Lanes<E>; LANES]) {
    for (j, to) in to.iter_mut().enumerate() {
        for (to, from) in to.0.iter_mut().zip(from) {
            *to = from.0[j];
        }
    }
}

/// A row of an input tile.
#[inline(always)]
pub(super) fn of_input<E: Scalar, const FMA: bool>(d: [E; SIDE]) -> [E; SIDE] {
    let (near, far) = (E::of(FRAC_1_SQRT_2), E::of(SQRT_2));
    let (even, odd) = (d[2].fma::<FMA>(E::of(-2.0), d[4]), d[1].fma::<FMA>(E::of(-2.0), d[3]));
    let (even_far, odd_far) = (d[2].fma::<FMA>(E::of(-0.5), d[4]), d[1].fma::<FMA>(E::of(-0.5), d[3]));
    [
        d[2].fma::<FMA>(E::of(-2.5), d[0] + d[4]),
        odd.fma::<FMA>(near, even),
        odd.fma::<FMA>(-near, even),
        odd_far.fma::<FMA>(far, even_far),
        odd_far.fma::<FMA>(-far, even_far),
        d[3].fma::<FMA>(E::of(-2.5), d[1] + d[5]),
    ]
}

/// A row of products, to a row of an output tile.
#[inline(always)]
pub(super) fn to_output<E: Scalar, const FMA: bool>(m: [E; SIDE]) -> [E; STEP] {
    let (near, far) = (E::of(FRAC_1_SQRT_2), E::of(SQRT_2));
    let (sum, difference) = (m[1] + m[2], m[1] - m[2]);
    let (sum_far, difference_far) = (m[3] + m[4], m[3] - m[4]);
    [
        m[0] + sum + sum_far,
        difference_far.fma::<FMA>(far, difference * near),
        sum_far.fma::<FMA>(E::of(2.0), sum * E::of(0.5)),
        difference_far.fma::<FMA>(far + far, difference.fma::<FMA>(near * E::of(0.5), m[5])),
    ]
}

/// A row of an output tile's gradient, to a row of the products' gradients: [`to_output`]'s
/// transpose.
#[inline(always)]
pub(super) fn of_output<E: Scalar, const FMA: bool>(y: [E; STEP]) -> [E; SIDE] {
    let (near, far) = (E::of(FRAC_1_SQRT_2), E::of(SQRT_2));
    let (even, odd) = (y[2].fma::<FMA>(E::of(0.5), y[0]), y[3].fma::<FMA>(E::of(0.5), y[1]));
    let (even_far, odd_far) = (y[2].fma::<FMA>(E::of(2.0), y[0]), y[3].fma::<FMA>(E::of(2.0), y[1]));
    [
        y[0],
        odd.fma::<FMA>(near, even),
        odd.fma::<FMA>(-near, even),
        odd_far.fma::<FMA>(far, even_far),
        odd_far.fma::<FMA>(-far, even_far),
        y[3],
    ]
}

/// A row of a kernel.
#[inline(always)]
pub(super) fn of_kernel<E: Scalar, const FMA: bool>(g: [E; KERNEL]) -> [E; SIDE] {
    let (near, far) = (E::of(FRAC_1_SQRT_2 / 1.5), E::of(SQRT_2 / 6.0));
    let even = g[2].fma::<FMA>(E::of(0.5), g[0]) * E::of(-1.0 / 1.5);
    let even_far = g[2].fma::<FMA>(E::of(2.0), g[0]) * E::of(1.0 / 6.0);
    [
        g[0],
        g[1].fma::<FMA>(-near, even),
        g[1].fma::<FMA>(near, even),
        g[1].fma::<FMA>(far, even_far),
        g[1].fma::<FMA>(-far, even_far),
        g[2],
    ]
}

/// A row of gradients of transformed kernels, to that of a kernel: [`of_kernel`]'s transpose.
#[inline(always)]
pub(super) fn to_kernel<E: Scalar, const FMA: bool>(u: [E; SIDE]) -> [E; KERNEL] {
    let (near, far) = (E::of(FRAC_1_SQRT_2 / 1.5), E::of(SQRT_2 / 6.0));
    let (sum, difference) = (u[1] + u[2], u[1] - u[2]);
    let (sum_far, difference_far) = (u[3] + u[4], u[3] - u[4]);
    [
        sum.fma::<FMA>(E::of(-1.0 / 1.5), sum_far.fma::<FMA>(E::of(1.0 / 6.0), u[0])),
        difference.fma::<FMA>(-near, difference_far * far),
        sum.fma::<FMA>(E::of(-0.5 / 1.5), sum_far.fma::<FMA>(E::of(2.0 / 6.0), u[5])),
    ]
}
