//! One training step, repeated and measured.

use std::convert::Infallible;
use std::time::Instant;

use ckpt_runtime::memory::{HeapMeter, MemoryMeter};
use dfdx::prelude::*;

use crate::peakmalloc::PeakMalloc;

/// Steps that are not counted.
pub const WARM_UP: usize = 2;

/// What the steps cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Median seconds of the counted steps.
    pub step_s: f64,
    /// The most bytes that a counted step added.
    pub peak_bytes: usize,
    /// The same by peakmalloc, where it is preloaded.
    pub peak_bytes_peakmalloc: Option<usize>,
    /// Of the first step.
    pub loss: f32,
    /// Of the first step's parameter gradients.
    pub grad_hash: u64,
}

/// Repeats `step`, which returns its loss and all gradients.
///
/// # Errors
/// The step's.
pub fn repeat<D: Device<f32>, M: TensorCollection<f32, D>>(
    model: &mut M,
    steps: usize,
    mut step: impl FnMut(&mut M) -> Result<(f32, Gradients<f32, D>), String>,
) -> Result<Cost, String> {
    let other = PeakMalloc::find();
    let mut seconds = Vec::new();
    let mut cost =
        Cost { step_s: 0.0, peak_bytes: 0, peak_bytes_peakmalloc: other.map(|_| 0), loss: 0.0, grad_hash: 0 };
    for index in 0..WARM_UP + steps {
        let heap = Peak::start(&HeapMeter);
        let peakmalloc = other.as_ref().map(Peak::start);
        let start = Instant::now();
        let (loss, gradients) = step(model)?;
        let elapsed = start.elapsed().as_secs_f64();
        let (heap, peakmalloc) = (heap.above(), peakmalloc.map(|p| p.above()));
        if index == 0 {
            cost.loss = loss;
            cost.grad_hash = hash(model, &gradients);
        }
        if index >= WARM_UP {
            seconds.push(elapsed);
            cost.peak_bytes = cost.peak_bytes.max(heap);
            cost.peak_bytes_peakmalloc = cost.peak_bytes_peakmalloc.max(peakmalloc);
        }
    }
    cost.step_s = median(&mut seconds);
    Ok(cost)
}

/// A meter's peak above where it stood.
#[derive(Debug)]
pub struct Peak<'a, M> {
    meter: &'a M,
    before: usize,
}

impl<'a, M: MemoryMeter> Peak<'a, M> {
    /// Starts the measurement: what is live now is not counted.
    pub fn start(meter: &'a M) -> Self {
        meter.reset_peak();
        let before = meter.live();
        Self { meter, before }
    }

    /// The most bytes since then, above what was live.
    pub fn above(&self) -> usize {
        self.meter.peak().saturating_sub(self.before)
    }
}

/// The middle value; of an even number the upper one.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Bytes of a model's trained tensors.
pub fn parameter_bytes<D: Device<f32>, M: TensorCollection<f32, D>>(model: &M) -> usize {
    model.num_trainable_params() * size_of::<f32>()
}

/// FNV-1a over the bits of every trained tensor's gradient, in the model's order.
pub fn hash<D: Device<f32>, M: TensorCollection<f32, D>>(model: &M, gradients: &Gradients<f32, D>) -> u64 {
    let mut hasher = Hasher { gradients, state: 0xcbf2_9ce4_8422_2325 };
    let walked = M::iter_tensors(&mut RecursiveWalker { m: model, f: &mut hasher });
    match walked {
        Ok(_) => hasher.state,
        Err(never) => match never {},
    }
}

struct Hasher<'a, D: Device<f32>> {
    gradients: &'a Gradients<f32, D>,
    state: u64,
}

impl<D: Device<f32>> TensorVisitor<f32, D> for Hasher<'_, D> {
    type Viewer = ViewTensorRef;
    type Err = Infallible;
    type E2 = f32;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, f32, D>,
        tensor: &Tensor<S, f32, D>,
    ) -> Result<Option<Tensor<S, f32, D>>, Infallible> {
        if options.do_gradient_update {
            for value in self.gradients.get(tensor).as_vec() {
                for byte in value.to_bits().to_le_bytes() {
                    self.state = (self.state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
            }
        }
        Ok(None)
    }
}
