//! Layer norm and root-mean-square norm of rows.

use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, Gradients, HasErr, Storage, TensorFromVec},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    buffer::read,
    device::{Heap, HeapDevice, Rows, Vector, kernels},
    lanes::{LANES, sum},
    parts::{PARTS, add_in_order, rows_of_part},
    scalar::Scalar,
};
use crate::Real;

/// A norm's parameters.
pub(crate) struct Norm<E: Real, D: Device<E>> {
    /// The factor of each feature.
    pub(crate) weight: Vector<E, D>,
    /// What is added to each feature. Layer norm has it: it takes the mean away first.
    pub(crate) bias: Option<Vector<E, D>>,
    /// Added to the variance.
    pub(crate) epsilon: f64,
}

/// What a device has for norms.
pub(crate) trait NormKernel<E: Real, D: Device<E>> {
    /// The norm of each row, and each row's mean and inverse deviation.
    fn forward(&self, norm: &Norm<E, D>, x: &Rows<E, D>) -> Result<(Rows<E, D>, <D as Storage<E>>::Vec), D::Err>;

    /// Adds the gradients of `x` and of the parameters.
    fn backward(
        &self,
        norm: &Norm<E, D>,
        x: &Rows<E, D>,
        moments: &<D as Storage<E>>::Vec,
        dy: <D as Storage<E>>::Vec,
        grads: &mut Gradients<E, D>,
    ) -> Result<(), D::Err>;
}
kernels!(NormKernel);

impl<E: Scalar> NormKernel<E, Cpu> for Heap
where
    Cpu: HeapDevice<E>,
{
    fn forward(
        &self,
        norm: &Norm<E, Cpu>,
        x: &Rows<E, Cpu>,
    ) -> Result<(Rows<E, Cpu>, <Cpu as Storage<E>>::Vec), <Cpu as HasErr>::Err> {
        let (rows, width) = *x.shape();
        let mut values = read(x);
        let weight = read(&norm.weight);
        let bias = norm.bias.as_ref().map(read);
        let mut moments = vec![E::zero(); rows * 2];
        let part = rows_of_part(rows);
        values.par_chunks_mut(part * width).zip(moments.par_chunks_mut(part * 2)).for_each(|(values, moments)| {
            normalise(values, &weight, bias.as_deref(), E::of(norm.epsilon), moments);
        });
        Ok((x.device().try_tensor_from_vec(values, (rows, width))?, x.device().keep(moments)?))
    }

    fn backward(
        &self,
        norm: &Norm<E, Cpu>,
        x: &Rows<E, Cpu>,
        moments: &<Cpu as Storage<E>>::Vec,
        dy: <Cpu as Storage<E>>::Vec,
        grads: &mut Gradients<E, Cpu>,
    ) -> Result<(), <Cpu as HasErr>::Err> {
        let (rows, width) = *x.shape();
        let centred = norm.bias.is_some();
        let (values, weight) = (read(x), read(&norm.weight));
        let mut sums = vec![E::zero(); PARTS * 2 * width];
        let part = rows_of_part(rows);
        let (weights, biases) = sums.split_at_mut(PARTS * width);
        grads
            .get_or_alloc_mut(x)?
            .par_chunks_mut(part * width)
            .zip(values.par_chunks(part * width))
            .zip(dy.par_chunks(part * width))
            .zip(moments.par_chunks(part * 2))
            .zip(weights.par_chunks_exact_mut(width).zip(biases.par_chunks_exact_mut(width)))
            .for_each(|((((dx, x), dy), moments), (dw, db))| {
                differentiate(dx, x, dy, &weight, centred, moments, dw, db);
            });
        add_in_order(grads.get_or_alloc_mut(&norm.weight)?, weights);
        if let Some(bias) = &norm.bias {
            add_in_order(grads.get_or_alloc_mut(bias)?, biases);
        }
        Ok(())
    }
}

vectorised! {
    /// Normalises rows in place; with a bias, around their mean.
    fn normalise<E>(values: &mut [E], weight: &[E], bias: Option<&[E]>, epsilon: E, moments: &mut [E]) {
        let width = weight.len();
        let inverse = E::one() / E::of(width as f64);
        for (row, moments) in values.chunks_exact_mut(width).zip(moments.chunks_exact_mut(2)) {
            let mean = if bias.is_some() { sum(row, |v| v) * inverse } else { E::zero() };
            let variance = sum(row, |v| (v - mean) * (v - mean)) * inverse;
            let scale = E::one() / (variance + epsilon).sqrt();
            moments[0] = mean;
            moments[1] = scale;
            match bias {
                Some(bias) => {
                    for ((v, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
                        *v = ((*v - mean) * scale).fma::<FMA>(*weight, *bias);
                    }
                }
                None => {
                    for (v, weight) in row.iter_mut().zip(weight) {
                        *v = *v * scale * *weight;
                    }
                }
            }
        }
    }

    /// Adds the gradients of rows to `dx`, and those of the parameters to `dw` and `db`.
    fn differentiate<E>(
        dx: &mut [E],
        x: &[E],
        dy: &[E],
        weight: &[E],
        centred: bool,
        moments: &[E],
        dw: &mut [E],
        db: &mut [E],
    ) {
        let width = weight.len();
        let inverse = E::one() / E::of(width as f64);
        let (dw, db) = (&mut dw[..width], &mut db[..width]);
        let rows = dx.chunks_exact_mut(width).zip(x.chunks_exact(width)).zip(dy.chunks_exact(width));
        for (((dx, x), dy), moments) in rows.zip(moments.chunks_exact(2)) {
            let (mean, scale) = (moments[0], moments[1]);
            // With g = dy weight and x̂ the normalised row: dx = scale (g - mean(g) - x̂ mean(g x̂)).
            let (along, spread) = gather(x, dy, weight, mean, scale, dw, db);
            let along = if centred { along * inverse } else { E::zero() };
            let spread = spread * inverse;
            for (((dx, dy), weight), x) in dx.iter_mut().zip(dy).zip(weight).zip(x) {
                *dx += scale * (*dy * *weight - along - (*x - mean) * scale * spread);
            }
        }
    }
}

/// Adds what a row adds to the parameters' gradients, and sums `g = dy weight` and `g x̂`.
#[inline(always)]
fn gather<E: Scalar>(x: &[E], dy: &[E], weight: &[E], mean: E, scale: E, dw: &mut [E], db: &mut [E]) -> (E, E) {
    let (mut along, mut spread) = ([E::zero(); LANES], [E::zero(); LANES]);
    let chunks = x.chunks(LANES).zip(dy.chunks(LANES)).zip(weight.chunks(LANES));
    for (((x, dy), weight), (dw, db)) in chunks.zip(dw.chunks_mut(LANES).zip(db.chunks_mut(LANES))) {
        let mut add = |count: usize| {
            let (x, dy, weight) = (&x[..count], &dy[..count], &weight[..count]);
            let (dw, db) = (&mut dw[..count], &mut db[..count]);
            for i in 0..count {
                let normalised = (x[i] - mean) * scale;
                let g = dy[i] * weight[i];
                dw[i] += dy[i] * normalised;
                db[i] += dy[i];
                along[i] += g;
                spread[i] += g * normalised;
            }
        };
        // A count known to the compiler, so that the chunk stays in vectors.
        if x.len() == LANES { add(LANES) } else { add(x.len()) }
    }
    (along.into_iter().sum(), spread.into_iter().sum())
}
