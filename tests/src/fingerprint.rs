//! Training runs of models with millions of weights, written down as a hash a tensor.
//!
//! As in [`compare`](crate::compare) all bits count, but what is kept does not grow with the model.

use std::collections::BTreeMap;
use std::convert::Infallible;

use ckpt_runtime::Real;
use dfdx::prelude::*;

use crate::compare::descend;

/// What was seen in a run, by name.
pub type Seen = BTreeMap<String, u64>;

/// FNV-1a over the bits of elements, a word at a time.
pub fn hash<E: Real>(elements: Vec<E>) -> u64 {
    elements.into_iter().map(Real::bits).fold(0xcbf2_9ce4_8422_2325, |state: u64, word| {
        // The rotation carries high bits to low ones, which multiplication alone does not.
        (state ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    })
}

/// Three training steps, of which the second continues the first one's gradients and the third has
/// an update of the weights between its forward and its backward. Written down are losses, the
/// gradients of parameters and of the input, running statistics before each backward, and every
/// tensor of the model at the end.
///
/// # Panics
/// When a step fails.
pub fn train<E: Real, S: Shape, M: TensorCollection<E, Cpu>>(
    model: &mut M,
    x: &Tensor<S, E, Cpu>,
    loss: impl Fn(&mut M, Tensor<S, E, Cpu, OwnedTape<E, Cpu>>) -> Tensor<Rank0, E, Cpu, OwnedTape<E, Cpu>>,
) -> Seen
where
    Cpu: Device<E>,
{
    let mut seen = Seen::new();
    let first = loss(model, x.leaky_trace());
    seen.insert("first: loss".to_owned(), hash(first.as_vec()));
    visit(model, "first, before backward: ", What::Statistics, &mut seen);
    let gradients = first.backward();
    seen.insert("first: gradient of the input".to_owned(), hash(gradients.get(x).as_vec()));

    let second = loss(model, x.trace(gradients));
    seen.insert("second: loss".to_owned(), hash(second.as_vec()));
    visit(model, "second, before backward: ", What::Statistics, &mut seen);
    let gradients = second.backward();
    visit(model, "second: gradient of ", What::Gradients(&gradients), &mut seen);

    let third = loss(model, x.leaky_trace());
    // The recompute must see the weights that the forward saw.
    descend(model, &gradients, 0.05);
    let gradients = third.backward();
    visit(model, "third: gradient of ", What::Gradients(&gradients), &mut seen);
    visit(model, "at the end: ", What::All, &mut seen);
    seen
}

/// Panics, saying what differs, unless both runs saw the same.
#[track_caller]
pub fn assert_same(ours: &Seen, expected: &Seen, what: &str) {
    assert!(!expected.is_empty(), "{what}: nothing was seen");
    let differ: Vec<&String> =
        expected.iter().filter(|(name, hash)| ours.get(*name) != Some(hash)).map(|(n, _)| n).collect();
    assert!(
        differ.is_empty() && ours.len() == expected.len(),
        "{what}: {} of {} differ: {:?}",
        differ.len(),
        expected.len(),
        &differ[..differ.len().min(8)]
    );
}

/// What is written down of a model.
#[derive(Clone, Copy)]
enum What<'a, E: Real>
where
    Cpu: Device<E>,
{
    All,
    /// What is not trained.
    Statistics,
    /// Of what is.
    Gradients(&'a Gradients<E, Cpu>),
}

fn visit<E: Real, M: TensorCollection<E, Cpu>>(model: &M, prefix: &str, what: What<'_, E>, seen: &mut Seen)
where
    Cpu: Device<E>,
{
    let mut visitor = Visitor { prefix, what, seen };
    let walked = M::iter_tensors(&mut RecursiveWalker { m: (model, String::new()), f: &mut visitor });
    if let Err(never) = walked {
        match never {}
    }
}

struct Visitor<'a, E: Real>
where
    Cpu: Device<E>,
{
    prefix: &'a str,
    what: What<'a, E>,
    seen: &'a mut Seen,
}

impl<E: Real> TensorVisitor<E, Cpu> for Visitor<'_, E>
where
    Cpu: Device<E>,
{
    type Viewer = (ViewTensorRef, ViewTensorName);
    type Err = Infallible;
    type E2 = E;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, Cpu>,
        (tensor, name): (&Tensor<S, E, Cpu>, String),
    ) -> Result<Option<Tensor<S, E, Cpu>>, Infallible> {
        let values = match (self.what, options.do_gradient_update) {
            (What::All, _) | (What::Statistics, false) => tensor.as_vec(),
            (What::Gradients(gradients), true) => gradients.get(tensor).as_vec(),
            (What::Statistics, true) | (What::Gradients(_), false) => return Ok(None),
        };
        self.seen.insert(format!("{}{name}", self.prefix), hash(values));
        Ok(None)
    }
}
