//! The sum of two branches, and the function behind it.

use dfdx::tensor::{Cpu, HasErr, Storage};
use rayon::prelude::*;

use super::{
    activation::{Activation, apply, scale_by_slopes},
    add::add_to,
    device::HeapDevice,
    images::ActivateKernel,
    parts::PARTS,
    scalar::Scalar,
};
use crate::Real;

/// Sums of two branches over buffers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no image layer runs on this device with this dtype",
    note = "the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait JoinKernel<E: Real>: ActivateKernel<E> {
    /// What the backward pass needs of the sum.
    type Kept: 'static;

    /// `to = f(to + from)`; what the backward pass needs where `keep` says so.
    ///
    /// # Errors
    /// The device's.
    fn join(
        &self,
        f: Activation,
        to: &mut <Self as Storage<E>>::Vec,
        from: &<Self as Storage<E>>::Vec,
        keep: bool,
    ) -> Result<Option<Self::Kept>, Self::Err>;

    /// Multiplies each element by the function's slope at its sum.
    fn times_kept_slopes(&self, f: Activation, kept: Self::Kept, dy: &mut <Self as Storage<E>>::Vec);
}

/// What is kept of sums.
#[derive(Debug)]
pub enum Sums<E> {
    /// Of each one, whether it is positive: see [`join_relu`].
    Positive(Vec<u32>),
    /// All.
    All(Vec<E>),
}

impl<E: Scalar> JoinKernel<E> for Cpu
where
    Cpu: HeapDevice<E>,
{
    type Kept = Sums<E>;

    fn join(
        &self,
        f: Activation,
        to: &mut <Self as Storage<E>>::Vec,
        from: &<Self as Storage<E>>::Vec,
        keep: bool,
    ) -> Result<Option<Sums<E>>, <Self as HasErr>::Err> {
        if f == Activation::Relu && keep {
            let mut positive = vec![0; to.len().div_ceil(BLOCK) * LANES];
            let piece = piece(to.len());
            let pieces = to.par_chunks_mut(piece).zip(from.par_chunks(piece));
            pieces
                .zip(positive.par_chunks_mut(piece / BLOCK * LANES))
                .for_each(|((to, from), positive)| join_relu(to, from, positive));
            return Ok(Some(Sums::Positive(positive)));
        }
        add_to(to, from);
        let kept = (keep && f != Activation::Identity).then(|| Sums::All(to.to_vec()));
        apply(f, to);
        Ok(kept)
    }

    fn times_kept_slopes(&self, f: Activation, kept: Sums<E>, dy: &mut <Self as Storage<E>>::Vec) {
        match kept {
            Sums::Positive(positive) => {
                let piece = piece(dy.len());
                dy.par_chunks_mut(piece)
                    .zip(positive.par_chunks(piece / BLOCK * LANES))
                    .for_each(|(dy, positive)| mask(dy, positive));
            }
            Sums::All(sums) => scale_by_slopes(f, dy, &sums),
        }
    }
}

/// Numbers beside one another in a row of a block, each with a word of its own.
const LANES: usize = 16;

/// Numbers whose bits share `LANES` words: a row for each bit.
const BLOCK: usize = LANES * 32;

/// Whole blocks, for each part.
fn piece(len: usize) -> usize {
    len.div_ceil(PARTS).next_multiple_of(BLOCK).max(BLOCK * 8)
}

vectorised! {
    /// `to = max(to + from, 0)`. Bit `i` of word `j` says whether number `16 i + j` of its block is
    /// positive, so that the words of a row are made side by side.
    fn join_relu<E>(to: &mut [E], from: &[E], positive: &mut [u32]) {
        let blocks = to.chunks_mut(BLOCK).zip(from.chunks(BLOCK)).zip(positive.chunks_exact_mut(LANES));
        for ((to, from), words) in blocks {
            let mut bits = [0u32; LANES];
            for (row, (to, from)) in to.chunks_mut(LANES).zip(from.chunks(LANES)).enumerate() {
                let len = to.len();
                let mut one = |count: usize| {
                    let (to, from) = (&mut to[..count], &from[..count]);
                    for i in 0..count {
                        let sum = to[i] + from[i];
                        bits[i] |= u32::from(sum > E::zero()) << row;
                        // A NaN stays one, as in PyTorch.
                        to[i] = if sum < E::zero() { E::zero() } else { sum };
                    }
                };
                // A count known to the compiler, so that the row stays in vectors.
                if len == LANES { one(LANES) } else { one(len) }
            }
            words.copy_from_slice(&bits);
        }
    }

    /// Zeroes where the sum was not positive.
    fn mask<E>(dy: &mut [E], positive: &[u32]) {
        for (dy, words) in dy.chunks_mut(BLOCK).zip(positive.chunks_exact(LANES)) {
            for (row, dy) in dy.chunks_mut(LANES).enumerate() {
                for (dy, word) in dy.iter_mut().zip(words) {
                    *dy = if word >> row & 1 == 1 { *dy } else { E::zero() };
                }
            }
        }
    }
}
