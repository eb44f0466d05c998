//! Sums, as of a residual branch and its input.

use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{Merge, PutTape, SplitTape, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo, TryAdd},
};

use crate::{GradientHandle, Real, kernels::AddKernel};

/// `a + b`: what the operator of dfdx gives, in parallel, and keeping neither.
///
/// # Shapes
/// Both the same.
///
/// # Panics
/// Where run-time dimensions differ, and on a device error.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let sum = nn::add(dev.tensor([1.0, 2.0]), dev.tensor([3.0, 4.0]));
/// assert_eq!(sum.array(), [4.0, 6.0]);
/// ```
pub fn add<S: Shape, E: Real, D: Device<E>, T: Tape<E, D> + Merge<R>, R: Tape<E, D>>(
    a: Tensor<S, E, D, T>,
    b: Tensor<S, E, D, R>,
) -> Tensor<S, E, D, T> {
    try_add(a, b).expect("add")
}

/// [`add`], which see.
///
/// # Errors
/// The device's.
pub fn try_add<S: Shape, E: Real, D: Device<E>, T: Tape<E, D> + Merge<R>, R: Tape<E, D>>(
    a: Tensor<S, E, D, T>,
    b: Tensor<S, E, D, R>,
) -> Result<Tensor<S, E, D, T>, D::Err> {
    let shape = *a.shape();
    assert!(shape == *b.shape(), "add: {:?} and {:?}", shape.concrete(), b.shape().concrete());
    let Some(kernel) = <dyn AddKernel<E, D>>::find() else {
        return a.try_add(b);
    };
    let to = (shape.num_elements(),);
    let (a, tape_a) = a.try_contiguous()?.try_reshape_like(&to)?.split_tape();
    let (b, tape_b) = b.try_contiguous()?.try_reshape_like(&to)?.split_tape();
    let mut tape = tape_a.merge(tape_b);
    let y = kernel.forward(&a, &b)?;
    if T::OWNS_TAPE {
        let (gradient, a, b) = (GradientHandle::of(&y), a.ghost(), b.ghost());
        tape.add_backward_op(move |grads| {
            let dy = gradient.take(grads)?;
            kernel.accumulate(grads.get_or_alloc_mut(&a)?, &dy);
            kernel.accumulate(grads.get_or_alloc_mut(&b)?, &dy);
            Ok(())
        });
    }
    Ok(y.try_reshape_like(&shape)?.put_tape(tape))
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use super::add;
    use crate::nn::checks::*;

    #[test]
    fn gradients_reach_both_and_add_up_where_both_are_one() {
        let dev = Cpu::seed_from_u64(1);
        let (x, y): (Tensor<Rank2<3, 4>, f64, _>, Tensor<Rank2<4, 3>, f64, _>) =
            (dev.sample_normal(), dev.sample_normal());
        agrees_with_differences(&x, |x| add(x, y.leaky_trace().permute()).square().sum());
        agrees_with_differences(&y, |y| add(x.leaky_trace(), y.permute()).square().sum());
        agrees_with_differences(&x, |x| add(x.with_empty_tape(), x).square().sum());
    }

    #[test]
    fn shapes_that_differ_are_named() {
        let dev = Cpu::default();
        let x = |n: usize| -> Tensor<(usize,), f32, _> { dev.zeros_like(&(n,)) };
        assert_eq!(panic_of(|| add(x(2), x(3))), "add: [2] and [3]");
    }
}
