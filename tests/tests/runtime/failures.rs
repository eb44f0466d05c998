//! Regions that fail: the error comes out, its region is named, and the thread is clean afterwards.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use ckpt_runtime::{
    __private::{call_mut, enter, field_mut, is_first_pass, leave, lend, live},
    Cause, Checkpoint, Mode, Pass, Plain, Policy, SharedTape, Site, last_failure, nn, region, with_policy,
};
use dfdx::{
    prelude::*,
    tensor::{CpuError, PutTape},
};
use tests::{
    compare::{Trains, noise},
    layers::{Does, Probe},
};

type E = f64;
type Rows = Rank2<3, 4>;
type Bare = Tensor<Rows, E, Cpu>;
type Tape = SharedTape<E, Cpu>;
type Shared = Tensor<Rows, E, Cpu, Tape>;

static A: Site = Site::new("Model.a");
static B: Site = Site::new("Block.b");
static KEPT: Site = Site::new("Model.kept").keep();
static PROBE: Site = Site::new("Probe.only");

fn rows(dev: &Cpu) -> Bare {
    noise(dev, Rows::default(), -1.0, 1.0)
}

fn x() -> Bare {
    rows(&Cpu::seed_from_u64(5))
}

/// What a failure must leave behind: nothing. A path, a policy, a replay frame or a pending failure
/// would show in one of these.
#[track_caller]
fn assert_thread_is_clean() {
    assert!(is_first_pass(), "a replay frame was left");

    type Model = (Linear<4, 4>, nn::DropoutOneIn<3>, BatchNorm1D<4>);
    let plain = <Model as Trains<E, _>>::run(1, None, rows);
    plain.assert_same(&<Checkpoint<Model> as Trains<E, _>>::run(1, None, rows), "after a failure");

    // In no policy's force, a region recomputes.
    let mut twice = Probe::default();
    field_mut(&PROBE, &mut twice, x().leaky_trace()).unwrap().sum().backward();
    assert_eq!(twice.calls(), 2, "a policy was left");

    let mut fails = Probe::after(0, Does::Fail);
    field_mut(&PROBE, &mut fails, x().leaky_trace()).map(drop).unwrap_err();
    assert_eq!(last_failure().unwrap().region, "Probe.only", "a path was left");
}

fn failed(region: &str, pass: Pass) {
    let failure = last_failure().unwrap();
    assert_eq!((failure.region.as_str(), failure.pass), (region, pass), "{failure}");
    assert_eq!(failure.cause, Cause::Device(CpuError::OutOfMemory.to_string()));
}

/// Two regions, one in the other, around a probe between two layers.
#[derive(Clone)]
struct Nested(modules::Linear<4, 4, E, Cpu>, Probe, modules::Linear<4, 4, E, Cpu>);

impl Nested {
    fn new(probe: Probe) -> Self {
        let dev = Cpu::seed_from_u64(4);
        Self(dev.build_module::<Linear<4, 4>, E>(), probe, dev.build_module::<Linear<4, 4>, E>())
    }

    fn run(&mut self, outer: &'static Site) -> Result<Tensor<Rank0, E, Cpu, OwnedTape<E, Cpu>>, CpuError> {
        let tape = Tape::open();
        let x: Shared = enter(x().leaky_trace(), &tape);
        let parameters = (lend!(E, Cpu, &mut self.0), lend!(E, Cpu, &mut self.1), lend!(E, Cpu, &mut self.2));
        let y = region(outer, &tape, parameters, (x,), |tape, (a, probe, b), (x,)| {
            let x = call_mut(tape, a, x)?;
            let x = region(&B, tape, (lend!(E, Cpu, &mut *probe),), (x,), |tape, (probe,), (x,)| {
                call_mut(tape, probe, x.try_tanh()?)
            })?;
            call_mut(tape, b, x)
        })?;
        Ok(leave::<E, Cpu, _>(y, tape)?.sum())
    }

    /// Runs forward and backward.
    fn step(mut self, outer: &'static Site) -> Result<(), CpuError> {
        self.run(outer)?.try_backward().map(drop)
    }
}

/// The inner body runs three times in a step: in the first pass, in the outer recompute, and in the
/// inner recompute.
#[test]
fn a_layer_that_fails_in_its_nth_call() {
    for (call, outer, region, pass) in [
        (0, &A, "Model.a > Block.b", Pass::First),
        (1, &A, "Model.a > Block.b", Pass::First),
        (2, &A, "Model.a > Block.b", Pass::Recompute),
        (0, &KEPT, "Model.kept > Block.b", Pass::First),
        (1, &KEPT, "Model.kept > Block.b", Pass::Recompute),
    ] {
        let probe = Probe::after(call, Does::Fail);
        let mut model = Nested::new(probe.clone());
        let loss = model.run(outer);
        assert_eq!(loss.is_err(), call == 0);
        let result = loss.and_then(|l| l.try_backward().map(drop));
        assert!(matches!(result, Err(CpuError::OutOfMemory)), "{call}");
        assert_eq!(probe.calls(), call + 1);
        failed(region, pass);
        assert_thread_is_clean();
    }
    let fine = Probe::default();
    Nested::new(fine.clone()).step(&A).unwrap();
    assert_eq!(fine.calls(), 3);
}

#[test]
fn a_gradient_operation_that_fails() {
    // The operation is recorded by the pass that runs before the inner backward: the third call.
    let plan = [Does::FailInBackward; 3];
    let result = Nested::new(Probe::new(&plan)).step(&A);
    assert!(matches!(result, Err(CpuError::OutOfMemory)));
    failed("Model.a > Block.b", Pass::Backward);
    assert_thread_is_clean();

    // In the outer region itself.
    let dev = Cpu::default();
    let mut model = (dev.build_module::<Linear<4, 4>, E>(), Probe::new(&plan));
    let loss = field_mut(&A, &mut model, x().leaky_trace()).unwrap().sum();
    assert!(loss.try_backward().is_err());
    failed("Model.a", Pass::Backward);
    assert_thread_is_clean();
}

#[test]
fn a_panic_leaves_nothing_behind() {
    for call in 0..3 {
        let probe = Probe::after(call, Does::Panic);
        let model = Nested::new(probe.clone());
        let caught = catch_unwind(AssertUnwindSafe(|| {
            with_policy(Policy::checkpoint().region("Nothing", Mode::Plain), || model.step(&A))
        }));
        assert!(caught.is_err());
        assert_eq!(probe.calls(), call + 1);
        assert_thread_is_clean();
    }
}

/// A failure that was pending when a panic came must not be blamed on a later region.
#[test]
fn a_panic_after_a_foreign_tape() {
    let foreign = x().put_tape(Tape::open());
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let tape = Tape::open();
        let x: Shared = enter(x().leaky_trace(), &tape);
        region(&A, &tape, (), (x, Plain(foreign)), |_, (), (x, Plain(foreign))| {
            let _ = x + foreign;
            if true {
                panic!("after the foreign tape");
            }
            Ok(0usize)
        })
    }));
    assert!(caught.is_err());
    assert_thread_is_clean();
}

thread_local! {
    static LEAKED: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

fn refused_as_foreign(result: Result<(), CpuError>, region: &str, pass: Pass) {
    assert!(matches!(result, Err(CpuError::WrongNumElements)));
    let failure = last_failure().unwrap();
    assert_eq!((failure.region.as_str(), failure.pass, &failure.cause), (region, pass, &Cause::ForeignTape));
    assert!(failure.to_string().contains("another region's tape"), "{failure}");
    assert_thread_is_clean();
}

/// A tensor of the tape around, in a plain value.
#[test]
fn a_tensor_smuggled_in() {
    #[derive(Clone)]
    struct Config {
        hidden: Shared,
    }
    for site in [&A, &KEPT] {
        let tape = Tape::open();
        let x: Shared = enter(x().leaky_trace(), &tape);
        let config = live!(E, Cpu, Config { hidden: x.clone().square() });
        let y = region(site, &tape, (), (x, config), |_, (), (x, Plain(config))| Ok(x + config.hidden));
        refused_as_foreign(y.map(drop), if std::ptr::eq(site, &A) { "Model.a" } else { "Model.kept" }, Pass::First);
    }
}

/// A tensor of a region's tape, used by a later region and by the forward around.
#[test]
fn a_tensor_smuggled_out() {
    let leak = |tape: &Tape, x: Shared| {
        region(&A, tape, (), (x,), |_, (), (x,)| {
            LEAKED.set(Some(x.clone().square()));
            Ok(x)
        })
        .unwrap()
    };
    let tape = Tape::open();
    let y = leak(&tape, enter(x().leaky_trace(), &tape));
    let y = region(&B, &tape, (), (y,), |_, (), (y,)| Ok(y + LEAKED.take().unwrap()));
    refused_as_foreign(y.map(drop), "Block.b", Pass::First);

    let tape = Tape::open();
    let y = leak(&tape, enter(x().leaky_trace(), &tape));
    let y = leave::<E, Cpu, _>(y + LEAKED.take().unwrap(), tape);
    refused_as_foreign(y.map(drop), "", Pass::First);
}

/// A tensor that only the recompute leaks: the first pass's tape met by the second.
#[test]
fn a_tensor_smuggled_from_the_first_pass_to_the_recompute() {
    let tape = Tape::open();
    let x: Shared = enter(x().leaky_trace(), &tape);
    let y = region(&A, &tape, (), (x,), |_, (), (x,)| match LEAKED.take() {
        None => {
            LEAKED.set(Some(x.clone().square()));
            Ok(x)
        }
        Some(old) => Ok(x + old),
    })
    .unwrap();
    let loss = leave::<E, Cpu, _>(y, tape).unwrap().sum();
    refused_as_foreign(loss.try_backward().map(drop), "Model.a", Pass::Recompute);
}

/// A body whose outputs are not the same in number: their gradients would be mixed up.
#[test]
fn another_number_of_outputs_in_the_recompute() {
    let tape = Tape::open();
    let x: Shared = enter(x().leaky_trace(), &tape);
    let mut y = region(&A, &tape, (), (x,), |_, (), (x,)| {
        Ok(if is_first_pass() { vec![x.clone().square(), x] } else { vec![x] })
    })
    .unwrap();
    let sum = y.remove(0) + y.remove(0);
    let loss = leave::<E, Cpu, _>(sum, tape).unwrap().sum();
    assert!(loss.try_backward().is_err());
    let failure = last_failure().unwrap();
    assert_eq!((failure.region.as_str(), failure.pass), ("Model.a", Pass::Recompute), "{failure}");
    assert_thread_is_clean();
}

#[test]
fn another_number_of_draws_in_the_recompute() {
    for (first, again) in [(1, 3), (3, 1)] {
        let tape = Tape::open();
        let x: Shared = enter(x().leaky_trace(), &tape);
        let y = region(&A, &tape, (), (x, first, again), |tape, (), (mut x, first, again)| {
            for _ in 0..if is_first_pass() { first } else { again } {
                x = call_mut(tape, &mut nn::Dropout { p: 0.1 }, x)?;
            }
            Ok(x)
        })
        .unwrap();
        assert!(leave::<E, Cpu, _>(y, tape).unwrap().sum().try_backward().is_err());
        assert_eq!(last_failure().unwrap().cause, Cause::Draws { first, again });
        assert_thread_is_clean();
    }
}

/// Backward runs under the policy of the forward, whatever is in force around it.
#[test]
fn the_policy_of_the_first_pass_holds_in_backward() {
    for (forward, backward, calls) in [
        (Policy::checkpoint(), Policy::plain(), 3),
        (Policy::plain(), Policy::checkpoint(), 1),
        (Policy::keep(), Policy::checkpoint(), 1),
        (Policy::checkpoint(), Policy::keep(), 3),
        (Policy::checkpoint().region("Block.b", Mode::Keep), Policy::checkpoint(), 2),
        (Policy::checkpoint().region("Block.b", Mode::Plain), Policy::checkpoint(), 2),
        (Policy::checkpoint().region("Model.a", Mode::Keep), Policy::plain(), 2),
    ] {
        let probe = Probe::default();
        let mut model = Nested::new(probe.clone());
        let loss = with_policy(forward.clone(), || model.run(&A)).unwrap();
        with_policy(backward.clone(), || loss.try_backward()).unwrap();
        assert_eq!(probe.calls(), calls, "{forward:?}, then {backward:?}");
        assert_thread_is_clean();
    }
}

/// Marked to be kept: no policy makes it recompute.
#[test]
fn a_policy_makes_nothing_recompute_that_is_kept() {
    let mut probe = Probe::default();
    let policy = Policy::checkpoint().region("Model.kept", Mode::Checkpoint);
    let loss = with_policy(policy, || field_mut(&KEPT, &mut probe, x().leaky_trace())).unwrap().sum();
    loss.backward();
    assert_eq!(probe.calls(), 1);
}
