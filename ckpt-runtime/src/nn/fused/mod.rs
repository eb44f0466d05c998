//! Several image layers as one operation on the tape.
//!
//! A tape keeps the input of every layer, which for convolution, batch norm and ReLU in turn is
//! three tensors where one would do: the outputs of batch norm and ReLU come again from batch
//! norm's input for the price of reading it. [`Fused`] runs its layers on buffers of its own, hands
//! each one's output to the next without a copy, keeps what is costly to compute and recomputes the
//! rest: the memory of checkpointing inside a block, without running a convolution twice.
//!
//! A layer lists its operations ([`Link::steps`]), a [`Run`](run::Run) carries them out.

mod activate;
mod link;
mod operation;
mod residual;
mod run;
mod step;
mod up_block;

#[cfg(test)]
mod tests;

pub(crate) use link::run;
pub use link::{Link, Through};
#[allow(unused_imports)]
pub(crate) use operation::{apply, laid_out, train};
pub use residual::ResidualAct;
#[allow(unused_imports)]
pub(crate) use step::{Buffer, Cheap, Moments, Phase, Step, Steps};
pub use up_block::UpBlock;

use dfdx::{shapes::Dim, tensor_ops::Device};

use crate::{Real, ReplaySafe, Stateless};

/// Layers in turn as one operation: `Fused<(Conv2d<3, 8, 3>, BatchNorm2d<8>, Relu, Conv2d<8, 8, 3>)>`.
///
/// As the same layers in a tuple, with the same values, gradients and tensor names, but no copy
/// between them, and in less memory: it keeps its input and the outputs of its convolutions; what
/// norms and functions gave is computed again from them. A function behind a norm runs in the
/// norm's own pass.
///
/// Trains through `forward_mut`, or where no layer has running statistics through `forward` as well.
///
/// # Shapes
/// `[channels, height, width]` or `[batch, channels, height, width]`, to the same with the last
/// layer's channels and the height and width that the layers make of it, as `usize`s.
///
/// # Panics
/// Where an input does not fit a layer: the message names the layer and the numbers.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// type Model = nn::Fused<(nn::Conv2d<3, 8, 3>, nn::BatchNorm2d<8>, nn::Relu, nn::Conv2d<8, 8, 3>)>;
/// let dev: Cpu = Default::default();
/// let mut model = dev.build_module::<Model, f32>();
/// let x: Tensor<Rank4<2, 3, 6, 6>, f32, _> = dev.sample_normal();
/// let y = model.forward_mut(x.leaky_trace());
/// assert_eq!(y.shape(), &(Const::<2>, Const::<8>, 2, 2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fused<L>(pub L);

impl<L: ReplaySafe> ReplaySafe for Fused<L> {}
impl<L: Stateless> Stateless for Fused<L> {}
transparent!(Fused);

/// A run may stand in another.
impl<C: Dim, E: Real, D: Device<E>, L: Link<C, E, D>> Link<C, E, D> for Fused<L> {
    type Out = L::Out;

    fn steps(&self, phase: Phase, steps: &mut Steps<E, D>) {
        self.0.steps(phase, steps);
    }

    fn learn(&mut self, moments: &mut dyn Iterator<Item = Moments>) -> Result<(), D::Err> {
        self.0.learn(moments)
    }
}

link::run!(Fused);
