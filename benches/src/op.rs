//! One layer alone: seconds of its forward and its backward, and the bytes that both take.
//!
//! The output's gradient is there before the clock of the backward starts, as in a chain the layer
//! behind would have made it; its bytes count. The output itself is gone by then, unless the layer
//! keeps it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use ckpt_runtime::{
    memory::HeapMeter,
    nn::{self, *},
};
use dfdx::prelude::{
    BuildOnDevice, Const, Cpu, Module, ModuleMut, OwnedTape, PutTape, Rank0, SampleTensor, Shape, SplitTape, Tape,
    Tensor, TensorCollection, TensorFromVec, Trace, ZerosTensor,
};
use dfdx::shapes::HasShape;
use dfdx::tensor::CpuError;
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use crate::args::OpArgs;
use crate::peakmalloc::PeakMalloc;
use crate::report::{failed, system};
use crate::step::{self, Peak, WARM_UP, median};

type Dev = Cpu;
type Bare<S> = Tensor<S, f32, Dev>;
type Taped<S> = Tensor<S, f32, Dev, OwnedTape<f32, Dev>>;

const SEED: u64 = 0;
/// Elements of the activation functions' inputs.
const ELEMENTS: (usize, usize) = (2048, 1024);
/// Rows of the layers of features: 8 sequences of 256.
const ROWS: usize = 2048;
const VOCAB: usize = 96;

/// A measurement by its name. Shapes are those of the models' large layers.
type Case = (&'static str, fn(&OpArgs) -> Result<Value, String>);

const CASES: &[Case] = &[
    ("linear", |a| layer::<Linear<256, 1024>, _, _>(a, (ROWS, Const::<256>))),
    ("linear-gelu", |a| layer::<LinearAct<256, 1024, Gelu>, _, _>(a, (ROWS, Const::<256>))),
    ("gelu-linear", |a| layer::<ActLinear<Gelu, 1024, 256>, _, _>(a, (ROWS, Const::<1024>))),
    ("layer-norm", |a| layer::<LayerNorm<256>, _, _>(a, (ROWS, Const::<256>))),
    ("rms-norm", |a| layer::<RmsNorm<256>, _, _>(a, (ROWS, Const::<256>))),
    ("embedding", embedding),
    ("attention", |a| attention(a, 8, 256)),
    ("attention-1024", |a| attention(a, 8, 1024)),
    ("multi-head-attention", |a| layer::<MultiHeadAttention<256, 4>, _, _>(a, (8, 256, Const::<256>))),
    ("feed-forward", |a| layer::<FeedForward<256, 1024>, _, _>(a, (ROWS, Const::<256>))),
    ("pre-norm", pre_norm_of_rows),
    ("gelu", |a| layer::<Gelu, _, _>(a, ELEMENTS)),
    ("relu", |a| layer::<Relu, _, _>(a, ELEMENTS)),
    ("silu", |a| layer::<Silu, _, _>(a, ELEMENTS)),
    ("dropout", |a| layer::<DropoutOneIn<10>, _, _>(a, ELEMENTS)),
    ("add", |a| function(a, ELEMENTS, try_add)),
    ("cross-entropy", cross_entropy_of_rows),
    ("conv3x3-64", |a| images::<Conv2d<64, 64, 3, 1, 1>, 64, _>(a, 32, 32)),
    ("conv3x3-128", |a| images::<Conv2d<128, 128, 3, 1, 1>, 128, _>(a, 32, 16)),
    ("conv3x3-256", |a| images::<Conv2d<256, 256, 3, 1, 1>, 256, _>(a, 32, 8)),
    ("conv3x3-512", |a| images::<Conv2d<512, 512, 3, 1, 1>, 512, _>(a, 32, 4)),
    ("conv3x3-16", |a| images::<Conv2d<16, 16, 3, 1, 1>, 16, _>(a, 8, 64)),
    ("conv3x3-exact", |a| images::<Exact<Conv2d<64, 64, 3, 1, 1>>, 64, _>(a, 32, 32)),
    ("conv3x3-stride2", |a| images::<Conv2d<64, 128, 3, 2, 1>, 64, _>(a, 32, 32)),
    ("conv3x3-depthwise", |a| images::<Conv2d<64, 64, 3, 1, 1, 1, 64>, 64, _>(a, 32, 32)),
    ("conv1x1", |a| images::<Conv2d<256, 64, 1>, 256, _>(a, 16, 16)),
    ("conv7x7-stem", |a| images::<Conv2d<3, 64, 7, 2, 3>, 3, _>(a, 16, 64)),
    ("conv-transpose2x2", |a| images::<ConvTranspose2d<64, 32, 2, 2>, 64, _>(a, 8, 32)),
    ("batch-norm", |a| images::<BatchNorm2d<64>, 64, _>(a, 32, 32)),
    ("batch-norm-relu", |a| images::<BatchNorm2dAct<64, Relu>, 64, _>(a, 32, 32)),
    ("group-norm", |a| images::<GroupNorm<8, 64>, 64, _>(a, 32, 32)),
    ("max-pool", |a| images::<MaxPool2d<2>, 64, _>(a, 32, 32)),
    ("max-pool-3x3", |a| images::<MaxPool2d<3, 2, 1>, 64, _>(a, 32, 32)),
    ("avg-pool", |a| images::<AvgPool2d<2>, 64, _>(a, 32, 32)),
    ("global-avg-pool", |a| images::<GlobalAvgPool2d, 64, _>(a, 32, 32)),
    ("upsample-nearest", |a| images::<UpsampleNearest2d<2>, 64, _>(a, 32, 16)),
    ("upsample-bilinear", |a| images::<UpsampleBilinear2d<2>, 64, _>(a, 32, 16)),
    ("concat", |a| function(a, (8, Const::<32>, 64, 64), try_concat_channels)),
    ("up-block", up_block),
    ("conv-norm-relu", |a| images::<Fused<(Conv2d<64, 64, 3, 1, 1>, BatchNorm2d<64>, Relu)>, 64, _>(a, 32, 32)),
    ("residual-block", |a| {
        type F = (Conv2d<64, 64, 3, 1, 1>, BatchNorm2d<64>, Relu, Conv2d<64, 64, 3, 1, 1>, BatchNorm2d<64>);
        images::<ResidualAct<F>, 64, _>(a, 32, 32)
    }),
];

/// The names that [`measure`] knows.
pub fn names() -> String {
    CASES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// Measures the layer of a name.
///
/// # Errors
/// A message with the known names, where it has none; the device's.
pub fn measure(args: &OpArgs) -> Result<Value, String> {
    match CASES.iter().find(|(name, _)| *name == args.name) {
        Some((_, run)) => run(args),
        None => Err(format!("unknown layer `{}`; the known ones are {}", args.name, names())),
    }
}

/// A layer on a normally distributed input.
fn layer<B, S: Shape, R: Shape>(args: &OpArgs, shape: S) -> Result<Value, String>
where
    B: BuildOnDevice<Dev, f32>,
    B::Built: ModuleMut<Taped<S>, Output = Taped<R>, Error = CpuError> + TensorCollection<f32, Dev>,
{
    let dev = Dev::seed_from_u64(SEED);
    let mut model = B::build_on_device(&dev);
    let x: Bare<S> = dev.sample_normal_like(&shape);
    run(args, &mut model, &dims(&shape), |model| model.try_forward_mut(x.leaky_trace()))
}

/// A layer on square images.
fn images<B, const C: usize, R: Shape>(args: &OpArgs, batch: usize, side: usize) -> Result<Value, String>
where
    B: BuildOnDevice<Dev, f32>,
    B::Built: ModuleMut<Taped<(usize, Const<C>, usize, usize)>, Output = Taped<R>, Error = CpuError>
        + TensorCollection<f32, Dev>,
{
    layer::<B, _, R>(args, (batch, Const::<C>, side, side))
}

/// A function of two tensors of one shape.
fn function<S: Shape, R: Shape>(
    args: &OpArgs,
    shape: S,
    call: impl Fn(Taped<S>, Bare<S>) -> Result<Taped<R>, CpuError>,
) -> Result<Value, String> {
    let dev = Dev::seed_from_u64(SEED);
    let x: Bare<S> = dev.sample_normal_like(&shape);
    let y: Bare<S> = dev.sample_normal_like(&shape);
    run(args, &mut (), &dims(&shape), |()| call(x.leaky_trace(), y.clone()))
}

/// Causal attention over 4 heads of 64.
fn attention(args: &OpArgs, batch: usize, sequence: usize) -> Result<Value, String> {
    let dev = Dev::seed_from_u64(SEED);
    let shape = (batch, sequence, Const::<256>);
    let [q, k, v]: [Bare<_>; 3] = std::array::from_fn(|_| dev.sample_normal_like(&shape));
    let causal = Attention::<4, true>;
    run(args, &mut (), &dims(&shape), |()| causal.try_forward((q.leaky_trace(), k.clone(), v.clone())))
}

/// The wide half of a Transformer's block.
fn pre_norm_of_rows(args: &OpArgs) -> Result<Value, String> {
    let dev = Dev::seed_from_u64(SEED);
    let shape = (ROWS, Const::<256>);
    let mut model = <(LayerNorm<256>, FeedForward<256, 1024>) as BuildOnDevice<Dev, f32>>::build_on_device(&dev);
    let x: Bare<_> = dev.sample_normal_like(&shape);
    run(args, &mut model, &dims(&shape), |model| nn::try_pre_norm(x.leaky_trace(), &model.0, &model.1, 0.0))
}

/// The highest level of a U-Net's decoder.
fn up_block(args: &OpArgs) -> Result<Value, String> {
    type Layers = (UnbiasedConv2d<48, 16, 3, 1, 1>, BatchNorm2d<16>, Relu);
    let dev = Dev::seed_from_u64(SEED);
    let mut model = <UpBlock<Layers> as BuildOnDevice<Dev, f32>>::build_on_device(&dev);
    let below: Bare<_> = dev.sample_normal_like(&(8, Const::<32>, 32, 32));
    let skip: Bare<_> = dev.sample_normal_like(&(8, Const::<16>, 64, 64));
    run(args, &mut model, &dims(skip.shape()), |model| model.try_forward_mut((below.leaky_trace(), skip.clone())))
}

fn embedding(args: &OpArgs) -> Result<Value, String> {
    let dev = Dev::seed_from_u64(SEED);
    let mut model = <Embedding<VOCAB, 256> as BuildOnDevice<Dev, f32>>::build_on_device(&dev);
    let tokens = indices(&dev);
    run(args, &mut model, &[ROWS], |model| model.try_forward_mut(tokens.leaky_trace()))
}

fn cross_entropy_of_rows(args: &OpArgs) -> Result<Value, String> {
    let dev = Dev::seed_from_u64(SEED);
    let shape = (ROWS, Const::<VOCAB>);
    let logits: Bare<_> = dev.sample_normal_like(&shape);
    let targets = indices(&dev);
    run(args, &mut (), &dims(&shape), |()| nn::try_cross_entropy(logits.leaky_trace(), targets.clone()))
}

fn indices(dev: &Dev) -> Tensor<(usize,), usize, Dev> {
    let mut rng = StdRng::seed_from_u64(SEED);
    dev.tensor_from_vec((0..ROWS).map(|_| rng.gen_range(0..VOCAB)).collect(), (ROWS,))
}

fn dims(shape: &impl Shape) -> Vec<usize> {
    shape.concrete().into_iter().collect()
}

/// Repeats a layer's forward and backward.
fn run<M: TensorCollection<f32, Dev>, R: Shape>(
    args: &OpArgs,
    model: &mut M,
    input: &[usize],
    mut forward: impl FnMut(&mut M) -> Result<Taped<R>, CpuError>,
) -> Result<Value, String> {
    let other = PeakMalloc::find();
    let (mut forwards, mut backwards, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    let (mut peak, mut other_peak) = (0, other.map(|_| 0));
    let (mut loss, mut grad_hash) = (0.0, 0);
    let noise = gradient_noise(forward(model).map_err(failed)?.shape().num_elements());
    for index in 0..WARM_UP + args.steps {
        let heap = Peak::start(&HeapMeter);
        let peakmalloc = other.as_ref().map(Peak::start);
        let start = Instant::now();
        let y = forward(model).map_err(failed)?;
        let forward_s = start.elapsed().as_secs_f64();
        if index == 0 {
            loss = y.as_vec().iter().map(|v| f64::from(*v)).sum::<f64>() / noise.len() as f64;
        }
        let (gradients, backward_s) = backward(y, Rc::clone(&noise)).map_err(failed)?;
        let (heap, peakmalloc) = (heap.above(), peakmalloc.map(|p| p.above()));
        if index == 0 {
            grad_hash = step::hash(model, &gradients);
        }
        if index >= WARM_UP {
            forwards.push(forward_s);
            backwards.push(backward_s);
            steps.push(forward_s + backward_s);
            peak = peak.max(heap);
            other_peak = other_peak.max(peakmalloc);
        }
    }
    let milliseconds = |seconds: &mut Vec<f64>| (median(seconds) * 1e6).round() / 1e3;
    let mut report = json!({
        "system": system(),
        "op": args.name,
        "model": args.name,
        "mode": "plain",
        "input": input,
        "batch": input[0],
        "threads": args.threads,
        "forward_ms": milliseconds(&mut forwards),
        "backward_ms": milliseconds(&mut backwards),
        "step_s": (median(&mut steps) * 1e6).round() / 1e6,
        "peak_bytes": peak,
        "params_bytes": step::parameter_bytes(model),
        "loss": loss,
        "grad_hash": format!("{grad_hash:016x}"),
    });
    if let Some(bytes) = other_peak {
        report["peak_bytes_peakmalloc"] = bytes.into();
    }
    Ok(report)
}

/// Gradients for an output: unequal, so that none of what a layer subtracts vanishes.
fn gradient_noise(len: usize) -> Rc<[f32]> {
    let mut rng = StdRng::seed_from_u64(SEED);
    (0..len).map(|_| rng.gen_range(-1.0..1.0)).collect()
}

/// The backward pass of `y` from the gradient `dy`, and its seconds.
fn backward<R: Shape>(y: Taped<R>, dy: Rc<[f32]>) -> Result<(dfdx::tensor::Gradients<f32, Dev>, f64), CpuError> {
    let dev = y.device().clone();
    let (y, mut tape) = y.split_tape();
    let ghost = y.ghost();
    drop(y);
    let ready = Rc::new(Cell::new(Instant::now()));
    let clock = Rc::clone(&ready);
    // The newest operation of a tape runs first.
    tape.add_backward_op(move |gradients| {
        gradients.get_or_alloc_mut(&ghost)?.copy_from_slice(&dy);
        clock.set(Instant::now());
        Ok(())
    });
    let zero: Bare<Rank0> = dev.try_zeros()?;
    let gradients = dfdx::tensor_ops::Backward::try_backward(zero.put_tape(tape))?;
    Ok((gradients, ready.get().elapsed().as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(name: &str) -> OpArgs {
        OpArgs { name: name.to_owned(), steps: 1, threads: 1 }
    }

    #[test]
    fn a_layer_is_measured_both_ways() {
        let report = measure(&args("layer-norm")).unwrap();
        assert_eq!((&report["op"], &report["input"]), (&json!("layer-norm"), &json!([2048, 256])));
        assert_eq!(report["params_bytes"], json!(2 * 256 * 4));
        for key in ["forward_ms", "backward_ms", "step_s"] {
            assert!(report[key].as_f64().unwrap() > 0.0, "{key} in {report}");
        }
        // The gradient seeds reach the parameters.
        assert_ne!(report["grad_hash"], measure(&args("rms-norm")).unwrap()["grad_hash"]);
    }

    #[test]
    fn an_unknown_layer_lists_the_known_ones() {
        let message = measure(&args("list")).unwrap_err();
        assert!(message.contains("`list`") && message.contains("linear, linear-gelu"), "{message}");
    }

    #[test]
    fn names_are_told_apart() {
        let mut names: Vec<&str> = CASES.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CASES.len());
    }
}
