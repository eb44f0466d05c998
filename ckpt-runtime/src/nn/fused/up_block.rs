//! A level of a U-Net's decoder as one operation.

use dfdx::{
    nn::{Module, ModuleMut},
    shapes::HasShape,
    tensor::{Merge, NoneTape, OwnedTape, PutTape, Tape, Tensor},
};

use super::{
    link::Through,
    operation::{Operation, laid_out},
    run::Run,
    step::{Moments, Phase, Steps},
};
use crate::{
    GradientHandle, Real, ReplaySafe, Stateless,
    kernels::{ConcatKernel, Extent},
    nn::{
        Images,
        concat::{Operand, joined},
    },
};

/// How much larger the second image is.
const SCALE: usize = 2;

/// [`UpsampleConcat2d<2>`](crate::nn::UpsampleConcat2d) and the layers of a [`Fused`](super::Fused) run
/// behind it, as one operation: a level of a U-Net's decoder (Ronneberger et al., arXiv 1505.04597).
///
/// As the two in turn, with the same values, gradients and tensor names (those of the layers), but
/// the joined image, the largest of a U-Net, is made where it is read, in the forward and again in
/// the backward pass, and never kept. Takes a tuple of what comes from below and the skip.
///
/// # Shapes
/// `([A, height, width], [B, 2 height, 2 width])`, or the same with a batch, to what the layers give
/// for `[A + B, 2 height, 2 width]`.
///
/// # Panics
/// As the two: where sizes or channels do not fit, or a dimension is 0.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// type Level = nn::UpBlock<(nn::UnbiasedConv2d<8, 4, 3, 1, 1>, nn::BatchNorm2d<4>, nn::Relu)>;
/// let dev: Cpu = Default::default();
/// let mut level = dev.build_module::<Level, f32>();
/// let (below, skip): (Tensor<Rank4<2, 5, 3, 4>, f32, _>, Tensor<Rank4<2, 3, 6, 8>, f32, _>) =
///     (dev.sample_normal(), dev.sample_normal());
/// let y = level.forward_mut((below.leaky_trace(), skip));
/// assert_eq!(y.shape(), &(Const::<2>, Const::<4>, 6, 8));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpBlock<L>(pub L);

impl<L: ReplaySafe> ReplaySafe for UpBlock<L> {}
impl<L: Stateless> Stateless for UpBlock<L> {}
transparent!(UpBlock);

/// The channels that the layers make of joined images.
type OutOf<A, L, E, D> = <<A as Images>::With<usize> as Through<L, E, D>>::Out;

/// What comes out, for images `A` from below.
type Output<A, L, E, D, T> = Tensor<<A as Images>::With<OutOf<A, L, E, D>>, E, D, T>;

/// Puts the operation on the tape: its output, and what it has seen where the tape is one.
fn operate<A: Images, B: Images, E: Real, D, T, R, L>(
    layers: &L,
    phase: Phase,
    a: Tensor<A, E, D, T>,
    b: Tensor<B, E, D, R>,
) -> Result<(Output<A, L, E, D, T>, Vec<Moments>), D::Err>
where
    A::With<usize>: Through<L, E, D>,
    D: ConcatKernel<E>,
    T: Tape<E, D> + Merge<R>,
    R: Tape<E, D>,
{
    let extents: [Extent; 2] = [a.shape().extent(), b.shape().extent()];
    let [of_a, of_b] = extents;
    let inside = joined("UpBlock", SCALE, extents, A::BATCHED == B::BATCHED);
    let mut steps = Steps::new();
    <A::With<usize> as Through<L, E, D>>::steps(layers, phase, &mut steps);
    let mut run = Run::new(steps, inside);
    assert!(!run.is_empty(), "UpBlock has no layer");

    let device = a.device().clone();
    let (a, tape_a, layout_of_a) = laid_out(a, of_a)?;
    let (b, tape_b, layout_of_b) = laid_out(b, of_b)?;
    let mut tape = tape_a.merge(tape_b);
    let join = {
        let device = device.clone();
        move |a: &Tensor<A, E, D>, b: &Tensor<B, E, D>| {
            let a = device.take_in(a, of_a, layout_of_a)?;
            let b = device.take_in(b, of_b, layout_of_b)?;
            device.concatenated(SCALE, of_b, &a, &b)
        }
    };
    let y = run.forward(&device, &join(&a, &b)?, T::OWNS_TAPE)?;
    let output = run.output();
    let y = <A::With<OutOf<A, L, E, D>> as Images>::tensor(&device, y, output);
    let y = y.unwrap_or_else(|| panic!("UpBlock gives {output:?}, which is not the shape of its output"))?;
    let moments = Operation::moments(&mut run);
    if T::OWNS_TAPE {
        let of_y = GradientHandle::of(&y);
        let first = Operand { gradient: GradientHandle::of(&a), extent: of_a, layout: layout_of_a };
        let second = Operand { gradient: GradientHandle::of(&b), extent: of_b, layout: layout_of_b };
        let inputs = run.needs_input().then_some((a, b));
        tape.add_backward_op(move |grads| {
            let dy = of_y.take(grads)?;
            let x = inputs.as_ref().map(|(a, b)| join(a, b)).transpose()?;
            drop(inputs);
            let dx = run.backward(&device, x.as_ref(), dy, None, grads)?;
            drop(x);
            // One after the other: both may be one tensor.
            first.add(&device, grads, |da| device.add_first(SCALE, of_b, &dx, da))?;
            second.add(&device, grads, |db| device.add_second(SCALE, of_b, &dx, db))
        });
    }
    Ok((y.put_tape(tape), moments))
}

impl<A: Images, B: Images, E: Real, D, L> Module<(Tensor<A, E, D, NoneTape>, Tensor<B, E, D, NoneTape>)> for UpBlock<L>
where
    D: ConcatKernel<E>,
    A::With<usize>: Through<L, E, D>,
{
    type Output = Output<A, L, E, D, NoneTape>;
    type Error = D::Err;

    fn try_forward(
        &self,
        (a, b): (Tensor<A, E, D, NoneTape>, Tensor<B, E, D, NoneTape>),
    ) -> Result<Self::Output, D::Err> {
        Ok(operate(&self.0, Phase::Inference, a, b)?.0)
    }
}

impl<A: Images, B: Images, E: Real, D, R, L> Module<(Tensor<A, E, D, OwnedTape<E, D>>, Tensor<B, E, D, R>)>
    for UpBlock<L>
where
    D: ConcatKernel<E>,
    OwnedTape<E, D>: Merge<R>,
    R: Tape<E, D>,
    A::With<usize>: Through<L, E, D>,
    L: Stateless,
{
    type Output = Output<A, L, E, D, OwnedTape<E, D>>;
    type Error = D::Err;

    fn try_forward(
        &self,
        (a, b): (Tensor<A, E, D, OwnedTape<E, D>>, Tensor<B, E, D, R>),
    ) -> Result<Self::Output, D::Err> {
        Ok(operate(&self.0, Phase::Training, a, b)?.0)
    }
}

impl<A: Images, B: Images, E: Real, D, R, L> ModuleMut<(Tensor<A, E, D, OwnedTape<E, D>>, Tensor<B, E, D, R>)>
    for UpBlock<L>
where
    D: ConcatKernel<E>,
    OwnedTape<E, D>: Merge<R>,
    R: Tape<E, D>,
    A::With<usize>: Through<L, E, D>,
{
    type Output = Output<A, L, E, D, OwnedTape<E, D>>;
    type Error = D::Err;

    fn try_forward_mut(
        &mut self,
        (a, b): (Tensor<A, E, D, OwnedTape<E, D>>, Tensor<B, E, D, R>),
    ) -> Result<Self::Output, D::Err> {
        let (y, moments) = operate(&self.0, Phase::Training, a, b)?;
        <A::With<usize> as Through<L, E, D>>::learn(&mut self.0, &mut moments.into_iter())?;
        Ok(y)
    }
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use super::UpBlock;
    use crate::nn::{self, BatchNorm2d, Fused, Relu, UnbiasedConv2d, UpsampleConcat2d};

    type Layers = (UnbiasedConv2d<5, 4, 3, 1, 1>, BatchNorm2d<4>, Relu, UnbiasedConv2d<4, 3, 3, 1, 1>);
    type Below = Tensor<Rank4<2, 3, 2, 3>, f64, Cpu>;
    type Skip = Tensor<Rank4<2, 2, 4, 6>, f64, Cpu>;

    /// Images in every pair of layouts.
    fn pairs(dev: &Cpu) -> Vec<(Below, Skip)> {
        let a: Tensor<Rank4<2, 2, 3, 3>, f64, _> = dev.sample_normal();
        let b: Tensor<Rank4<2, 4, 6, 2>, f64, _> = dev.sample_normal();
        let a = a.permute::<Rank4<2, 3, 2, 3>, Axes4<0, 3, 1, 2>>();
        let b = b.permute::<Rank4<2, 2, 4, 6>, Axes4<0, 3, 1, 2>>();
        let (c, d) = (a.clone().contiguous(), b.clone().contiguous());
        vec![(a.clone(), b.clone()), (a, d.clone()), (c.clone(), b), (c, d)]
    }

    #[test]
    fn it_is_the_two_in_turn_to_the_bit() {
        let dev = Cpu::seed_from_u64(1);
        for (a, b) in pairs(&dev) {
            let mut ours = dev.build_module::<UpBlock<Layers>, f64>();
            let mut theirs = Fused(ours.0.clone());
            let y = ours.forward_mut((a.leaky_trace(), b.clone()));
            let expected = theirs.forward_mut(UpsampleConcat2d::<2>.forward((a.leaky_trace(), b.clone())));
            assert_eq!(y.shape(), &(Const, Const, 4, 6));
            assert_eq!(y.as_vec(), expected.as_vec());
            assert_eq!(ours.0.1.running_mean.as_vec(), theirs.0.1.running_mean.as_vec());
            assert_ne!(ours.0.1.running_mean.as_vec(), [0.0; 4]);
            let (y, expected) = (y.square().sum().backward(), expected.square().sum().backward());
            assert_eq!(y.get(&a).as_vec(), expected.get(&a).as_vec());
            assert_eq!(y.get(&b).as_vec(), expected.get(&b).as_vec());
            let weights = [&ours.0.0.weight, &theirs.0.0.weight];
            assert_eq!(y.get(weights[0]).as_vec(), expected.get(weights[1]).as_vec());
            let inferred = ours.forward((a.clone(), b.clone())).as_vec();
            assert_eq!(inferred, theirs.forward(UpsampleConcat2d::<2>.forward((a, b))).as_vec());
        }
    }

    #[test]
    fn both_tensors_may_come_with_a_tape() {
        let dev = Cpu::seed_from_u64(2);
        let (a, b) = pairs(&dev).remove(0);
        let layer = dev.build_module::<UpBlock<(nn::Conv2d<5, 2, 1>, nn::Gelu)>, f64>();
        let gradients = layer.forward((a.square().leaky_trace(), b.leaky_trace().square())).sum().backward();
        assert!(gradients.get(&b).as_vec().iter().all(|g| *g != 0.0));
    }

    #[test]
    #[should_panic(expected = "UpBlock cannot put")]
    fn a_skip_of_another_size_is_refused() {
        let dev = Cpu::default();
        let layer = dev.build_module::<UpBlock<nn::Conv2d<5, 2, 1>>, f64>();
        let _ = layer.forward((dev.ones::<Rank4<2, 3, 2, 3>>(), dev.ones::<Rank4<2, 2, 4, 5>>()));
    }
}
