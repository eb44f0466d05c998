//! The fixed cost of a region: what it adds to the two forwards and the backward of its inside.

use std::time::Instant;

use ckpt_runtime::Checkpoint;
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;
use serde_json::{Value, json};

use crate::step::median;

/// Layers in a row, each a region of its own: their time divided by their number is one's.
const IN_A_ROW: usize = 200;
const REPEATS: usize = 400;

type Scalar<T> = Tensor<Rank1<1>, f32, Cpu, T>;
type Taped = OwnedTape<f32, Cpu>;
/// 16 tensors.
type Sixteen = (Four, Four);
type Four = (Pair, Pair);
type Pair = (Linear<1, 1, f32, Cpu>, Linear<1, 1, f32, Cpu>);

/// Doubles its input, and owns parameters that it does not read: what is left of a region's time
/// without its inside is their bookkeeping.
#[derive(Clone, Debug)]
struct Bystander<P> {
    parameters: P,
}

impl<P: TensorCollection<f32, Cpu, To<f32, Cpu> = P>> TensorCollection<f32, Cpu> for Bystander<P> {
    type To<E2: Dtype, D2: Device<E2>> = Bystander<P::To<E2, D2>>;

    fn iter_tensors<V: ModuleVisitor<Self, f32, Cpu>>(
        visitor: &mut V,
    ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(
            Self::module("parameters", |s| &s.parameters, |s| &mut s.parameters),
            |parameters| Bystander { parameters },
        )
    }
}
