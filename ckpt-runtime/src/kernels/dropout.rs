//! Dropout by a mask that is computed where it is needed, and never stored.

use dfdx::{
    tensor::{Cpu, Storage},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    device::{Heap, HeapDevice, kernels},
    scalar::Scalar,
};
use crate::{Real, nn::philox};

/// Elements a parallel piece of work handles; a multiple of a Philox block's four.
const CHUNK: usize = 1 << 14;

/// A mask, as what it is computed from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mask {
    /// The key of the counter-based generator.
    pub(crate) seed: u64,
    /// The probability with which an element is zeroed.
    pub(crate) p: f64,
}

/// What a device has for dropout.
pub(crate) trait DropoutKernel<E: Real, D: Device<E>> {
    /// Multiplies every element by its factor.
    fn apply(&self, mask: Mask, values: &mut <D as Storage<E>>::Vec);
    /// Adds to `to` every element of `from` times its factor.
    fn accumulate(&self, mask: Mask, from: &<D as Storage<E>>::Vec, to: &mut <D as Storage<E>>::Vec);
}
kernels!(DropoutKernel);

impl<E: Scalar> DropoutKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    fn apply(&self, mask: Mask, values: &mut <Cpu as Storage<E>>::Vec) {
        mask.apply(values);
    }

    fn accumulate(&self, mask: Mask, from: &<Cpu as Storage<E>>::Vec, to: &mut <Cpu as Storage<E>>::Vec) {
        mask.accumulate(to, from);
    }
}

impl Mask {
    /// The factor of each element, piece by piece: `f(index of the piece's first element, factors)`.
    fn factors<E: Real>(self, first: usize, factors: &mut [E]) {
        let keep = E::from_f64((1.0 - self.p).recip()).unwrap_or_else(E::zero);
        // An element is dropped where its 32 random bits, as a fraction, are below p.
        let threshold = (self.p * 4_294_967_296.0) as u64;
        for (i, four) in factors.chunks_mut(4).enumerate() {
            let words = philox::block(self.seed, (first / 4 + i) as u64);
            for (factor, word) in four.iter_mut().zip(words) {
                *factor = if u64::from(word) < threshold { E::zero() } else { keep };
            }
        }
    }

    /// Multiplies every element of `values` by its factor.
    pub(crate) fn apply<E: Real>(self, values: &mut [E]) {
        self.each(values, |v, f| *v = if f == E::zero() { E::zero() } else { *v * f });
    }

    /// Calls `f(value, factor)` for every element, in parallel.
    fn each<E: Real>(self, values: &mut [E], f: impl Fn(&mut E, E) + Sync) {
        values.par_chunks_mut(CHUNK).enumerate().for_each(|(i, piece)| {
            let mut factors = [E::zero(); 256];
            for (j, piece) in piece.chunks_mut(factors.len()).enumerate() {
                self.factors(i * CHUNK + j * factors.len(), &mut factors[..]);
                piece.iter_mut().zip(factors).for_each(|(v, factor)| f(v, factor));
            }
        });
    }

    /// Adds `from` times the mask to `to`.
    fn accumulate<E: Real>(self, to: &mut [E], from: &[E]) {
        to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).enumerate().for_each(|(i, (to, from))| {
            let mut factors = [E::zero(); 256];
            let pieces = to.chunks_mut(factors.len()).zip(from.chunks(factors.len()));
            for (j, (to, from)) in pieces.enumerate() {
                self.factors(i * CHUNK + j * factors.len(), &mut factors[..]);
                for ((to, from), factor) in to.iter_mut().zip(from).zip(factors) {
                    *to += if factor == E::zero() { E::zero() } else { *from * factor };
                }
            }
        });
    }
}
