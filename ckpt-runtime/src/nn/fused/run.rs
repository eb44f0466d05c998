//! Running operations one behind the other, forth and back.

use dfdx::{tensor::Gradients, tensor_ops::Device};

use super::{
    operation::Operation,
    step::{Buffer, Moments, Step, Steps},
};
use crate::{
    Real,
    kernels::{ActivateKernel, Extent},
};

/// A run of operations between two tensors, and what its backward pass needs of what lies inside.
///
/// Of each operation's input it keeps nothing that the backward pass does not read, and nothing
/// that an operation before it gives again for little.
pub(super) struct Run<E: Real, D: Device<E>> {
    steps: Vec<Box<dyn Step<E, D>>>,
    /// Of each step's input, and of the last one's output.
    extents: Vec<Extent>,
    /// Whether the backward pass reads or recomputes from a step's input.
    needed: Vec<bool>,
    /// Of each step but the first, its input, where it is kept.
    kept: Vec<Option<Buffer<E, D>>>,
}

impl<E: Real, D: Device<E>> Run<E, D> {
    /// # Panics
    /// Where an operation's input would not fit it.
    pub(super) fn new(steps: Steps<E, D>, input: Extent) -> Self {
        let steps = steps.list;
        let mut extents = vec![input];
        for step in &steps {
            let input = *extents.last().expect("the input's");
            let output = step.output(input);
            // Beyond this, sizes would wrap around where a kernel relies on them.
            let fits = output.elements() <= isize::MAX as usize / size_of::<E>();
            assert!(fits, "images of {:?} made of {:?} are more than memory holds", output.dims(), input.dims());
            extents.push(output);
        }
        let mut needed: Vec<bool> = steps.iter().map(|step| step.reads_input()).collect();
        for i in (1..steps.len()).rev() {
            needed[i - 1] |= needed[i] && steps[i - 1].cheap().is_some();
        }
        let kept = steps.iter().map(|_| None).collect();
        Self { steps, extents, needed, kept }
    }

    /// Whether it has no operation: its output is its input.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Sees to it that the input of step `i` is there, from what is kept before it.
    fn recompute(&mut self, device: &D, x: Option<&Buffer<E, D>>, i: usize) -> Result<(), D::Err> {
        if i == 0 || self.kept[i].is_some() {
            return Ok(());
        }
        self.recompute(device, x, i - 1)?;
        let before = if i == 1 { x } else { self.kept[i - 1].as_ref() };
        let step = self.steps[i - 1].cheap().expect("what is not kept is cheap");
        self.kept[i] = Some(step.again(device, self.extents[i - 1], before.expect("what is needed is kept"))?);
        Ok(())
    }
}

impl<E: Real, D: ActivateKernel<E>> Operation<E, D> for Run<E, D> {
    fn output(&self) -> Extent {
        *self.extents.last().expect("the input's at least")
    }

    fn needs_input(&self) -> bool {
        self.needed.first().is_some_and(|needed| *needed)
    }

    fn forward(&mut self, device: &D, x: &Buffer<E, D>, keep: bool) -> Result<Buffer<E, D>, D::Err> {
        if self.is_empty() {
            return device.copied(x);
        }
        let mut inside: Option<Buffer<E, D>> = None;
        for i in 0..self.steps.len() {
            let y = self.steps[i].forward(device, self.extents[i], inside.as_ref().unwrap_or(x))?;
            let input = inside.replace(y);
            if keep && i > 0 && self.needed[i] && self.steps[i - 1].cheap().is_none() {
                self.kept[i] = input;
            }
        }
        Ok(inside.expect("a run has an operation"))
    }

    fn backward(
        &mut self,
        device: &D,
        x: Option<&Buffer<E, D>>,
        dy: Buffer<E, D>,
        sum: Option<Buffer<E, D>>,
        grads: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err> {
        if self.is_empty() {
            return Ok(passed_on(device, dy, sum));
        }
        let mut gradient = dy;
        for i in (1..self.steps.len()).rev() {
            if self.steps[i].reads_input() {
                self.recompute(device, x, i)?;
            }
            let input = self.kept[i].take();
            gradient = self.steps[i].backward(device, self.extents[i], input.as_ref(), gradient, None, grads)?;
        }
        self.steps[0].backward(device, self.extents[0], x, gradient, sum, grads)
    }

    fn moments(&mut self) -> Vec<Moments> {
        self.steps.iter_mut().filter_map(|step| step.take_moments()).collect()
    }
}

/// A gradient that goes through nothing.
pub(super) fn passed_on<E: Real, D: ActivateKernel<E>>(
    device: &D,
    dy: Buffer<E, D>,
    sum: Option<Buffer<E, D>>,
) -> Buffer<E, D> {
    match sum {
        None => dy,
        Some(mut dx) => {
            device.add_to(&mut dx, &dy);
            dx
        }
    }
}
