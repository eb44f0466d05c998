//! Batch norm of images: each channel by its mean and variance over all pixels.

use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, Gradients, HasErr, Storage, Tensor},
    tensor_ops::Device,
};

use super::{
    activation::Activation,
    buffer::read,
    channel_norm::{Map, Slope, Statistics, Sums, moments},
    device::HeapDevice,
    images::ImageBuffers,
    scalar::Scalar,
};
use crate::Real;

/// A norm's parameters, and the function behind it.
pub struct ChannelNorm<E: Real, D: Device<E>> {
    /// The factor of each channel.
    pub weight: Tensor<(usize,), E, D>,
    /// What is added to each channel.
    pub bias: Tensor<(usize,), E, D>,
    /// Added to the variance.
    pub epsilon: f64,
    /// Applied to the result.
    pub function: Activation,
}

impl<E: Real, D: Device<E>> ChannelNorm<E, D> {
    /// Takes a function on behind the norm, where there is none yet.
    pub fn absorb(&mut self, function: Activation) -> bool {
        let free = self.function == Activation::Identity;
        if free {
            self.function = function;
        }
        free
    }
}

impl<E: Real, D: Device<E>> std::fmt::Debug for ChannelNorm<E, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let channels = self.weight.shape().0;
        f.debug_struct("ChannelNorm").field("channels", &channels).finish_non_exhaustive()
    }
}

/// Batch norm over buffers. Statistics are those of each channel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no kernels for images of `{E}`",
    label = "no image layer runs on this device with this dtype",
    note = "the image layers of `ckpt_runtime::nn` run on `Cpu` in `f32` and `f64`"
)]
pub trait BatchNormKernel<E: Real>: ImageBuffers<E> {
    /// Each channel's statistics.
    fn statistics(&self, x: &<Self as Storage<E>>::Vec, channels: usize) -> Statistics;

    /// The norm by these statistics, and the function of it.
    ///
    /// # Errors
    /// The device's.
    fn normalised(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, Self::Err>;

    /// Adds the gradients of the parameters, from that of the output, which may be changed; and
    /// gives what the input's gradient is then made of.
    ///
    /// # Errors
    /// The device's.
    fn differentiate(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        x: &<Self as Storage<E>>::Vec,
        dy: &mut <Self as Storage<E>>::Vec,
        grads: &mut Gradients<E, Self>,
    ) -> Result<Sums, Self::Err>;

    /// Makes the gradient of the output that of the input.
    fn replace_gradient(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        sums: &Sums,
        x: &<Self as Storage<E>>::Vec,
        dy: &mut <Self as Storage<E>>::Vec,
    );

    /// Adds the gradient of the input to `dx`.
    fn add_gradient(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        sums: &Sums,
        x: &<Self as Storage<E>>::Vec,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    );
}

impl<E: Scalar> BatchNormKernel<E> for Cpu
where
    Cpu: HeapDevice<E>,
{
    fn statistics(&self, x: &<Self as Storage<E>>::Vec, channels: usize) -> Statistics {
        let (mean, mut variance) = moments(x, channels);
        let count = (x.len() / channels) as f64;
        variance.iter_mut().for_each(|squares| *squares /= count);
        Statistics { mean, variance }
    }

    fn normalised(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        x: &<Self as Storage<E>>::Vec,
    ) -> Result<<Self as Storage<E>>::Vec, <Self as HasErr>::Err> {
        self.keep(map(norm, by, norm.function).of(x, by.mean.len()))
    }

    fn differentiate(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        x: &<Self as Storage<E>>::Vec,
        dy: &mut <Self as Storage<E>>::Vec,
        grads: &mut Gradients<E, Self>,
    ) -> Result<Sums, <Self as HasErr>::Err> {
        let sums = map(norm, by, norm.function).sums(x, dy, by.mean.len(), |c| by.mean[c]);
        let dw = grads.get_or_alloc_mut(&norm.weight)?;
        for (c, dw) in dw.iter_mut().enumerate() {
            *dw += E::of(sums.spread[c] * inverse(norm, by, c));
        }
        let db = grads.get_or_alloc_mut(&norm.bias)?;
        for (c, db) in db.iter_mut().enumerate() {
            *db += E::of(sums.along[c]);
        }
        Ok(sums)
    }

    fn replace_gradient(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        sums: &Sums,
        x: &<Self as Storage<E>>::Vec,
        dy: &mut <Self as Storage<E>>::Vec,
    ) {
        map(norm, by, sums.function).replace_gradient(&slope(norm, by, sums, x.len()), x, dy, by.mean.len());
    }

    fn add_gradient(
        &self,
        norm: &ChannelNorm<E, Self>,
        by: &Statistics,
        sums: &Sums,
        x: &<Self as Storage<E>>::Vec,
        dy: &<Self as Storage<E>>::Vec,
        dx: &mut <Self as Storage<E>>::Vec,
    ) {
        map(norm, by, sums.function).add_gradient(&slope(norm, by, sums, x.len()), x, dy, dx, by.mean.len());
    }
}

/// A channel's inverse deviation.
fn inverse<E: Scalar>(norm: &ChannelNorm<E, Cpu>, by: &Statistics, channel: usize) -> f64
where
    Cpu: HeapDevice<E>,
{
    1.0 / (by.variance[channel] + norm.epsilon).sqrt()
}

fn map<E: Scalar>(norm: &ChannelNorm<E, Cpu>, by: &Statistics, f: Activation) -> Map<E>
where
    Cpu: HeapDevice<E>,
{
    Map::new(f, &read(&norm.weight), &read(&norm.bias), |c| by.mean[c], |c| inverse(norm, by, c))
}

/// With g the gradient before the function and x̂ the normalised input:
/// dx = weight / deviation (g - mean(g) - x̂ mean(g x̂)).
fn slope<E: Scalar>(norm: &ChannelNorm<E, Cpu>, by: &Statistics, sums: &Sums, elements: usize) -> Slope<E>
where
    Cpu: HeapDevice<E>,
{
    let channels = by.mean.len();
    let count = (elements / channels) as f64;
    let weight = read(&norm.weight);
    let scale = |c: usize| inverse(norm, by, c) * weight[c].to_f64().unwrap_or(f64::NAN) / count;
    Slope::new(
        channels,
        |c| scale(c) * sums.along[c],
        |c| scale(c) * sums.spread[c] / (by.variance[c] + norm.epsilon),
        |c| by.mean[c],
    )
}
