//! Layer norm and root-mean-square norm of rows.

use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, Gradients, HasErr, Storage},
    tensor_ops::Device,
};
use rayon::prelude::*;

use super::{
    buffer::{read, write_copy, written},
    device::{Heap, HeapDevice, Lent, Vector, kernels},
    lanes::{LANES, sum},
    parts::{PARTS, add_in_order, rows_of_part},
    scalar::Scalar,
};
use crate::Real;

/// A norm's parameters.
#[derive(Debug)]
pub struct Norm<E: Real, D: Device<E>> {
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
    fn forward(
        &self,
        norm: &Norm<E, D>,
        x: Lent<'_, <D as Storage<E>>::Vec>,
    ) -> Result<(<D as Storage<E>>::Vec, <D as Storage<E>>::Vec), D::Err>;

    /// Adds the gradient of `x` to `dx`, and gives those of the parameters for
    /// [`add_parameters`](Self::add_parameters).
    fn backward(
        &self,
        norm: &Norm<E, D>,
        x: &<D as Storage<E>>::Vec,
        moments: &<D as Storage<E>>::Vec,
        dy: &<D as Storage<E>>::Vec,
        dx: &mut <D as Storage<E>>::Vec,
    ) -> Result<<D as Storage<E>>::Vec, D::Err>;

    /// Adds what [`backward`](Self::backward) gave to the gradients of the parameters.
    fn add_parameters(
        &self,
        norm: &Norm<E, D>,
        sums: &<D as Storage<E>>::Vec,
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
        x: Lent<'_, <Cpu as Storage<E>>::Vec>,
    ) -> Result<(<Cpu as Storage<E>>::Vec, <Cpu as Storage<E>>::Vec), <Cpu as HasErr>::Err> {
        let (device, width) = (norm.weight.device(), norm.weight.shape().0);
        let rows = x.get().len() / width;
        assert_eq!(rows * width, x.get().len(), "a row that is not whole");
        let weight = read(&norm.weight);
        let bias = norm.bias.as_ref().map(read);
        let mut moments = vec![E::zero(); rows * 2];
        let part = rows_of_part(rows);
        let normalise = |values: &mut [E], moments: &mut [E]| {
            normalise(values, &weight, bias.as_deref(), E::of(norm.epsilon), moments);
        };
        let of_parts = moments.par_chunks_mut(part * 2);
        let values = match x {
            Lent::Owned(mut values) => {
                let parts = values.par_chunks_mut(part * width).zip(of_parts);
                parts.for_each(|(values, moments)| normalise(values, moments));
                values
            }
            Lent::Shared(x) => {
                // SAFETY: the parts tile the buffer, and each is a copy of its part of `x` before it is read.
                device.keep(unsafe {
                    written(x.len(), |values| {
                        let parts = values.par_chunks_mut(part * width).zip(x.par_chunks(part * width)).zip(of_parts);
                        parts.for_each(|((values, x), moments)| {
                            write_copy(values, x);
                            normalise(&mut *(std::ptr::from_mut(values) as *mut [E]), moments);
                        });
                    })
                })?
            }
        };
        Ok((values, device.keep(moments)?))
    }

    fn backward(
        &self,
        norm: &Norm<E, Cpu>,
        x: &<Cpu as Storage<E>>::Vec,
        moments: &<Cpu as Storage<E>>::Vec,
        dy: &<Cpu as Storage<E>>::Vec,
        dx: &mut <Cpu as Storage<E>>::Vec,
    ) -> Result<<Cpu as Storage<E>>::Vec, <Cpu as HasErr>::Err> {
        assert!(dx.len() == x.len() && dy.len() == x.len(), "gradients of another size");
        let width = norm.weight.shape().0;
        let centred = norm.bias.is_some();
        let weight = read(&norm.weight);
        let mut sums = vec![E::zero(); PARTS * 2 * width];
        let part = rows_of_part(x.len() / width);
        let (weights, biases) = sums.split_at_mut(PARTS * width);
        dx.par_chunks_mut(part * width)
            .zip(x.par_chunks(part * width))
            .zip(dy.par_chunks(part * width))
            .zip(moments.par_chunks(part * 2))
            .zip(weights.par_chunks_exact_mut(width).zip(biases.par_chunks_exact_mut(width)))
            .for_each(|((((dx, x), dy), moments), (dw, db))| {
                differentiate(dx, x, dy, &weight, centred, moments, dw, db);
            });
        norm.weight.device().keep(sums)
    }

    fn add_parameters(
        &self,
        norm: &Norm<E, Cpu>,
        sums: &<Cpu as Storage<E>>::Vec,
        grads: &mut Gradients<E, Cpu>,
    ) -> Result<(), <Cpu as HasErr>::Err> {
        let (weights, biases) = sums.split_at(PARTS * norm.weight.shape().0);
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
