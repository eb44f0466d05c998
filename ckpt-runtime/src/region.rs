//! The region: the one primitive that everything lowers to.
//!
//! A region is a piece of a forward, `outputs = body(parameters, inputs)`. Run in the mode
//! `Checkpoint`, its first pass records onto a tape that is dropped at once, with every activation
//! on it, and leaves one operation on the tape around it. That operation owns the inputs and clones
//! of the modules (both share their data), and in the backward pass it runs the body again, then
//! its gradient operations, on a gradient map of its own. `Keep` does the same but keeps the tape
//! instead of running the body again: what it saves is dfdx's habit of holding every temporary
//! gradient until the whole backward pass ends.
//!
//! After Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016), and
//! `torch.utils.checkpoint`.
//!
//! # Why gradients are equal to the bit
//! The same operations run in the same order on the same values; sums into a shared buffer go on in
//! that buffer (see [`gradients`](crate::gradients)). The body is a `fn` pointer: it captures
//! nothing, so that no tensor can slip past the edges.

use dfdx::{
    shapes::Rank0,
    tensor::{Gradients, Merge, OwnedTape, PutTape, SplitTape, Tape, Tensor, Trace},
    tensor_ops::{Backward, Device},
};

use crate::{
    Boundary, Mode, Real, SharedTape,
    context::{Context, Site},
    failure::{self, Cause, Pass},
    gradients::GradientHandle,
    parameters::{Lend, Parameters},
    policy,
    replay::Replay,
};

/// What a region runs: its tape, its parameters and its inputs, to its outputs.
///
/// `W` is what the region owns of its parameters.
pub type Body<E, D, W, I, O> = for<'a> fn(&SharedTape<E, D>, <W as Lend<E, D>>::Refs<'a>, I) -> Result<O, Err<D>>;

type Err<D> = <D as dfdx::tensor::HasErr>::Err;

/// Runs `body` as a region of the forward that records on `tape`.
///
/// # Errors
/// The body's error, or the device's; [`last_failure`](crate::last_failure) names the region. The
/// recompute's errors come out of `try_backward`.
pub fn region<E: Real, D: Device<E>, P: Parameters<E, D>, I: Boundary<E, D>, O: Boundary<E, D>>(
    site: &'static Site,
    tape: &SharedTape<E, D>,
    parameters: P,
    inputs: I,
    body: Body<E, D, P::Owned, I, O>,
) -> Result<O, Err<D>> {
    run(Context::current().inside(site, None), site, None, tape, parameters, inputs, body)
}

/// As [`region`], in a context of its own (a segment of a run of layers) and, where `least` is
/// given, in no stronger a mode than that.
pub(crate) fn run<E: Real, D: Device<E>, P: Parameters<E, D>, I: Boundary<E, D>, O: Boundary<E, D>>(
    context: Context,
    site: &'static Site,
    least: Option<Mode>,
    tape: &SharedTape<E, D>,
    mut parameters: P,
    inputs: I,
    body: Body<E, D, P::Owned, I, O>,
) -> Result<O, Err<D>> {
    let _entered = context.enter();
    // What is recorded on a tape that dfdx made by default goes with the outputs.
    let tape = &tape.rooted();
    let mode = match (policy::mode(site, &context), least) {
        (Mode::Checkpoint, Some(Mode::Keep)) => Mode::Keep,
        (mode, _) => mode,
    };
    let before = failure::noted();
    let failed = |error: &Err<D>| {
        failure::take_pending();
        failure::note(&context, Pass::First, Cause::Device(error.to_string()), before);
    };
    if mode == Mode::Plain {
        return body(tape, parameters.refs(), inputs).inspect_err(failed);
    }

    let stored = inputs.store(tape);
    let mut input_gradients = Vec::new();
    I::gradients(&stored, &mut input_gradients);
    let input_device = I::device(&stored);
    // A kept region holds no input: what the body consumes, it may overwrite.
    let (given, stored) = match mode {
        Mode::Checkpoint => (stored.clone(), Some(stored)),
        _ => (stored, None),
    };
    // A module's state may change in the first pass; the recompute starts from the state before.
    let repeated = stored.map(|inputs| (inputs, parameters.own()));
    let inner = SharedTape::open();
    let replay = Replay::record();
    let outputs = body(&inner, parameters.refs(), I::load(given, &inner)).inspect_err(failed)?;
    let seeds = replay.finish();
    let outputs = outputs.store(&inner);
    let kept = inner.close();
    let Some(device) = O::device(&outputs).or(input_device) else {
        // No tensor in or out: there is nothing to send gradients through.
        failure::take_pending();
        return Ok(O::load(outputs, tape));
    };
    if let Some(cause) = failure::take_pending() {
        return Err(failure::refuse(&device, &context, Pass::First, cause));
    }

    let mut edges = Edges { inputs: input_gradients, outputs: Vec::new(), device, context: context.clone() };
    O::gradients(&outputs, &mut edges.outputs);
    let mut outer = tape.clone();
    match repeated {
        Some((inputs, owned)) => {
            drop(kept);
            let first = policy::verify(site, &context).map(|tolerance| (outputs.clone(), tolerance));
            let recompute = Recompute::<E, D, P::Owned, I, O> { body, inputs, seeds, first };
            outer.add_backward_op(move |grads| recompute.backward(edges, owned, grads));
        }
        None => {
            let owned = parameters.own();
            outer.add_backward_op(move |grads| {
                let taken = edges.begin(&owned, grads)?;
                edges.finish(&owned, grads, taken, kept, &edges.outputs)
            });
        }
    }
    // Last: an `OwnedTape` takes what is on the tape by now.
    Ok(O::load(outputs, tape))
}

/// What a region keeps to run its body again.
struct Recompute<E: Real, D: Device<E>, W: Lend<E, D>, I: Boundary<E, D>, O: Boundary<E, D>> {
    body: Body<E, D, W, I, O>,
    inputs: I::Stored,
    seeds: Vec<u64>,
    /// The first pass's output and the tolerance, for `verify`.
    first: Option<(O::Stored, f64)>,
}

impl<E: Real, D: Device<E>, W: Lend<E, D>, I: Boundary<E, D>, O: Boundary<E, D>> Recompute<E, D, W, I, O> {
    fn backward(self, edges: Edges<E, D>, mut owned: W, grads: &mut Gradients<E, D>) -> Result<(), Err<D>> {
        let before = failure::noted();
        let taken = edges.begin(&owned, grads)?;
        let _entered = edges.context.enter();
        let inner = SharedTape::open();
        let replay = Replay::play(self.seeds);
        let outputs = (self.body)(&inner, owned.lend(), I::load(self.inputs, &inner)).inspect_err(|error| {
            failure::take_pending();
            failure::note(&edges.context, Pass::Recompute, Cause::Device(error.to_string()), before);
        })?;
        replay.finish();
        let outputs = outputs.store(&inner);
        let mut seeds = Vec::new();
        O::gradients(&outputs, &mut seeds);
        let differs = self.first.and_then(|(first, tolerance)| O::compare(&first, &outputs, tolerance));
        drop(outputs);
        let cause = failure::take_pending().or(differs.map(Cause::Differs)).or_else(|| edges.mismatch(&seeds));
        if let Some(cause) = cause {
            return Err(failure::refuse(&edges.device, &edges.context, Pass::Recompute, cause));
        }
        edges.finish(&owned, grads, taken, inner.close(), &seeds)
    }
}

/// The edges of a region in its backward pass.
struct Edges<E: Real, D: Device<E>> {
    inputs: Vec<GradientHandle<E, D>>,
    outputs: Vec<GradientHandle<E, D>>,
    device: D,
    context: Context,
}

/// What was moved out of the outer gradient map.
struct Taken<E: Real, D: Device<E>> {
    /// The outputs' gradients.
    outputs: Vec<crate::gradients::Buffer<E, D>>,
    /// The region's own map, holding those of its parameters and inputs.
    inner: Gradients<E, D>,
}

impl<E: Real, D: Device<E>> Edges<E, D> {
    /// Moves the gradients of outputs, parameters and inputs out of the outer map.
    fn begin(&self, parameters: &impl Lend<E, D>, outer: &mut Gradients<E, D>) -> Result<Taken<E, D>, Err<D>> {
        // Where a region hands an input through, the two are one buffer, taken once, as the output's.
        let outputs = self.outputs.iter().map(|h| h.take(outer)).collect::<Result<_, _>>()?;
        let mut inner = Gradients::leaky();
        parameters.migrate(outer, &mut inner)?;
        self.inputs.iter().try_for_each(|h| h.migrate(outer, &mut inner))?;
        Ok(Taken { outputs, inner })
    }

    /// What is wrong where the recompute's outputs are not as many, or not as large, as the first pass's.
    fn mismatch(&self, again: &[GradientHandle<E, D>]) -> Option<Cause> {
        let elements = GradientHandle::elements;
        let same = self.outputs.iter().map(elements).eq(again.iter().map(elements));
        (!same).then(|| Cause::Outputs {
            first: self.outputs.iter().map(elements).collect(),
            again: again.iter().map(elements).collect(),
        })
    }

    /// Runs the region's gradient operations and moves the gradients back.
    fn finish(
        &self,
        parameters: &impl Lend<E, D>,
        outer: &mut Gradients<E, D>,
        taken: Taken<E, D>,
        tape: OwnedTape<E, D>,
        seeds: &[GradientHandle<E, D>],
    ) -> Result<(), Err<D>> {
        let _entered = self.context.enter();
        let before = failure::noted();
        let mut start = taken.inner;
        for (handle, buffer) in seeds.iter().zip(taken.outputs) {
            handle.put(&mut start, buffer)?;
        }
        // A tape can only be run by the backward of a scalar: a zero, on which nothing depends.
        let zero: Tensor<Rank0, E, D> = self.device.try_zeros()?;
        let (zero, first) = zero.traced(start).split_tape();
        let mut inner = zero.put_tape(first.merge(tape)).try_backward().inspect_err(|error| {
            failure::note(&self.context, Pass::Backward, Cause::Device(error.to_string()), before);
        })?;
        parameters.migrate(&mut inner, outer)?;
        self.inputs.iter().try_for_each(|h| h.migrate(&mut inner, outer))
    }
}
