//! What batch norm and group norm share: moments of channels over pixels, and a scale and a shift
//! of each channel, with the function behind them in the same pass.
//!
//! Pixels lie behind one another, each its channels. A few narrow ones are handled as one wide row,
//! so that whole vectors are filled. Sums are made in the dtype over short blocks of rows, and
//! in `f64` beyond these: a plain `f32` sum over an image would lose digits of the gradients.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::{
    activation::{Activation, Curve, Gelu, Identity, Relu, Silu},
    buffer::written,
    parts::PARTS,
    scalar::Scalar,
};

/// The mean and the variance (the mean of the squares around the mean) of each channel, or of each
/// group of channels of each image.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// The means.
    pub mean: Vec<f64>,
    /// The variances.
    pub variance: Vec<f64>,
}

/// What the gradients of a norm's parameters and input are made of.
#[derive(Clone, Debug)]
pub struct Sums {
    /// Of each channel: the sum of the gradient before the function.
    pub along: Vec<f64>,
    /// Of each channel: the sum of the gradient times the distance from the mean.
    pub spread: Vec<f64>,
    /// The function whose slope the gradient still lacks.
    pub function: Activation,
}

/// Numbers that a wide row has at least.
const WIDE: usize = 64;

/// Wide rows whose sums are made in the dtype.
const ROWS: usize = 64;

/// Numbers of a part, at least.
const PART: usize = 1 << 12;

/// `f(scale x + shift)`, with a scale and a shift for each number of a wide row.
pub(super) struct Map<E> {
    scale: Vec<E>,
    shift: Vec<E>,
    f: Activation,
}

/// `scale f' dy - along - spread (x - mean)`, with a coefficient for each number of a wide row; the
/// slope is that of a [`Map`].
pub(super) struct Slope<E> {
    along: Vec<E>,
    spread: Vec<E>,
    mean: Vec<E>,
}

impl<E: Scalar> Map<E> {
    /// `f((x - mean) inverse weight + bias)`, where mean and inverse deviation are given for each
    /// channel.
    pub(super) fn new(
        f: Activation,
        weight: &[E],
        bias: &[E],
        mean: impl Fn(usize) -> f64,
        inverse: impl Fn(usize) -> f64,
    ) -> Self {
        let scale = |c: usize| inverse(c) * double(weight[c]);
        let shift = |c: usize| double(bias[c]) - mean(c) * scale(c);
        let channels = weight.len();
        Self { scale: tiled(channels, scale), shift: tiled(channels, shift), f }
    }

    /// Writes it for every pixel of `x` to `y`, in parallel.
    pub(super) fn write(&self, x: &[E], y: &mut [MaybeUninit<E>], channels: usize) {
        assert_eq!(x.len(), y.len());
        let part = part(x.len(), channels);
        y.par_chunks_mut(part).zip(x.par_chunks(part)).for_each(|(y, x)| match self.f {
            Activation::Identity => write::<E, Identity>(x, y, &self.scale, &self.shift),
            Activation::Gelu => write::<E, Gelu>(x, y, &self.scale, &self.shift),
            Activation::Relu => write::<E, Relu>(x, y, &self.scale, &self.shift),
            Activation::Silu => write::<E, Silu>(x, y, &self.scale, &self.shift),
        });
    }

    /// A new buffer with its values.
    pub(super) fn of(&self, x: &[E], channels: usize) -> Vec<E> {
        // SAFETY: `write` writes every element.
        unsafe { written(x.len(), |y| self.write(x, y, channels)) }
    }

    /// The sums of each channel, in parallel. Where a slope costs an exponential, it is computed
    /// once, and `dy` has it from here on.
    pub(super) fn sums(&self, x: &[E], dy: &mut [E], channels: usize, mean: impl Fn(usize) -> f64) -> Sums {
        assert_eq!(x.len(), dy.len());
        let mean = tiled(channels, mean);
        let part = part(x.len(), channels);
        let mut sums = vec![0.0; x.len().div_ceil(part) * 2 * channels];
        let parts = sums.par_chunks_exact_mut(2 * channels).zip(x.par_chunks(part)).zip(dy.par_chunks_mut(part));
        parts.for_each(|((sums, x), dy)| {
            match self.f {
                Activation::Identity | Activation::Relu => {}
                Activation::Gelu => times_slopes::<E, Gelu>(x, dy, &self.scale, &self.shift),
                Activation::Silu => times_slopes::<E, Silu>(x, dy, &self.scale, &self.shift),
            }
            match self.f {
                Activation::Relu => add_sums::<E, Relu>(x, dy, &self.scale, &self.shift, &mean, sums),
                _ => add_sums::<E, Identity>(x, dy, &self.scale, &self.shift, &mean, sums),
            }
        });
        let mut along = vec![0.0; channels];
        let mut spread = vec![0.0; channels];
        for sums in sums.chunks_exact(2 * channels) {
            along.iter_mut().zip(&sums[..channels]).for_each(|(to, from)| *to += from);
            spread.iter_mut().zip(&sums[channels..]).for_each(|(to, from)| *to += from);
        }
        let function = if self.f.needs_its_input() { Activation::Identity } else { self.f };
        Sums { along, spread, function }
    }

    /// Makes the gradient `dy` of its values that of `x`, in parallel.
    pub(super) fn replace_gradient(&self, slope: &Slope<E>, x: &[E], dy: &mut [E], channels: usize) {
        assert_eq!(x.len(), dy.len());
        let part = part(x.len(), channels);
        dy.par_chunks_mut(part).zip(x.par_chunks(part)).for_each(|(dy, x)| match self.f {
            Activation::Identity => replace::<E, Identity>(x, dy, self, slope),
            Activation::Gelu => replace::<E, Gelu>(x, dy, self, slope),
            Activation::Relu => replace::<E, Relu>(x, dy, self, slope),
            Activation::Silu => replace::<E, Silu>(x, dy, self, slope),
        });
    }

    /// Adds the gradient of `x` to `dx`, in parallel.
    pub(super) fn add_gradient(&self, slope: &Slope<E>, x: &[E], dy: &[E], dx: &mut [E], channels: usize) {
        assert!(x.len() == dy.len() && x.len() == dx.len());
        let part = part(x.len(), channels);
        let parts = dx.par_chunks_mut(part).zip(dy.par_chunks(part)).zip(x.par_chunks(part));
        parts.for_each(|((dx, dy), x)| match self.f {
            Activation::Identity => add::<E, Identity>(x, dy, dx, self, slope),
            Activation::Gelu => add::<E, Gelu>(x, dy, dx, self, slope),
            Activation::Relu => add::<E, Relu>(x, dy, dx, self, slope),
            Activation::Silu => add::<E, Silu>(x, dy, dx, self, slope),
        });
    }
}

impl<E: Scalar> Slope<E> {
    pub(super) fn new(
        channels: usize,
        along: impl Fn(usize) -> f64,
        spread: impl Fn(usize) -> f64,
        mean: impl Fn(usize) -> f64,
    ) -> Self {
        Self { along: tiled(channels, along), spread: tiled(channels, spread), mean: tiled(channels, mean) }
    }
}

/// Each channel's mean, and the sum of its squares around the mean, in parallel.
pub(super) fn moments<E: Scalar>(x: &[E], channels: usize) -> (Vec<f64>, Vec<f64>) {
    let part = part(x.len(), channels);
    let mut parts = vec![0.0; x.len().div_ceil(part) * 2 * channels];
    parts.par_chunks_exact_mut(2 * channels).zip(x.par_chunks(part)).for_each(|(moments, x)| {
        let (mean, squares) = moments.split_at_mut(channels);
        moments_of_part(x, mean, squares);
    });
    let (mut mean, mut squares) = (vec![0.0; channels], vec![0.0; channels]);
    let mut seen = 0;
    for (part, x) in parts.chunks_exact(2 * channels).zip(x.chunks(part)) {
        let count = x.len() / channels;
        join_moments(&mut mean, &mut squares, seen, &part[..channels], &part[channels..], count);
        seen += count;
    }
    (mean, squares)
}

/// Takes the moments of `count` more values in: Chan, Golub and LeVeque, Updating Formulae and a
/// Pairwise Algorithm for Computing Sample Variances (1979).
#[inline(always)]
fn join_moments(
    mean: &mut [f64],
    squares: &mut [f64],
    seen: usize,
    of_more: &[f64],
    squares_of_more: &[f64],
    count: usize,
) {
    let total = (seen + count) as f64;
    let (share, between) = (count as f64 / total, seen as f64 * count as f64 / total);
    let more = of_more.iter().zip(squares_of_more);
    for ((mean, squares), (of_more, squares_of_more)) in mean.iter_mut().zip(squares).zip(more) {
        let distance = of_more - *mean;
        *mean += distance * share;
        *squares += squares_of_more + distance * distance * between;
    }
}

/// Numbers of each part but the last: whole pixels.
fn part(len: usize, channels: usize) -> usize {
    let pixels = (len / channels).div_ceil(PARTS);
    pixels.max(PART.div_ceil(channels)) * channels
}

/// Numbers of a wide row: whole pixels.
#[inline(always)]
fn wide(channels: usize) -> usize {
    WIDE.div_ceil(channels) * channels
}

/// A coefficient for each number of a wide row.
fn tiled<E: Scalar>(channels: usize, of: impl Fn(usize) -> f64) -> Vec<E> {
    let mut row: Vec<E> = (0..channels).map(|c| E::of(of(c))).collect();
    repeat(&mut row, channels);
    row
}

/// Makes a pixel's numbers those of a wide row.
fn repeat<E: Scalar>(row: &mut Vec<E>, channels: usize) {
    row.resize(wide(channels), E::zero());
    let (first, others) = row.split_at_mut(channels);
    others.chunks_exact_mut(channels).for_each(|pixel| pixel.copy_from_slice(first));
}

/// Adds the pixels of a wide row onto its first one.
#[inline(always)]
fn fold<E: Scalar>(row: &mut [E], channels: usize) {
    let (first, others) = row.split_at_mut(channels);
    for pixel in others.chunks_exact(channels) {
        for (to, from) in first.iter_mut().zip(pixel) {
            *to += *from;
        }
    }
}

#[inline(always)]
fn double<E: Scalar>(v: E) -> f64 {
    v.to_f64().unwrap_or(f64::NAN)
}

vectorised! {
    /// The mean and the sum of squares around it, of each channel of a part.
    fn moments_of_part<E>(x: &[E], mean: &mut [f64], squares: &mut [f64]) {
        let channels = mean.len();
        let width = wide(channels);
        let (mut block_mean, mut block_squares) = (vec![E::zero(); width], vec![E::zero(); width]);
        let (mut mean_of_more, mut squares_of_more) = (vec![0.0; channels], vec![0.0; channels]);
        let mut seen = 0;
        for block in x.chunks(width * ROWS) {
            block_mean.fill(E::zero());
            block_squares.fill(E::zero());
            for row in block.chunks(width) {
                for (sum, v) in block_mean.iter_mut().zip(row) {
                    *sum += *v;
                }
            }
            fold(&mut block_mean, channels);
            let count = block.len() / channels;
            let inverse = E::of(1.0 / count as f64);
            block_mean[..channels].iter_mut().for_each(|sum| *sum *= inverse);
            repeat(&mut block_mean, channels);
            for row in block.chunks(width) {
                for ((sum, mean), v) in block_squares.iter_mut().zip(&block_mean).zip(row) {
                    let distance = *v - *mean;
                    *sum = distance.fma::<FMA>(distance, *sum);
                }
            }
            fold(&mut block_squares, channels);
            mean_of_more.iter_mut().zip(&block_mean).for_each(|(to, from)| *to = double(*from));
            squares_of_more.iter_mut().zip(&block_squares).for_each(|(to, from)| *to = double(*from));
            join_moments(mean, squares, seen, &mean_of_more, &squares_of_more, count);
            seen += count;
        }
    }

    /// The function of a scaled and shifted part.
    fn write<E, C: Curve>(x: &[E], y: &mut [MaybeUninit<E>], scale: &[E], shift: &[E]) {
        let width = scale.len();
        for (y, x) in y.chunks_mut(width).zip(x.chunks(width)) {
            for (((y, x), scale), shift) in y.iter_mut().zip(x).zip(scale).zip(shift) {
                y.write(C::at::<E, FMA>(x.fma::<FMA>(*scale, *shift)).0);
            }
        }
    }

    /// Multiplies a gradient by the function's slopes.
    fn times_slopes<E, C: Curve>(x: &[E], dy: &mut [E], scale: &[E], shift: &[E]) {
        let width = scale.len();
        for (dy, x) in dy.chunks_mut(width).zip(x.chunks(width)) {
            for (((dy, x), scale), shift) in dy.iter_mut().zip(x).zip(scale).zip(shift) {
                *dy *= C::at::<E, FMA>(x.fma::<FMA>(*scale, *shift)).1;
            }
        }
    }

    /// Adds to `sums` each channel's sum of `g = f' dy`, then each one's of `g (x - mean)`.
    fn add_sums<E, C: Curve>(x: &[E], dy: &[E], scale: &[E], shift: &[E], mean: &[E], sums: &mut [f64]) {
        let (width, channels) = (scale.len(), sums.len() / 2);
        let (mut along, mut spread) = (vec![E::zero(); width], vec![E::zero(); width]);
        let (along, spread) = (&mut along[..width], &mut spread[..width]);
        let (shift, mean) = (&shift[..width], &mean[..width]);
        for (x, dy) in x.chunks(width * ROWS).zip(dy.chunks(width * ROWS)) {
            along.fill(E::zero());
            spread.fill(E::zero());
            for (x, dy) in x.chunks(width).zip(dy.chunks(width)) {
                let sums = along.iter_mut().zip(spread.iter_mut()).zip(scale.iter().zip(shift).zip(mean));
                for (((along, spread), ((scale, shift), mean)), (x, dy)) in sums.zip(x.iter().zip(dy)) {
                    let g = *dy * C::at::<E, FMA>(x.fma::<FMA>(*scale, *shift)).1;
                    *along += g;
                    *spread = g.fma::<FMA>(*x - *mean, *spread);
                }
            }
            fold(along, channels);
            fold(spread, channels);
            sums[..channels].iter_mut().zip(&*along).for_each(|(to, from)| *to += double(*from));
            sums[channels..].iter_mut().zip(&*spread).for_each(|(to, from)| *to += double(*from));
        }
    }

    fn replace<E, C: Curve>(x: &[E], dy: &mut [E], map: &Map<E>, slope: &Slope<E>) {
        let width = map.scale.len();
        for (dy, x) in dy.chunks_mut(width).zip(x.chunks(width)) {
            let coefficients = map.scale.iter().zip(&map.shift).zip(&slope.along).zip(&slope.spread).zip(&slope.mean);
            for ((dy, x), ((((scale, shift), along), spread), mean)) in dy.iter_mut().zip(x).zip(coefficients) {
                let g = *dy * C::at::<E, FMA>(x.fma::<FMA>(*scale, *shift)).1;
                *dy = g * *scale - (*x - *mean).fma::<FMA>(*spread, *along);
            }
        }
    }

    fn add<E, C: Curve>(x: &[E], dy: &[E], dx: &mut [E], map: &Map<E>, slope: &Slope<E>) {
        let width = map.scale.len();
        for ((dx, dy), x) in dx.chunks_mut(width).zip(dy.chunks(width)).zip(x.chunks(width)) {
            let coefficients = map.scale.iter().zip(&map.shift).zip(&slope.along).zip(&slope.spread).zip(&slope.mean);
            let numbers = dx.iter_mut().zip(dy).zip(x);
            for (((dx, dy), x), ((((scale, shift), along), spread), mean)) in numbers.zip(coefficients) {
                let g = *dy * C::at::<E, FMA>(x.fma::<FMA>(*scale, *shift)).1;
                *dx += g * *scale - (*x - *mean).fma::<FMA>(*spread, *along);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_many_narrow_numbers_keep_their_digits() {
        // Each addition of one and the same number rounds the same way.
        let (channels, exact) = (64, f64::from(0.1f32));
        let mut x = vec![0.1f32; 40_000 * channels];
        let (mean, squares) = moments(&x, channels);
        assert!(mean.iter().all(|mean| (mean / exact - 1.0).abs() < 1e-6), "{mean:?}");
        assert!(squares.iter().all(|squares| squares / 40_000.0 < 1e-13), "{squares:?}");
        let map = Map::new(Activation::Relu, &vec![1.0; channels], &vec![0.0; channels], |_| 0.0, |_| 1.0);
        let dy = x.clone();
        let sums = map.sums(&dy, &mut x, channels, |_| 0.0);
        assert!(sums.along.iter().all(|sum| (sum / 40_000.0 / exact - 1.0).abs() < 1e-6), "{:?}", sums.along);
        assert!(sums.spread.iter().all(|sum| (sum / 40_000.0 / exact / exact - 1.0).abs() < 1e-6), "{:?}", sums.spread);
    }

    #[test]
    fn moments_of_parts_are_those_of_the_whole() {
        // Narrow pixels share a row, wide ones have one each; the last part and block are short.
        for channels in [1, 5, 70] {
            let pixels = 9_001;
            let x: Vec<f64> =
                (0..pixels * channels).map(|i| ((i * 7919) % 1000) as f64 + (i % channels) as f64).collect();
            let (mean, squares) = moments(&x, channels);
            for channel in 0..channels {
                let values = || x.iter().skip(channel).step_by(channels);
                let exact = values().sum::<f64>() / pixels as f64;
                let around: f64 = values().map(|v| (v - exact) * (v - exact)).sum();
                assert!((mean[channel] / exact - 1.0).abs() < 1e-13 && (squares[channel] / around - 1.0).abs() < 1e-12);
            }
        }
    }
}
