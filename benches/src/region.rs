//! The fixed cost of a region: what it adds to the two forwards and the backward of its inside.

use std::time::Instant;

use ckpt_runtime::prelude::*;
use dfdx::nn::modules;
use serde_json::{Value, json};

use crate::step::median;

/// Regions in a row: their time divided by their number is one's.
const IN_A_ROW: usize = 100;
const REPEATS: usize = 500;

type Dev = Cpu;
type X<T> = Tensor<Rank1<4>, f32, Dev, T>;
type Taped = OwnedTape<f32, Dev>;

type Pair = (modules::Linear<4, 4, f32, Dev>, modules::Linear<4, 4, f32, Dev>);
type Sixteen = ((Pair, Pair), (Pair, Pair));

/// A scaling of its input that owns parameters and does not read them: what a region around it
/// costs beyond the scaling is bookkeeping.
#[derive(Clone, Debug)]
struct Scale<P>(P);

impl<P: TensorCollection<f32, Dev>> TensorCollection<f32, Dev> for Scale<P> {
    type To<E2: Dtype, D2: Device<E2>> = Scale<P::To<E2, D2>>;

    fn iter_tensors<V: ModuleVisitor<Self, f32, Dev>>(
        visitor: &mut V,
    ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(Self::module("parameters", |s| &s.0, |s| &mut s.0), Scale)
    }
}

impl<P, T: Tape<f32, Dev>> Module<X<T>> for Scale<P> {
    type Output = X<T>;
    type Error = <Dev as HasErr>::Err;

    fn try_forward(&self, x: X<T>) -> Result<X<T>, Self::Error> {
        x.try_mul(1.01)
    }
}

impl<P> NonMutableModule for Scale<P> {}
impl<P> ReplaySafe for Scale<P> {}
impl<P> Stateless for Scale<P> {}

/// A region's microseconds without parameters and with 16 parameter tensors.
///
/// # Errors
/// Never: the signature is that of the other measurements.
pub fn measure() -> Result<Value, String> {
    let dev = Dev::default();
    let none = overhead(&dev, Scale(()));
    let sixteen = overhead(&dev, Scale(Sixteen::build(&dev)));
    Ok(json!({ "region_us": none, "region_us_16": sixteen }))
}

/// The median over many runs of what one region adds, in microseconds: a step through regions,
/// less the same step without them, less the second forward.
fn overhead<P>(dev: &Dev, layer: Scale<P>) -> f64
where
    P: TensorCollection<f32, Dev> + Clone + 'static,
{
    let x: X<NoneTape> = dev.ones();
    let region = Checkpoint(layer.clone());
    let mut extra: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let with = step(&layer, &x, |x| region.forward(x));
            let without = step(&layer, &x, |x| layer.forward(x));
            let forward = first_forward(&x, |x| layer.forward(x));
            (with - without - forward) * 1e6 / IN_A_ROW as f64
        })
        .collect();
    (median(&mut extra) * 100.0).round() / 100.0
}

/// Seconds of a forward and a backward through the layer many times in a row.
fn step<P: TensorCollection<f32, Dev>>(layer: &Scale<P>, x: &X<NoneTape>, call: impl Fn(X<Taped>) -> X<Taped>) -> f64 {
    let gradients = layer.alloc_grads();
    let start = Instant::now();
    let y = in_a_row(x.trace(gradients), call);
    let gradients = y.sum().backward();
    let elapsed = start.elapsed().as_secs_f64();
    drop(gradients);
    elapsed
}

/// Seconds of the forward alone, the recording of its operations included and their end not.
fn first_forward(x: &X<NoneTape>, call: impl Fn(X<Taped>) -> X<Taped>) -> f64 {
    let x = x.leaky_trace();
    let start = Instant::now();
    let y = in_a_row(x, call);
    let elapsed = start.elapsed().as_secs_f64();
    drop(y);
    elapsed
}

fn in_a_row(mut x: X<Taped>, call: impl Fn(X<Taped>) -> X<Taped>) -> X<Taped> {
    for _ in 0..IN_A_ROW {
        x = call(x);
    }
    x
}
