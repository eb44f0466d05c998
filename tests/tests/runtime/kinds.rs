//! One test a kind of fault that other systems had, named after the kind.
//!
//! Kinds that only a macro can see (in-place updates, the whole model as one region, layers that do
//! not fit) are tested with the macros; fixed cost and compile time are benchmarks; kinds of memory
//! are in `memory.rs`.

use ckpt_runtime::{
    __private::{enter, leave, lend, segments_mut},
    Cause, Checkpoint, Concat, Plain, Policy, ReplaySafe, Scoped, Segments, Sequential, SharedTape, Site, last_failure,
    nn, region, with_policy,
};
use dfdx::{
    prelude::*,
    tensor::{CpuError, PutTape, RandomU64, SplitTape},
};
use tests::{
    compare::{BothTaped, Trains, bits, noise, run_with},
    gradients,
    layers::{Does, Growing, Probe},
};

type E = f64;
type Rows = Rank2<3, 4>;
type Bare = Tensor<Rows, E, Cpu>;
type Tape = SharedTape<E, Cpu>;
type Shared = Tensor<Rows, E, Cpu, Tape>;

static BLOCKS: Site = Site::new("Model.blocks");
static SITE: Site = Site::new("Model.field");

fn rows(dev: &Cpu) -> Bare {
    noise(dev, Rows::default(), -1.0, 1.0)
}

/// Asserts at compile time that a type lacks a trait.
macro_rules! assert_not_impl {
    ($T:ty: $Trait:path) => {{
        trait Ambiguous<A> {
            fn some() {}
        }
        impl<T: ?Sized> Ambiguous<()> for T {}
        struct Has;
        impl<T: ?Sized + $Trait> Ambiguous<Has> for T {}
        <$T as Ambiguous<_>>::some();
    }};
}

#[test]
fn state_updated_twice() {
    let dev = Cpu::seed_from_u64(1);
    let mut plain = dev.build_module::<BatchNorm1D<4>, E>();
    let mut outer = Checkpoint(Checkpoint(plain.clone()));
    for _ in 0..3 {
        let x = rows(&dev);
        plain.forward_mut(x.leaky_trace()).exp().mean().backward();
        outer.forward_mut(x.leaky_trace()).exp().mean().backward();
    }
    assert_eq!(bits(&plain.running_mean), bits(&outer.0.0.running_mean));
    assert_eq!(bits(&plain.running_var), bits(&outer.0.0.running_var));
}

/// A layer whose output depends on its state: the recompute starts from the state before.
#[test]
fn state_updated_twice_and_seen() {
    let plain = run_with::<E, _, _, _>(1, |_| Growing::default(), rows, |m, x| m.try_forward_mut(x));
    let region = run_with::<E, _, _, _>(1, |_| Checkpoint(Growing::default()), rows, |m, x| m.try_forward_mut(x));
    plain.assert_same(&region, "a region");
    let mut nested = Checkpoint((Growing::default(), Checkpoint((Tanh, Growing::default()))));
    let run = run_with::<E, _, _, _>(1, |_| (), rows, |(), x| nested.try_forward_mut(x));
    let mut bare = (Growing::default(), (Tanh, Growing::default()));
    let plain = run_with::<E, _, _, _>(1, |_| (), rows, |(), x| bare.try_forward_mut(x));
    plain.assert_same(&run, "nested");
    assert_eq!((nested.0.0.calls, nested.0.1.0.1.calls), (5, 5));
}

#[test]
fn state_updated_late() {
    let dev = Cpu::seed_from_u64(1);
    let mut plain = dev.build_module::<BatchNorm1D<4>, E>();
    let mut region = Checkpoint(plain.clone());
    let x = rows(&dev);
    plain.forward_mut(x.leaky_trace());
    let loss = region.forward_mut(x.leaky_trace()).exp().mean();
    let at_once = bits(&region.0.running_mean);
    assert_eq!(bits(&plain.running_mean), at_once);
    loss.backward();
    assert_eq!(bits(&region.0.running_mean), at_once);
}

/// A tensor and a configuration are changed in place after the forward.
#[test]
fn an_input_changed_between_the_passes() {
    let dev = Cpu::seed_from_u64(1);
    let original = rows(&dev);
    let expected = (original.leaky_trace() * 2.0).exp().mean().backward().get(&original);

    let (mut x, mut config) = (original.clone(), vec![2.0, 3.0]);
    let tape = Tape::open();
    let shared: Shared = enter(x.leaky_trace(), &tape);
    let y =
        region(
            &SITE,
            &tape,
            (),
            (shared, Plain(config.clone())),
            |_, (), (x, Plain(config))| Ok((x * config[0]).exp()),
        );
    let loss = leave::<E, Cpu, _>(y.unwrap(), tape).unwrap().mean();
    x.fill_with_zeros();
    config[0] = 0.0;
    assert_eq!(bits(&loss.backward().get(&original)), bits(&expected));
}

/// There is no other thread to lose them on: what is recorded cannot leave its thread.
#[test]
fn modes_lost_on_another_thread() {
    assert_not_impl!(OwnedTape<f32, Cpu>: Send);
    assert_not_impl!(SharedTape<f32, Cpu>: Send);
    with_policy(Policy::plain(), || {
        let calls = std::thread::spawn(|| {
            let mut probe = Checkpoint(Probe::default());
            probe.forward_mut(rows(&Cpu::default()).leaky_trace()).sum().backward();
            probe.0.calls()
        });
        assert_eq!(calls.join().unwrap(), 2, "a policy is of its thread");
    });
}

#[test]
fn random_stream_differs() {
    type Plain = (Linear<4, 4>, nn::Dropout, Residual<(nn::DropoutOneIn<3>, Linear<4, 4>)>, nn::Dropout);
    type Regions = (
        Linear<4, 4>,
        Checkpoint<nn::Dropout>,
        Checkpoint<Residual<(Checkpoint<nn::DropoutOneIn<3>>, Linear<4, 4>)>>,
        Checkpoint<Scoped<nn::Dropout>>,
    );
    let plain = <Plain as Trains<E, _>>::run(1, None, rows);
    plain.assert_same(&<Regions as Trains<E, _>>::run(1, None, rows), "draws in regions");

    // The stream is the one of dfdx's own dropout: one draw a call.
    let (ours, theirs) = (Cpu::seed_from_u64(9), Cpu::seed_from_u64(9));
    let x: Bare = ours.ones();
    Checkpoint(nn::Dropout::default()).forward_mut(x.leaky_trace()).sum().backward();
    let x: Bare = theirs.ones();
    modules::Dropout { p: 0.5 }.forward_mut(x.leaky_trace()).sum().backward();
    assert_eq!(ours.random_u64(), theirs.random_u64());
}

/// A layer that cannot be replayed is not accepted, wherever it hides.
#[test]
fn a_device_or_layer_without_replay() {
    assert_not_impl!(modules::Dropout: ReplaySafe);
    assert_not_impl!(modules::DropoutOneIn<2>: ReplaySafe);
    assert_not_impl!((Linear<2, 2>, Residual<(ReLU, modules::Dropout)>): ReplaySafe);
    assert_not_impl!(Sequential<2, Concat<(ReLU,), (ReLU, modules::Dropout)>>: ReplaySafe);
    assert_not_impl!(Scoped<Repeated<modules::Dropout, 3>>: ReplaySafe);
    assert_not_impl!(Checkpoint<modules::Dropout>: ModuleMut<Tensor<Rows, E, Cpu, OwnedTape<E, Cpu>>>);
}

/// Every policy with every segmentation, draws and verification included, in both dtypes.
#[test]
fn option_pairs_untested() {
    type Block = (Linear<4, 4>, nn::DropoutOneIn<3>, BatchNorm1D<4>);
    type Model = Repeated<Block, 3>;
    macro_rules! pairs {
        ($E:ty) => {{
            let rows = |dev: &Cpu| noise::<Rows, $E>(dev, Rows::default(), -1.0, 1.0);
            let plain = <Model as Trains<$E, _>>::run(1, None, rows);
            for segments in [Segments::Each, Segments::Count(1), Segments::Count(2), Segments::Count(3)] {
                for base in [Policy::plain(), Policy::keep(), Policy::checkpoint()] {
                    for verify in [None, Some(0.0), Some(0.1)] {
                        let policy = base.clone().cut(segments);
                        let policy = verify.map_or(policy.clone(), |tolerance| policy.verify(tolerance));
                        let run = run_with::<$E, _, _, _>(
                            1,
                            |dev| dev.build_module::<Model, $E>(),
                            rows,
                            |m, x| with_policy(policy.clone(), || segments_mut(&BLOCKS, Segments::Each, m, x)),
                        );
                        plain.assert_same(&run, &format!("{policy:?}"));
                    }
                }
            }
        }};
    }
    pairs!(f32);
    pairs!(f64);
}

/// One function, called twice; whether it took the same way is what `verify` asks.
#[test]
fn forward_and_recompute_take_different_kernels() {
    let probe = Probe::default();
    let mut model = Checkpoint((Cpu::default().build_module::<Linear<4, 4>, E>(), probe.clone()));
    with_policy(Policy::checkpoint().verify(0.0), || model.forward_mut(rows(&Cpu::default()).leaky_trace()))
        .sum()
        .backward();
    assert_eq!(probe.calls(), 2);
}

/// Only the parameters are leaves; then nothing at all, but an index tensor, goes in.
#[test]
fn inputs_that_need_no_gradient() {
    let dev = Cpu::seed_from_u64(1);
    let mut plain = dev.build_module::<(Linear<4, 4>, Tanh), E>();
    let mut model = Checkpoint(plain.clone());
    let x = rows(&dev);
    let expected = plain.forward_mut(x.trace(plain.alloc_grads())).exp().mean().backward();
    let actual = model.forward_mut(x.trace(model.alloc_grads())).exp().mean().backward();
    assert_eq!(gradients::by_name(&plain, &expected), gradients::by_name(&model, &actual));

    let indices = |dev: &Cpu| dev.tensor([1usize, 3, 1]);
    let plain = <(Embedding<4, 3>, Linear<3, 2>) as Trains<E, _>>::run(1, None, indices);
    let run = <Checkpoint<(Embedding<4, 3>, Linear<3, 2>)> as Trains<E, _>>::run(1, None, indices);
    plain.assert_same(&run, "an index tensor alone");

    // No input at all.
    let mut linear = dev.build_module::<Linear<4, 3>, E>();
    let tape = Tape::open();
    let weight =
        region(&SITE, &tape, (lend!(E, Cpu, &mut linear),), (), |_, (l,), ()| Ok(l.weight.retaped::<Tape>().square()));
    let gradients = leave::<E, Cpu, _>(weight.unwrap(), tape).unwrap().sum().backward();
    assert_eq!(gradients.get(&linear.weight).as_vec(), (linear.weight * 2.0).as_vec());
}

/// Every parameter of every segment moves.
#[test]
fn segment_weights_unlearned() {
    type Layers = (Linear<4, 4>, Tanh, LayerNorm1D<4>, Linear<4, 4>, Tanh, Linear<4, 2>);
    let dev = Cpu::seed_from_u64(1);
    let mut model = dev.build_module::<Sequential<4, Layers>, E>();
    let gradients = model.forward_mut(rows(&dev).leaky_traced()).exp().mean().backward();
    let gradients = gradients::by_name(&model, &gradients);
    assert_eq!(gradients.len(), 8);
    for (name, gradient) in gradients {
        assert!(gradient.iter().any(|g| *g != 0.0), "{name}");
    }
}

#[test]
fn none_masks_integers_and_flags_among_the_inputs() {
    type Extras = (Option<Bare>, Option<Tensor<Rows, bool, Cpu>>, Tensor<Rank1<3>, usize, Cpu>, bool, u8);
    let dev = Cpu::seed_from_u64(1);
    let x = rows(&dev);
    let mask = x.lt(0.0);
    for given in [true, false] {
        let tape = Tape::open();
        let shared: Shared = enter(x.leaky_trace(), &tape);
        let extras: Extras = (None, given.then(|| mask.clone()), dev.tensor([2, 0, 1]), given, 3);
        let y = region(&SITE, &tape, (), (shared, extras), |_, (), (x, (none, mask, index, flag, n))| {
            assert!(none.is_none() && n == 3 && mask.is_some() == flag);
            let x = mask.map_or(x.clone(), |m| m.choose(x.clone(), x.square()));
            x.try_gather(index)
        });
        let y: Tensor<Rows, E, Cpu, _> = leave::<E, Cpu, _>(y.unwrap(), tape).unwrap();
        let gradient = y.sum().backward().get(&x).as_vec();
        let by_hand = |v: &E| if given && *v >= 0.0 { 2.0 * v } else { 1.0 };
        assert_eq!(gradient, x.as_vec().iter().map(by_hand).collect::<Vec<_>>());
    }
}

/// Which segments `layers` are cut into: the bounds that a failure of each layer names.
fn segments_of<const N: usize>(segments: Segments) -> Vec<String> {
    let mut names: Vec<String> = (0..N)
        .map(|fails| {
            let probe = |i| if i == fails { Probe::after(0, Does::Fail) } else { Probe::default() };
            let mut blocks = Repeated::<_, N> { modules: (0..N).map(probe).collect() };
            segments_mut::<E, Cpu, _, _>(&BLOCKS, segments, &mut blocks, rows(&Cpu::default()).leaky_traced())
                .map(drop)
                .unwrap_err();
            last_failure().unwrap().region
        })
        .collect();
    names.dedup();
    names
}

#[test]
fn uneven_division() {
    let names = |bounds: &[&str]| bounds.iter().map(|b| format!("Model.blocks[{b}]")).collect::<Vec<_>>();
    assert_eq!(segments_of::<9>(Segments::Count(5)), names(&["0..2", "2..4", "4..6", "6..8", "8"]));
    assert_eq!(segments_of::<7>(Segments::Count(3)), names(&["0..3", "3..5", "5..7"]));
    assert_eq!(segments_of::<3>(Segments::Each), names(&["0", "1", "2"]));
}

#[test]
fn more_segments_than_layers() {
    fn refused<T>(result: Result<T, CpuError>, region: &str, segments: usize, layers: usize) {
        assert!(result.is_err());
        let failure = last_failure().unwrap();
        assert_eq!(failure.cause, Cause::Segments { segments, layers });
        let text = format!(
            "region `{region}` failed in the first pass: it has {layers} layers and cannot be cut into {segments} segments"
        );
        assert_eq!(failure.to_string(), text);
    }
    let dev = Cpu::default();
    let x = || rows(&dev).leaky_traced();
    let mut blocks = dev.build_module::<Repeated<Linear<4, 4>, 3>, E>();
    refused(segments_mut::<E, Cpu, _, _>(&BLOCKS, Segments::Count(4), &mut blocks, x()), "Model.blocks", 4, 3);
    refused(segments_mut::<E, Cpu, _, _>(&BLOCKS, Segments::Count(0), &mut blocks, x()), "Model.blocks", 0, 3);
    let mut tuple = dev.build_module::<Sequential<3, (Linear<4, 4>, ReLU)>, E>();
    refused(tuple.try_forward_mut(x()), "Sequential", 3, 2);
    let mut grouped = dev.build_module::<Sequential<1, Concat<(Linear<4, 4>, ReLU), (ReLU,)>>, E>();
    refused(with_policy(Policy::segments(9), || grouped.try_forward_mut(x())), "Sequential", 9, 3);
    assert!(grouped.try_forward(rows(&dev)).is_ok(), "inference cuts nothing");
}

/// Two tensors go from block to block.
#[derive(Clone, Debug)]
struct Pair(modules::Linear<4, 4, E, Cpu>);
impl ReplaySafe for Pair {}
impl NonMutableModule for Pair {}
impl TensorCollection<E, Cpu> for Pair {
    type To<E2: Dtype, D2: Device<E2>> = modules::Linear<4, 4, E2, D2>;
    fn iter_tensors<V: ModuleVisitor<Self, E, Cpu>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(Self::module("linear", |s| &s.0, |s| &mut s.0), |linear| linear)
    }
}
impl<T: dfdx::tensor::Tape<E, Cpu> + Merge<T>> Module<(Tensor<Rows, E, Cpu, T>, Tensor<Rows, E, Cpu, T>)> for Pair {
    type Output = (Tensor<Rows, E, Cpu, T>, Tensor<Rows, E, Cpu, T>);
    type Error = CpuError;
    fn try_forward(
        &self,
        (a, b): (Tensor<Rows, E, Cpu, T>, Tensor<Rows, E, Cpu, T>),
    ) -> Result<Self::Output, CpuError> {
        let a2 = a.with_empty_tape();
        let h = self.0.try_forward(a.try_add(b)?)?;
        let other = h.with_empty_tape();
        Ok((h.try_tanh()?, other.try_mul(a2)?))
    }
}

#[test]
fn only_one_tensor_flows_between_segments() {
    let build =
        |dev: &Cpu| Repeated::<_, 4> { modules: (0..4).map(|_| Pair(dev.build_module::<Linear<4, 4>, E>())).collect() };
    let input = |dev: &Cpu| BothTaped(rows(dev), rows(dev));
    let plain = run_with::<E, _, _, _>(1, build, input, |m, x| m.try_forward_mut(x));
    for segments in [Segments::Each, Segments::Count(2), Segments::Count(3)] {
        let run = run_with::<E, _, _, _>(1, build, input, |m, x| segments_mut(&BLOCKS, segments, m, x));
        plain.assert_same(&run, &format!("{segments:?}"));
        let run = run_with::<E, _, _, _>(1, build, input, |m, x| {
            let [a, b, c, d] = &mut m.modules[..] else { unreachable!() };
            use ckpt_runtime::__private::{lent_mut, sequence};
            sequence(&BLOCKS, segments, x, (lent_mut(a), lent_mut(b), lent_mut(c), lent_mut(d)))
        });
        plain.assert_same(&run, &format!("different layers, {segments:?}"));
    }
}

/// One model, cut anew in every step.
#[test]
fn a_chunk_fed_a_stale_state() {
    type Layers = (Linear<4, 4>, Tanh, BatchNorm1D<4>, nn::Dropout, Linear<4, 4>, Tanh);
    let plain = <Layers as Trains<E, _>>::run(1, None, rows);
    let mut step = 0;
    let run = run_with::<E, _, _, _>(
        1,
        |dev| dev.build_module::<Sequential<1, Layers>, E>(),
        rows,
        |m, x| {
            step += 1;
            with_policy(Policy::segments(step), || m.try_forward_mut(x))
        },
    );
    plain.assert_same(&run, "cut into 1, 2, 3, .. segments");
}

/// A module used in two regions, and in two steps that accumulate: once a use.
#[test]
fn gradients_ready_twice() {
    let dev = Cpu::seed_from_u64(1);
    let mut linear = Checkpoint(dev.build_module::<Linear<4, 4>, E>());
    let mut gradients = linear.alloc_grads();
    let x: Bare = dev.ones();
    for step in 1..=2 {
        let h = linear.forward_mut(x.trace(gradients));
        let (h, tape) = h.split_tape();
        let again = linear.forward_mut(x.leaky_trace());
        gradients = (h.put_tape(tape) + again).sum().backward();
        // Three rows, two uses a step.
        assert_eq!(gradients.get(&linear.0.bias).array(), [f64::from(6 * step); 4]);
    }
}

/// The dtype is in the types of the body: no context can be lost. The policy, which is one, is not.
#[test]
fn recompute_in_another_context() {
    let probe = Probe::default();
    let mut model = Checkpoint(Checkpoint(probe.clone()));
    let loss = with_policy(Policy::checkpoint(), || model.forward_mut(rows(&Cpu::default()).leaky_trace())).sum();
    with_policy(Policy::plain(), || loss.backward());
    assert_eq!(probe.calls(), 3);
}

/// It cannot be written: backward takes the tape, and a tape cannot be cloned.
#[test]
fn a_second_backward() {
    assert_not_impl!(OwnedTape<f32, Cpu>: Clone);
}

/// Training through a combinator reaches batch norm's training path, inference its running statistics.
#[test]
fn the_wrong_variant_called() {
    let dev = Cpu::seed_from_u64(1);
    let mut model = Checkpoint(dev.build_module::<BatchNorm1D<4>, E>());
    let before = bits(&model.0.running_mean);
    model.forward(rows(&dev));
    assert_eq!(bits(&model.0.running_mean), before);
    model.forward_mut(rows(&dev).leaky_traced());
    assert_ne!(bits(&model.0.running_mean), before);
}
