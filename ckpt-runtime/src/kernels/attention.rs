//! Scaled dot-product attention of many heads, in tiles.
//!
//! A tile is a head's scores of a few queries against all keys: nothing of the size sequence ×
//! sequence is ever held. The forward pass keeps a number a query, the logarithm of its sum of
//! exponentials, from which the backward pass computes each tile's weights again (Dao et al.,
//! arXiv 2205.14135).

use std::ops::Deref;

use dfdx::{
    tensor::{Cpu, HasErr, Storage},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    buffer::written,
    device::{Heap, HeapDevice, kernels},
    lanes::{max, replace_and_sum, sum_of_two},
    product::{Matrix, Target, Threads},
    scalar::{Scalar, exp},
    shared::Shared,
};
use crate::{Real, nn::philox};

/// The sizes of an attention, and what it leaves out.
#[derive(Clone, Debug)]
pub(crate) struct Heads {
    pub(crate) batch: usize,
    /// Queries of each sequence of the batch.
    pub(crate) queries: usize,
    /// Keys and values of each.
    pub(crate) keys: usize,
    pub(crate) heads: usize,
    /// Features of each head.
    pub(crate) width: usize,
    /// Whether query `i` sees keys up to `i` alone.
    pub(crate) causal: bool,
    /// `[batch, keys]`, true for keys that no query sees.
    pub(crate) padding: Option<Vec<bool>>,
    /// The probability with which a weight is dropped, and the seed of which ones.
    pub(crate) dropout: Option<(f64, u64)>,
}

/// Where queries, keys and values lie: rows of some buffers, in their columns from one on.
#[derive(Clone)]
pub(crate) struct Sources<'a, B> {
    /// The buffers, and the columns that each one's rows have.
    pub(crate) buffers: Vec<(&'a B, usize)>,
    /// Of queries, keys and values: which buffer, and the first column in it.
    pub(crate) places: [(usize, usize); 3],
}

/// What a device has for attention, on buffers of rows.
pub(crate) trait AttentionKernel<E: Real, D: Device<E>> {
    /// `[batch queries, heads width]`, and the logarithms of the sums that weights are divided by.
    fn forward(
        &self,
        device: &D,
        heads: &Heads,
        sources: &Sources<'_, <D as Storage<E>>::Vec>,
    ) -> Result<(<D as Storage<E>>::Vec, <D as Storage<E>>::Vec), D::Err>;

    /// Adds the gradients of the sources to a buffer for each.
    fn backward(
        &self,
        heads: &Heads,
        sources: &Sources<'_, <D as Storage<E>>::Vec>,
        output: &<D as Storage<E>>::Vec,
        log_sums: &<D as Storage<E>>::Vec,
        dy: &<D as Storage<E>>::Vec,
        gradients: &mut [<D as Storage<E>>::Vec],
    ) -> Result<(), D::Err>;
}
kernels!(AttentionKernel);

/// Queries of a tile: enough rows for the products to run at speed, few enough for a tile of some
/// hundred keys to stay in a core's own cache.
const TILE: usize = 64;

impl Heads {
    pub(crate) fn features(&self) -> usize {
        self.heads * self.width
    }

    fn scale<E: Scalar>(&self) -> E {
        E::of(1.0 / (self.width as f64).sqrt())
    }

    /// Keys that the queries `first..first + count` see between them.
    fn seen(&self, first: usize, count: usize) -> usize {
        if self.causal { self.keys.min(first + count) } else { self.keys }
    }

    /// What to add to the scores of each sequence's keys.
    fn penalties<E: Scalar>(&self) -> Option<Vec<E>> {
        let padding = self.padding.as_ref()?;
        Some(padding.iter().map(|hidden| if *hidden { E::neg_infinity() } else { E::zero() }).collect())
    }

    /// The factors that dropout puts on the weights of one query of one head (of a sequence), from
    /// its first key on.
    pub(crate) fn factors<E: Real>(&self, head: usize, query: usize, factors: &mut [E]) {
        let Some((p, seed)) = self.dropout else {
            return factors.fill(E::one());
        };
        let keep = E::from_f64((1.0 - p).recip()).unwrap_or_else(E::zero);
        // A weight is dropped where its 32 random bits, as a fraction, are below p.
        let threshold = (p * 4_294_967_296.0) as u64;
        let first = (head * self.queries + query) * self.keys.div_ceil(4);
        for (i, four) in factors.chunks_mut(4).enumerate() {
            for (factor, word) in four.iter_mut().zip(philox::block(seed, (first + i) as u64)) {
                *factor = if u64::from(word) < threshold { E::zero() } else { keep };
            }
        }
    }
}

/// The three matrices of one head of one sequence.
struct Head<'a, E> {
    queries: Matrix<'a, E>,
    keys: Matrix<'a, E>,
    values: Matrix<'a, E>,
}

impl<'a, B> Sources<'a, B> {
    /// Queries, keys and values of `features` each, side by side.
    pub(crate) fn packed(buffer: &'a B, features: usize) -> Self {
        Self { buffers: vec![(buffer, 3 * features)], places: [(0, 0), (0, features), (0, 2 * features)] }
    }

    /// # Panics
    /// Where a place lies outside of its buffer, or over another.
    fn check<E>(&self, heads: &Heads)
    where
        B: Deref<Target = Vec<E>>,
    {
        for (i, (buffer, column)) in self.places.iter().enumerate() {
            let rows = heads.batch * if i == 0 { heads.queries } else { heads.keys };
            let (values, width) = self.buffers[*buffer];
            assert!(values.len() == rows * width && column + heads.features() <= width, "attention beyond its input");
            let apart = |(b, c): &(usize, usize)| b != buffer || c.abs_diff(*column) >= heads.features();
            assert!(self.places[..i].iter().all(apart), "attention over overlapping columns");
        }
    }

    /// Where the rows of a head of a sequence start, in queries (0), keys (1) or values (2).
    fn offset(&self, heads: &Heads, which: usize, sequence: usize, head: usize) -> usize {
        let rows = if which == 0 { heads.queries } else { heads.keys };
        sequence * rows * self.stride(which) + self.places[which].1 + head * heads.width
    }

    fn stride(&self, which: usize) -> usize {
        self.buffers[self.places[which].0].1
    }

    fn head<E: Scalar>(&self, heads: &Heads, sequence: usize, head: usize) -> Head<'_, E>
    where
        B: Deref<Target = Vec<E>>,
    {
        let matrix = |which: usize| {
            let rows = if which == 0 { heads.queries } else { heads.keys };
            let values = &self.buffers[self.places[which].0].0[self.offset(heads, which, sequence, head)..];
            Matrix::strided(values, rows, heads.width, self.stride(which))
        };
        Head { queries: matrix(0), keys: matrix(1), values: matrix(2) }
    }
}

impl<E: Scalar> AttentionKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    fn forward(
        &self,
        device: &Cpu,
        heads: &Heads,
        sources: &Sources<'_, <Cpu as Storage<E>>::Vec>,
    ) -> Result<(<Cpu as Storage<E>>::Vec, <Cpu as Storage<E>>::Vec), <Cpu as HasErr>::Err> {
        sources.check(heads);
        let penalties = heads.penalties::<E>();
        let (features, tiles) = (heads.features(), heads.queries.div_ceil(TILE));
        // Room for full tiles, so that a tile's logarithms are a chunk.
        let mut log_sums = vec![E::zero(); heads.batch * heads.heads * tiles * TILE];
        let rows = heads.batch * heads.queries;
        let all_seen = heads.seen(0, heads.queries);
        let tile = |output: Shared<E>, scratch: &mut Scratch<E>, index: usize, log_sums: &mut [E]| {
            let (pair, first) = (index / tiles, index % tiles * TILE);
            let (sequence, head) = (pair / heads.heads, pair % heads.heads);
            let count = TILE.min(heads.queries - first);
            let seen = heads.seen(first, count);
            let Head { queries, keys, values } = sources.head(heads, sequence, head);
            let Scratch { pair: turned, keys: columns, scores, .. } = scratch;
            if turned.replace(pair) != Some(pair) {
                keys.rows(0, all_seen).transpose_to(columns);
            }
            let columns = Matrix::strided(columns, heads.width, seen, all_seen);
            scores.resize(TILE * heads.keys, E::zero());
            Target::strided(scores, count, seen, heads.keys).set(queries.rows(first, count), columns, Threads::One);
            let penalties = penalties.as_ref().map(|p| &p[sequence * heads.keys..][..seen]);
            let start = heads.causal.then_some(first);
            weigh(&mut scores[..count * heads.keys], heads.keys, seen, start, heads.scale(), penalties, log_sums);
            if heads.dropout.is_some() {
                let mut factors = vec![E::zero(); seen];
                for (i, row) in scores.chunks_exact_mut(heads.keys).take(count).enumerate() {
                    heads.factors(pair, first + i, &mut factors);
                    row.iter_mut().zip(&factors).for_each(|(v, factor)| *v *= *factor);
                }
            }
            let offset = (sequence * heads.queries + first) * features + head * heads.width;
            // SAFETY: the output has `batch queries` rows of `features`, in which these `count` rows
            // and `width` columns lie; each tile has its own, and nothing else looks at the output
            // before all are done. It is not initialised, and said not to be.
            let to = unsafe { Target::shared(output.at(offset), false, count, heads.width, features) };
            to.set(Matrix::strided(scores, count, seen, heads.keys), values.rows(0, seen), Threads::One);
        };
        // SAFETY: the tiles cover all queries and heads, and each writes all of its elements.
        let output = unsafe {
            written(rows * features, |output| {
                let output = Shared::fresh(output);
                log_sums
                    .par_chunks_mut(TILE)
                    .enumerate()
                    .for_each_init(Scratch::new, |scratch, (i, log_sums)| tile(output, scratch, i, log_sums));
            })
        };
        Ok((device.keep(output)?, device.keep(log_sums)?))
    }

    fn backward(
        &self,
        heads: &Heads,
        sources: &Sources<'_, <Cpu as Storage<E>>::Vec>,
        output: &<Cpu as Storage<E>>::Vec,
        log_sums: &<Cpu as Storage<E>>::Vec,
        dy: &<Cpu as Storage<E>>::Vec,
        gradients: &mut [<Cpu as Storage<E>>::Vec],
    ) -> Result<(), <Cpu as HasErr>::Err> {
        sources.check(heads);
        for (gradient, (values, _)) in gradients.iter().zip(&sources.buffers) {
            assert_eq!(gradient.len(), values.len(), "a gradient of another size");
        }
        let targets: Vec<_> = gradients.iter_mut().map(|g| Shared::new(g)).collect();
        assert_eq!(targets.len(), sources.buffers.len());
        let penalties = heads.penalties::<E>();
        (0..heads.batch * heads.heads).into_par_iter().for_each_init(Scratch::new, |scratch, pair| {
            differentiate(heads, sources, penalties.as_deref(), output, dy, log_sums, &targets, pair, scratch);
        });
        Ok(())
    }
}

/// What a thread works in.
struct Scratch<E> {
    /// The head of a sequence that the forward pass has the keys of.
    pair: Option<usize>,
    /// A head's keys that some query sees, a feature a row. A product reads them where they lie, where
    /// it would rearrange keys in rows anew for each tile.
    keys: Vec<E>,
    /// Its values alike, in the backward pass.
    values: Vec<E>,
    /// A tile, a query a row.
    scores: Vec<E>,
    /// Another.
    weights: Vec<E>,
}

impl<E> Scratch<E> {
    fn new() -> Self {
        Self { pair: None, keys: Vec::new(), values: Vec::new(), scores: Vec::new(), weights: Vec::new() }
    }
}

/// Adds the gradients of one head of one sequence.
#[allow(clippy::too_many_arguments)]
fn differentiate<E: Scalar, B: Deref<Target = Vec<E>>>(
    heads: &Heads,
    sources: &Sources<'_, B>,
    penalties: Option<&[E]>,
    output: &[E],
    dy: &[E],
    log_sums: &[E],
    targets: &[Shared<E>],
    pair: usize,
    scratch: &mut Scratch<E>,
) {
    let (sequence, head) = (pair / heads.heads, pair % heads.heads);
    let (features, width, keys) = (heads.features(), heads.width, heads.keys);
    let from = sources.head(heads, sequence, head);
    let penalties = penalties.map(|p| &p[sequence * keys..][..keys]);
    // SAFETY: `Sources::check` has checked that the queries', keys' and values' columns lie in their
    // buffers and do not overlap, and a gradient is as long as its buffer; a head of a sequence has
    // rows and columns of its own in each, and one thread. The three targets are made where they
    // are used, one at a time.
    let target = |which: usize, first: usize, count: usize| unsafe {
        let offset = sources.offset(heads, which, sequence, head) + first * sources.stride(which);
        Target::shared(targets[sources.places[which].0].at(offset), true, count, width, sources.stride(which))
    };
    let Scratch { keys: key_columns, values: value_columns, scores, weights, .. } = scratch;
    let all_seen = heads.seen(0, heads.queries);
    from.keys.rows(0, all_seen).transpose_to(key_columns);
    from.values.rows(0, all_seen).transpose_to(value_columns);
    scores.resize(TILE * keys, E::zero());
    weights.resize(TILE * keys, E::zero());
    let mut along = [E::zero(); TILE];
    for first in (0..heads.queries).step_by(TILE) {
        let count = TILE.min(heads.queries - first);
        let seen = heads.seen(first, count);
        let offset = (sequence * heads.queries + first) * features + head * width;
        dot_rows(&mut along[..count], &output[offset..], &dy[offset..], features, width);
        let dy = Matrix::strided(&dy[offset..], count, width, features);
        let queries = from.queries.rows(first, count);
        let [by_key, by_value] = [&*key_columns, value_columns].map(|m| Matrix::strided(m, width, seen, all_seen));
        Target::strided(weights, count, seen, keys).set(queries, by_key, Threads::One);
        Target::strided(scores, count, seen, keys).set(dy, by_value, Threads::One);
        let tile = heads.queries.div_ceil(TILE) * pair + first / TILE;
        let mut factors = vec![E::one(); if heads.dropout.is_some() { seen } else { 0 }];
        for (i, (weights, scores)) in
            weights.chunks_exact_mut(keys).zip(scores.chunks_exact_mut(keys)).take(count).enumerate()
        {
            if heads.dropout.is_some() {
                heads.factors(pair, first + i, &mut factors);
            }
            let visible = if heads.causal { seen.min(first + i + 1) } else { seen };
            let (weights, scores) = (&mut weights[..seen], &mut scores[..seen]);
            let row = Row { log_sum: log_sums[tile * TILE + i], along: along[i], scale: heads.scale() };
            slopes(weights, scores, visible, &factors, penalties, row);
        }
        let weights = Matrix::strided(weights, count, seen, keys).transposed();
        let scores = Matrix::strided(scores, count, seen, keys);
        target(0, first, count).add(scores, from.keys.rows(0, seen), Threads::One);
        target(1, 0, seen).add(scores.transposed(), queries, Threads::One);
        target(2, 0, seen).add(weights, dy, Threads::One);
    }
}

/// What a row of weights is computed from again, beside its scores.
struct Row<E> {
    log_sum: E,
    /// The sum of its weights times their gradients.
    along: E,
    scale: E,
}

vectorised! {
    /// Turns rows of scores into weights: the softmax of those that are seen, 0 for the rest. Row
    /// `i` sees all keys, or where there is a `start` those up to `start + i`.
    ///
    /// A row that sees nothing gets zeros, and an infinite sum, from which they come out again.
    fn weigh<E>(
        scores: &mut [E],
        stride: usize,
        seen: usize,
        start: Option<usize>,
        scale: E,
        penalties: Option<&[E]>,
        log_sums: &mut [E],
    ) {
        for (i, (row, log_sum)) in scores.chunks_exact_mut(stride).zip(log_sums).enumerate() {
            let visible = start.map_or(seen, |start| seen.min(start + i + 1));
            let (row, hidden) = row[..seen].split_at_mut(visible);
            hidden.fill(E::zero());
            if let Some(penalties) = penalties {
                for (v, penalty) in row.iter_mut().zip(penalties) {
                    *v += *penalty;
                }
            }
            let largest = max(row) * scale;
            let largest = if largest == E::neg_infinity() { E::zero() } else { largest };
            let total = replace_and_sum(row, |v| exp::<E, FMA>(v.fma::<FMA>(scale, -largest)));
            let (sum, inverse) =
                if total == E::zero() { (E::infinity(), E::zero()) } else { (largest + total.ln(), E::one() / total) };
            *log_sum = sum;
            for v in row {
                *v *= inverse;
            }
        }
    }

    /// From a row's scores its weights again (times the `factors` of dropout, where there are any),
    /// and from its weights' gradients those of the scores; 0 for what is not visible.
    fn slopes<E>(
        weights: &mut [E],
        gradients: &mut [E],
        visible: usize,
        factors: &[E],
        penalties: Option<&[E]>,
        row: Row<E>,
    ) {
        let Row { log_sum, along, scale } = row;
        let (weights, hidden) = weights.split_at_mut(visible);
        hidden.fill(E::zero());
        let (gradients, hidden) = gradients.split_at_mut(visible);
        hidden.fill(E::zero());
        if let Some(penalties) = penalties {
            for (v, penalty) in weights.iter_mut().zip(penalties) {
                *v += *penalty;
            }
        }
        if factors.is_empty() {
            for (w, g) in weights.iter_mut().zip(gradients) {
                let weight = exp::<E, FMA>(w.fma::<FMA>(scale, -log_sum));
                *g = weight * (*g - along) * scale;
                *w = weight;
            }
        } else {
            for ((w, g), factor) in weights.iter_mut().zip(gradients).zip(factors) {
                let weight = exp::<E, FMA>(w.fma::<FMA>(scale, -log_sum));
                *g = weight * (*g * *factor - along) * scale;
                *w = weight * *factor;
            }
        }
    }

    /// The products of rows of `width` that start `stride` apart in both slices.
    fn dot_rows<E>(to: &mut [E], a: &[E], b: &[E], stride: usize, width: usize) {
        for (i, to) in to.iter_mut().enumerate() {
            let (a, b) = (&a[i * stride..][..width], &b[i * stride..][..width]);
            *to = sum_of_two(a, b, |a, b| a * b);
        }
    }
}
