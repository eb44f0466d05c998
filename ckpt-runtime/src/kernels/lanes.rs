//! Sums and maxima over a slice, in lanes that the compiler keeps in vectors.
//!
//! The order of the additions is fixed, so that the bits are; many short chains of additions are
//! also more exact than one long one.

use super::scalar::Scalar;

/// Lanes of a sum: two of the widest vectors of `f32`, so that additions need not wait for one
/// another.
pub(super) const LANES: usize = 32;

/// The sum of a function over a slice.
#[inline(always)]
pub(super) fn sum<E: Scalar>(x: &[E], f: impl Fn(E) -> E) -> E {
    let mut lanes = [E::zero(); LANES];
    let chunks = x.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] += f(chunk[i]);
        }
    }
    let mut total = E::zero();
    for lane in lanes {
        total += lane;
    }
    for v in rest {
        total += f(*v);
    }
    total
}

/// The sum of a function over two slices of one length.
#[inline(always)]
pub(super) fn sum_of_two<E: Scalar>(x: &[E], y: &[E], f: impl Fn(E, E) -> E) -> E {
    let mut lanes = [E::zero(); LANES];
    let y = &y[..x.len()];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rests = xs.remainder().iter().zip(ys.remainder());
    for (x, y) in xs.zip(ys) {
        for i in 0..LANES {
            lanes[i] += f(x[i], y[i]);
        }
    }
    let mut total = E::zero();
    for lane in lanes {
        total += lane;
    }
    for (x, y) in rests {
        total += f(*x, *y);
    }
    total
}

/// The sum of a function's values, which replace the elements.
#[inline(always)]
pub(super) fn replace_and_sum<E: Scalar>(x: &mut [E], f: impl Fn(E) -> E) -> E {
    let mut lanes = [E::zero(); LANES];
    let mut chunks = x.chunks_exact_mut(LANES);
    for chunk in &mut chunks {
        for i in 0..LANES {
            let y = f(chunk[i]);
            chunk[i] = y;
            lanes[i] += y;
        }
    }
    let mut total = E::zero();
    for v in chunks.into_remainder() {
        *v = f(*v);
        total += *v;
    }
    for lane in lanes {
        total += lane;
    }
    total
}

/// The largest element; minus infinity of none. Not-a-number is passed over: what it would spoil is
/// spoilt by the sums that follow.
#[inline(always)]
pub(super) fn max<E: Scalar>(x: &[E]) -> E {
    let mut lanes = [E::neg_infinity(); LANES];
    let chunks = x.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = if chunk[i] > lanes[i] { chunk[i] } else { lanes[i] };
        }
    }
    let mut largest = E::neg_infinity();
    for v in lanes.iter().chain(rest) {
        largest = if *v > largest { *v } else { largest };
    }
    largest
}
