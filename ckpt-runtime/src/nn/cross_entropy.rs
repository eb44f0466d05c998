//! Cross-entropy from logits and integer targets.

use dfdx::{
    shapes::{Dim, HasShape, Rank0, Shape},
    tensor::{PutTape, SplitTape, Tape, Tensor},
    tensor_ops::{Device, MeanTo, ReshapeTo, SelectTo},
};

use crate::{GradientHandle, Real, kernels::CrossEntropyKernel};

/// The mean negative log-likelihood of the target classes: `torch.nn.functional.cross_entropy` with
/// class indices, its default reduction, and the classes as the last dimension.
///
/// One pass over the logits, whose copy becomes their gradient; the logits are not kept.
///
/// # Shapes
/// `logits` is `[.., C]` behind up to three other dimensions, `targets` `[..]`, each below `C`.
///
/// # Panics
/// Where the shapes differ, a dimension is 0, or a target is not below `C`; and on a device error.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let logits = dev.tensor([[0.0, 0.0], [0.0, 0.0f32]]);
/// let loss = nn::cross_entropy(logits, dev.tensor([0, 1]));
/// assert!((loss.array() - 2f32.ln()).abs() < 1e-6);
/// ```
pub fn cross_entropy<S: Classes, E: Real, D: Device<E>, T: Tape<E, D>>(
    logits: Tensor<S, E, D, T>,
    targets: Tensor<S::Targets, usize, D>,
) -> Tensor<Rank0, E, D, T> {
    try_cross_entropy(logits, targets).expect("cross_entropy")
}

/// [`cross_entropy`], which see.
///
/// # Errors
/// The device's.
pub fn try_cross_entropy<S: Classes, E: Real, D: Device<E>, T: Tape<E, D>>(
    logits: Tensor<S, E, D, T>,
    targets: Tensor<S::Targets, usize, D>,
) -> Result<Tensor<Rank0, E, D, T>, D::Err> {
    let dims: Vec<usize> = logits.shape().concrete().into_iter().collect();
    let wanted: Vec<usize> = targets.shape().concrete().into_iter().collect();
    let (lead, classes) = (&dims[..dims.len() - 1], dims[dims.len() - 1]);
    assert!(wanted == lead, "cross_entropy: targets {wanted:?} do not fit logits {dims:?}");
    let rows: usize = lead.iter().product();
    assert!(rows > 0 && classes > 0, "cross_entropy cannot run on nothing: its logits are {dims:?}");
    let logits = logits.try_reshape_like(&(rows, classes))?.try_contiguous()?;
    // dfdx cannot reshape indices of an unnamed device.
    let targets = logits.device().try_tensor_from_vec(targets.as_vec(), (rows,))?;
    let Some(kernel) = <dyn CrossEntropyKernel<E, D>>::find() else {
        return composed(logits, targets);
    };
    let (logits, mut tape) = logits.split_tape();
    let (loss, kept) = kernel.forward(&logits, &targets)?;
    if T::OWNS_TAPE {
        let (gradient, of_logits) = (GradientHandle::of(&loss), logits.ghost());
        tape.add_backward_op(move |grads| {
            let dy = gradient.take(grads)?;
            kernel.backward(&kept, &dy, grads.get_or_alloc_mut(&of_logits)?);
            Ok(())
        });
    }
    Ok(loss.put_tape(tape))
}

/// The loss in dfdx's own operations, on any device.
fn composed<E: Real, D: Device<E>, T: Tape<E, D>>(
    logits: Tensor<(usize, usize), E, D, T>,
    targets: Tensor<(usize,), usize, D>,
) -> Result<Tensor<Rank0, E, D, T>, D::Err> {
    let log_probabilities = logits.try_log_softmax::<dfdx::shapes::Axis<1>>()?;
    log_probabilities.try_select::<(usize,), _>(targets)?.try_mean()?.try_negate()
}

/// A shape of one to four dimensions, the last of them classes.
pub trait Classes: Shape {
    /// The shape without the classes.
    type Targets: Shape;
}
impl<C: Dim> Classes for (C,) {
    type Targets = Rank0;
}
impl<A: Dim, C: Dim> Classes for (A, C) {
    type Targets = (A,);
}
impl<A: Dim, B: Dim, C: Dim> Classes for (A, B, C) {
    type Targets = (A, B);
}
impl<A: Dim, B: Dim, F: Dim, C: Dim> Classes for (A, B, F, C) {
    type Targets = (A, B, F);
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use super::{composed, cross_entropy};
    use crate::nn::checks::*;

    #[test]
    fn agrees_with_dfdx_operations_and_differences() {
        let dev = Cpu::seed_from_u64(1);
        let logits: Tensor<(usize, Const<37>), f64, _> = dev.sample_normal_like(&(20, Const));
        let targets = dev.tensor_from_vec((0..20).map(|i| (i * 11) % 37).collect(), (20,));
        let ours = cross_entropy(logits.leaky_trace(), targets.clone());
        let theirs = composed(logits.leaky_trace().reshape_like(&(20, 37)), targets.clone()).unwrap();
        assert!((ours.array() - theirs.array()).abs() < 1e-14);
        let (ours, theirs) = ((ours * 3.0).backward(), (theirs * 3.0).backward());
        near(&ours.get(&logits).as_vec(), &theirs.get(&logits).as_vec(), 1e-15);
        agrees_with_differences(&logits, |x| {
            cross_entropy(x.with_empty_tape(), targets.clone()) * cross_entropy(x, targets.clone())
        });
    }

    #[test]
    fn every_shape_and_large_logits() {
        let dev = Cpu::default();
        let one = cross_entropy(dev.tensor([1000.0f32, 0.0]), dev.tensor(1));
        assert_eq!(one.array(), 1000.0);
        let batched: Tensor<Rank3<2, 3, 5>, f64, _> = dev.sample_normal();
        let targets = dev.tensor([[0, 1, 2], [3, 4, 0]]);
        agrees_with_differences(&batched, |x| cross_entropy(x, targets.clone()));
        let turned: Tensor<Rank2<5, 3>, f64, _> = dev.sample_normal();
        agrees_with_differences(&turned, |x| cross_entropy(x.permute::<Rank2<3, 5>, _>(), dev.tensor([0, 4, 2])));
    }

    #[test]
    fn wrong_inputs_are_named() {
        let dev = Cpu::default();
        let logits = || dev.zeros_like(&(2, Const::<5>));
        let message = panic_of(|| cross_entropy::<_, f32, _, _>(logits(), dev.zeros_like(&(3,))));
        assert_eq!(message, "cross_entropy: targets [3] do not fit logits [2, 5]");
        let message = panic_of(|| cross_entropy::<_, f32, _, _>(logits(), dev.tensor_from_vec(vec![0, 5], (2,))));
        assert_eq!(message, "cross_entropy: target 5 with 5 classes");
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(3);
        let logits: Tensor<(usize, Const<96>), f32, _> = dev.sample_normal_like(&(1003, Const));
        let targets = dev.tensor_from_vec((0..1003).map(|i| i % 96).collect(), (1003,));
        same_bits_for_any_threads(|| {
            let loss = cross_entropy(logits.leaky_trace(), targets.clone());
            vec![loss.as_vec(), loss.backward().get(&logits).as_vec()]
        });
    }
}
