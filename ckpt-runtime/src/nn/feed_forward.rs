//! Two linear layers with a function between them.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, TensorCollection},
    shapes::{Dtype, HasShape},
    tensor::{Cpu, PutTape, SplitTape, Storage, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};

use super::{
    activation::ActivationFn,
    gelu::Gelu,
    linear::{Linear, affine_rows},
    shapes::{Features, rows_in},
};
use crate::{
    GradientHandle, Real, ReplaySafe, Stateless,
    kernels::{BufferKernel, Lent, LinearKernel},
};

/// The wide part of a Transformer's block: [`Linear`] to `F` features, `A`, and [`Linear`] back.
/// The parameters have the names of `torch.nn.TransformerEncoderLayer`: `linear1`, `linear2`.
///
/// One operation on the tape: keeps its input and the wide layer's output before `A`, hands the
/// latter on without a copy, and computes `A` again in the backward pass.
///
/// # Shapes
/// `[.., M]` to the same, behind up to three other dimensions.
///
/// # Panics
/// Where a run-time last dimension is not `M`, or another one is 0.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let layer = dev.build_module::<nn::FeedForward<4, 16>, f32>();
/// let y: Tensor<Rank2<3, 4>, f32, _> = layer.forward(dev.sample_normal::<Rank2<3, 4>>());
/// # let _ = y;
/// ```
#[derive(Clone, Debug)]
pub struct FeedForward<const M: usize, const F: usize, A = Gelu, E: Dtype = f32, D: Storage<E> = Cpu> {
    /// Into the wide space.
    pub linear1: Linear<M, F, E, D>,
    /// Back from it.
    pub linear2: Linear<F, M, E, D>,
    /// The function between them.
    pub activation: A,
}

impl<const M: usize, const F: usize, A, E: Dtype, D: Storage<E>> ReplaySafe for FeedForward<M, F, A, E, D> {}
impl<const M: usize, const F: usize, A, E: Dtype, D: Storage<E>> Stateless for FeedForward<M, F, A, E, D> {}
impl<const M: usize, const F: usize, A, E: Dtype, D: Storage<E>> NonMutableModule for FeedForward<M, F, A, E, D> {}

impl<const M: usize, const F: usize, A: ActivationFn, E: Real, D: Device<E>> BuildOnDevice<D, E>
    for FeedForward<M, F, A>
{
    type Built = FeedForward<M, F, A, E, D>;
}

impl<const M: usize, const F: usize, A: ActivationFn, E: Real, D: Device<E>> TensorCollection<E, D>
    for FeedForward<M, F, A, E, D>
{
    type To<E2: Dtype, D2: Device<E2>> = FeedForward<M, F, A, E2, D2>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(
            (
                Self::module("linear1", |s| &s.linear1, |s| &mut s.linear1),
                Self::module("linear2", |s| &s.linear2, |s| &mut s.linear2),
            ),
            |(linear1, linear2)| FeedForward { linear1, linear2, activation: A::default() },
        )
    }
}

impl<const M: usize, const F: usize, A, S, E, D, T> Module<Tensor<S, E, D, T>> for FeedForward<M, F, A, E, D>
where
    A: ActivationFn,
    S: Features<M>,
    E: Real,
    D: Device<E>,
    T: Tape<E, D>,
{
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
        let shape = *x.shape();
        let rows = rows_in("FeedForward", &shape, M);
        let (widen, mut narrow) = (self.linear1.affine()?, self.linear2.affine()?);
        narrow.before = A::FUNCTION;
        let (Some(linear), Some(buffers)) = (<dyn LinearKernel<E, D>>::find(), <dyn BufferKernel<E, D>>::find()) else {
            return affine_rows(narrow, rows, affine_rows(widen, rows, x)?)?.try_reshape_like(&shape);
        };
        let device = x.device().clone();
        let (x, mut tape) = x.try_reshape_like(&(rows, M))?.try_contiguous()?.split_tape();
        let (wide, _) = linear.forward(&widen, &buffers.take_in(&x)?, false)?;
        let (y, _) = linear.forward(&narrow, &wide, false)?;
        let y = buffers.give_out(&device, y, (rows, M))?;
        if T::OWNS_TAPE {
            let (gradient, of_x) = (GradientHandle::of(&y), GradientHandle::of(&x));
            tape.add_backward_op(move |grads| {
                let dy = gradient.take(grads)?;
                let d_wide = linear.backward(&narrow, Lent::Owned(wide), None, dy, None, grads)?;
                let values = buffers.take_in(&x)?;
                drop(x);
                let sum = Some(of_x.take(grads)?);
                let dx = linear.backward(&widen, Lent::Owned(values), None, d_wide, sum, grads)?;
                of_x.put(grads, dx)
            });
        }
        y.put_tape(tape).try_reshape_like(&shape)
    }
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use crate::nn::{self, Gelu, Relu, Silu, checks::*};

    #[test]
    fn it_is_its_layers_in_turn() {
        let dev = Cpu::seed_from_u64(1);
        let layer = dev.build_module::<nn::FeedForward<5, 12, Silu>, f64>();
        // Few rows, and more than a block of them.
        for rows in [4, 1030] {
            let x: Tensor<(usize, Const<5>), f64, _> = dev.sample_normal_like(&(rows, Const));
            let ours = layer.forward(x.leaky_trace());
            let theirs = layer.linear2.forward(Silu.forward(layer.linear1.forward(x.leaky_trace())));
            near(&ours.as_vec(), &theirs.as_vec(), 1e-14);
            near(&layer.forward(x.clone()).as_vec(), &ours.as_vec(), 0.0);
            let (ours, theirs) = (ours.square().sum().backward(), theirs.square().sum().backward());
            near(&ours.get(&x).as_vec(), &theirs.get(&x).as_vec(), 1e-12);
            near(&ours.get(&layer.linear1.weight).as_vec(), &theirs.get(&layer.linear1.weight).as_vec(), 1e-12);
            near(&ours.get(&layer.linear2.weight).as_vec(), &theirs.get(&layer.linear2.weight).as_vec(), 1e-12);
            near(&ours.get(&layer.linear1.bias).as_vec(), &theirs.get(&layer.linear1.bias).as_vec(), 1e-12);
        }
    }

    #[test]
    fn gradients_agree_with_differences() {
        let dev = Cpu::seed_from_u64(2);
        let layer = dev.build_module::<nn::FeedForward<3, 7>, f64>();
        let x: Tensor<Rank3<2, 2, 3>, f64, _> = dev.sample_normal();
        agrees_with_differences(&x, |x| layer.forward(x).square().sum());
        // A use of its own beside the layer's adds up.
        agrees_with_differences(&x, |x| (layer.forward(x.with_empty_tape()) * x).sum());
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(3);
        let layer = dev.build_module::<nn::FeedForward<40, 130, Gelu>, f32>();
        let x: Tensor<(usize, Const<40>), f32, _> = dev.sample_normal_like(&(1100, Const));
        same_bits_for_any_threads(|| {
            let y = layer.forward(x.leaky_trace());
            let out = y.as_vec();
            let g = y.square().mean().backward();
            vec![out, g.get(&x).as_vec(), g.get(&layer.linear1.weight).as_vec(), g.get(&layer.linear2.bias).as_vec()]
        });
    }

    #[test]
    fn wrong_inputs_are_named() {
        let dev = Cpu::default();
        let layer = dev.build_module::<nn::FeedForward<5, 3, Relu>, f32>();
        let message = panic_of(|| layer.forward(dev.ones_like(&(2, 6))));
        assert_eq!(message, "FeedForward takes 5 features, not 6: its input is [2, 6]");
    }
}
