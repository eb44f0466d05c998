//! Group norm of images: each group of channels of an image by its mean and variance.

use dfdx::tensor::{Cpu, Gradients, HasErr, Storage};
use rayon::prelude::*;

use super::{
    activation::Activation,
    batch_norm::ChannelNorm,
    buffer::{read, written},
    channel_norm::{Map, Slope, Statistics, Sums, moments},
    device::HeapDevice,
    images::{Extent, ImageBuffers},
    scalar::Scalar,
};
use crate::Real;

/// Group norm over buffers. Statistics are those of each image's groups, sums those of each image's
/// channels.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no image layer runs on this device with this dtype",
    note = "the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait GroupNormKernel<E: Real>: ImageBuffers<E> {
    /// Each image's statistics, group by group.
    fn group_statistics(&self, x: &<Self as Storage<E>>::Vec, input: Extent, groups: usize) -> Statistics;

    /// The norm by these statistics, and the function of it.
    ///
    /// # Errors
    /// The device's.
    fn normalised_groups(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// Adds the gradients of the parameters, from that of the output, which may be changed; and
    /// gives what the input's gradient is then made of, image by image.
    ///
    /// # Errors
    /// The device's.
    fn differentiate_groups(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
        dy: &mut <Self as Storage<E>>::Vec,
        grads: &mut Gradients<E, Self>,
    ) -> Result<Vec<Sums>, Self::Err>;

    /// Makes the gradient of the output that of the input.
    fn replace_group_gradient(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        sums: &[Sums],
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
        dy: &mut <Self as Storage<E>>::Vec,
    );

    /// Adds the gradient of the input to `dx`.
    #[allow(clippy::too_many_arguments)]
    fn add_group_gradient(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        sums: &[Sums],
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    );
}

impl<E: Scalar> GroupNormKernel<E> for Cpu
where
    Cpu: HeapDevice<E>,
{
    fn group_statistics(&self, x: &<Self as Storage<E>>::Vec, input: Extent, groups: usize) -> Statistics {
        let (pixels, channels) = (input.height * input.width, input.channels);
        let (each, count) = (channels / groups, pixels as f64);
        let mut mean = vec![0.0; input.images * groups];
        let mut variance = mean.clone();
        let images = mean.par_chunks_mut(groups).zip(variance.par_chunks_mut(groups));
        images.zip(x.par_chunks(pixels * channels)).for_each(|((mean, variance), x)| {
            let (means, squares) = moments(x, channels);
            let groups = means.chunks_exact(each).zip(squares.chunks_exact(each));
            for ((mean, variance), (means, squares)) in mean.iter_mut().zip(variance).zip(groups) {
                *mean = means.iter().sum::<f64>() / each as f64;
                let between: f64 = means.iter().map(|m| (m - *mean) * (m - *mean)).sum();
                *variance = (squares.iter().sum::<f64>() / count + between) / each as f64;
            }
        });
        Statistics { mean, variance }
    }

    fn normalised_groups(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        let groups = Groups::new(norm, by, input);
        // SAFETY: the images tile the buffer, and `write` writes all of its image.
        self.keep(unsafe {
            written(x.len(), |y| {
                let images = y.par_chunks_mut(groups.image()).zip(x.par_chunks(groups.image()));
                images.enumerate().for_each(|(image, (y, x))| {
                    groups.map(image, norm.function).write(x, y, input.channels);
                });
            })
        })
    }

    fn differentiate_groups(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
        dy: &mut <Self as Storage<E>>::Vec,
        grads: &mut Gradients<E, Self>,
    ) -> Result<Vec<Sums>, <Self as HasErr>::Err> {
        let groups = Groups::new(norm, by, input);
        let images = dy.par_chunks_mut(groups.image()).zip(x.par_chunks(groups.image())).enumerate();
        let sums = images.map(|(image, (dy, x))| {
            groups.map(image, norm.function).sums(x, dy, input.channels, |c| by.mean[groups.of(image, c)])
        });
        let sums: Vec<Sums> = sums.collect();
        let dw = grads.get_or_alloc_mut(&norm.weight)?;
        for (c, dw) in dw.iter_mut().enumerate() {
            let images = sums.iter().enumerate();
            *dw += E::of(images.map(|(image, sums)| sums.spread[c] * groups.inverse(image, c)).sum());
        }
        let db = grads.get_or_alloc_mut(&norm.bias)?;
        for (c, db) in db.iter_mut().enumerate() {
            *db += E::of(sums.iter().map(|sums| sums.along[c]).sum());
        }
        Ok(sums)
    }

    fn replace_group_gradient(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        sums: &[Sums],
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
        dy: &mut <Self as Storage<E>>::Vec,
    ) {
        let groups = Groups::new(norm, by, input);
        let images = dy.par_chunks_mut(groups.image()).zip(x.par_chunks(groups.image())).zip(sums);
        images.enumerate().for_each(|(image, ((dy, x), sums))| {
            groups.map(image, sums.function).replace_gradient(&groups.slope(image, sums), x, dy, input.channels);
        });
    }

    fn add_group_gradient(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        sums: &[Sums],
        input: Extent,
        x: &<Self as Storage<E>>::Vec,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    ) {
        let groups = Groups::new(norm, by, input);
        let images = dx.par_chunks_mut(groups.image()).zip(dy.par_chunks(groups.image()));
        images.zip(x.par_chunks(groups.image())).zip(sums).enumerate().for_each(|(image, (((dx, dy), x), sums))| {
            groups.map(image, sums.function).add_gradient(&groups.slope(image, sums), x, dy, dx, input.channels);
        });
    }
}

/// The norm of each image.
struct Groups<'a, E> {
    weight: Vec<E>,
    bias: Vec<E>,
    epsilon: f64,
    by: &'a Statistics,
    input: Extent,
    /// Groups of an image.
    count: usize,
}

impl<'a, E: Scalar> Groups<'a, E> {
    fn new(norm: &ChannelNorm<E, Cpu>, by: &'a Statistics, input: Extent) -> Self
    where
        Cpu: HeapDevice<E>,
    {
        let (weight, bias) = (read(&norm.weight), read(&norm.bias));
        Self { weight, bias, epsilon: norm.epsilon, by, input, count: by.mean.len() / input.images }
    }

    /// Numbers of an image.
    fn image(&self) -> usize {
        self.input.height * self.input.width * self.input.channels
    }

    /// Where a channel's group stands among the statistics.
    fn of(&self, image: usize, channel: usize) -> usize {
        image * self.count + channel * self.count / self.input.channels
    }

    fn inverse(&self, image: usize, channel: usize) -> f64 {
        1.0 / (self.by.variance[self.of(image, channel)] + self.epsilon).sqrt()
    }

    fn map(&self, image: usize, f: Activation) -> Map<E> {
        let (mean, inverse) = (|c| self.by.mean[self.of(image, c)], |c| self.inverse(image, c));
        Map::new(f, &self.weight, &self.bias, mean, inverse)
    }

    /// With g the gradient before the function times the weight, and x̂ the normalised input:
    /// dx = (g - mean(g) - x̂ mean(g x̂)) / deviation, with the means over the group.
    fn slope(&self, image: usize, sums: &Sums) -> Slope<E> {
        let each = self.input.channels / self.count;
        let numbers = (self.image() / self.count) as f64;
        let weighted = |sums: &[f64]| -> Vec<f64> {
            let groups = sums.chunks_exact(each).zip(self.weight.chunks_exact(each));
            let sum = |(sums, weight): (&[f64], &[E])| -> f64 {
                sums.iter().zip(weight).map(|(sum, w)| sum * w.to_f64().unwrap_or(f64::NAN)).sum()
            };
            groups.map(sum).collect()
        };
        let (along, spread) = (weighted(&sums.along), weighted(&sums.spread));
        Slope::new(
            self.input.channels,
            |c| self.inverse(image, c) * along[c / each] / numbers,
            |c| self.inverse(image, c).powi(3) * spread[c / each] / numbers,
            |c| self.by.mean[self.of(image, c)],
        )
    }
}
