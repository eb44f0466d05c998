//! Two linear layers with a function between them.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, TensorCollection},
    shapes::{Dtype, HasShape},
    tensor::{Cpu, Gradients, Storage, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};

use super::{
    activation::ActivationFn,
    gelu::Gelu,
    linear::{Linear, affine_rows},
    pre_norm::RowLayer,
    rows::{Input, RowOperation, operate},
    shapes::{Features, rows_in},
};
use crate::{
    Real, ReplaySafe, Stateless,
    gradients::Buffer,
    kernels::{Affine, BufferKernel, Lent, LinearKernel},
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
        let (Some(operation), Some(buffers)) =
            (self.operation(x.device(), &shape, T::OWNS_TAPE)?, <dyn BufferKernel<E, D>>::find())
        else {
            let (rows, mut narrow) = (shape.num_elements() / M, self.linear2.affine()?);
            narrow.before = A::FUNCTION;
            return affine_rows(narrow, rows, affine_rows(self.linear1.affine()?, rows, x)?)?.try_reshape_like(&shape);
        };
        operate(operation, buffers, x, [M, M])?.try_reshape_like(&shape)
    }
}

impl<const M: usize, const F: usize, A: ActivationFn, S: Features<M>, E: Real, D: Device<E>> RowLayer<S, E, D>
    for FeedForward<M, F, A, E, D>
{
    fn operation(&self, _: &D, shape: &S, _: bool) -> Result<Option<Box<dyn RowOperation<E, D>>>, D::Err> {
        rows_in("FeedForward", shape, M);
        let Some(linear) = <dyn LinearKernel<E, D>>::find() else { return Ok(None) };
        let (widen, mut narrow) = (self.linear1.affine()?, self.linear2.affine()?);
        narrow.before = A::FUNCTION;
        Ok(Some(Box::new(Wide { linear, widen, narrow, wide: None })))
    }
}

/// The two layers.
struct Wide<E: Real, D: Device<E>> {
    linear: &'static dyn LinearKernel<E, D>,
    widen: Affine<E, D>,
    narrow: Affine<E, D>,
    /// The wide layer's output before the function.
    wide: Option<Buffer<E, D>>,
}

impl<E: Real, D: Device<E>> RowOperation<E, D> for Wide<E, D> {
    fn forward(&mut self, x: Lent<'_, Buffer<E, D>>, keep: bool) -> Result<Buffer<E, D>, D::Err> {
        let (wide, _) = self.linear.forward(&self.widen, x.get(), false)?;
        drop(x);
        let (y, _) = self.linear.forward(&self.narrow, &wide, false)?;
        self.wide = keep.then_some(wide);
        Ok(y)
    }

    fn backward(
        self: Box<Self>,
        input: &mut dyn Input<E, D>,
        dy: Buffer<E, D>,
        grads: &mut Gradients<E, D>,
    ) -> Result<(), D::Err> {
        let wide = Lent::Owned(self.wide.expect("what forward kept"));
        let d_wide = self.linear.backward(&self.narrow, wide, None, dy, &mut |_| Ok(None), grads)?;
        let x = Lent::Owned(input.values()?);
        let dx = self.linear.backward(&self.widen, x, None, d_wide, &mut |grads| input.sum(grads), grads)?;
        input.put(grads, dx)
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
