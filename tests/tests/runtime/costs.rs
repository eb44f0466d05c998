//! What checkpointing must not cost: inference, side effects, differences nobody sees, weight files.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use ckpt_runtime::{
    __private::{checkpoint_ref, field_mut, field_ref, lent, segments_mut, segments_ref, sequence},
    AssumeReplaySafe, Cause, Checkpoint, Concat, Difference, Pass, Policy, Scoped, Segments, Sequential, Site,
    first_pass, last_failure, nn, with_policy,
};
use dfdx::prelude::*;
use tests::{
    compare::{Trains, noise},
    layers::{Does, NoClone, Probe},
};

type E = f64;
type Rows = Rank2<3, 4>;
type Bare = Tensor<Rows, E, Cpu>;
type Layer = NoClone<modules::Linear<4, 4, E, Cpu>>;

static SITE: Site = Site::new("Model.field");

fn dev() -> Cpu {
    Cpu::seed_from_u64(6)
}

fn x() -> Bare {
    noise(&dev(), Rows::default(), -1.0, 1.0)
}

fn layer() -> Layer {
    NoClone(dev().build_module::<Linear<4, 4>, E>())
}

#[test]
fn inference_clones_no_module() {
    let bare = layer().0.forward(x()).as_vec();
    let thrice = (layer().0, layer().0, layer().0).forward(x()).as_vec();

    assert_eq!(Checkpoint(layer()).forward(x()).as_vec(), bare);
    assert_eq!(Checkpoint(layer()).forward_mut(x()).as_vec(), bare);
    assert_eq!(Scoped(Checkpoint(layer())).forward(x()).as_vec(), bare);
    assert_eq!(field_ref::<E, Cpu, _, _>(&SITE, &layer(), x()).unwrap().as_vec(), bare);
    assert_eq!(field_mut::<E, Cpu, _, _>(&SITE, &mut layer(), x()).unwrap().as_vec(), bare);
    assert_eq!(checkpoint_ref(&SITE, &layer(), x()).unwrap().as_vec(), bare);

    let mut tuple = Sequential::<2, _>((layer(), layer(), layer()));
    assert_eq!(tuple.forward(x()).as_vec(), thrice);
    assert_eq!(tuple.forward_mut(x()).as_vec(), thrice);
    let mut grouped = Sequential::<2, _>(Concat((layer(),), (layer(), layer())));
    assert_eq!(grouped.forward(x()).as_vec(), thrice);
    assert_eq!(grouped.forward_mut(x()).as_vec(), thrice);
    assert_eq!(
        sequence(&SITE, Segments::Count(2), x(), (lent(&layer()), lent(&layer()), lent(&layer()))).unwrap().as_vec(),
        thrice
    );

    let two = Segments::Count(2);
    let mut repeated = Repeated::<_, 3> { modules: vec![layer(), layer(), layer()] };
    assert_eq!(segments_ref::<E, Cpu, _, _>(&SITE, two, &repeated, x()).unwrap().as_vec(), thrice);
    assert_eq!(segments_mut::<E, Cpu, _, _>(&SITE, two, &mut repeated, x()).unwrap().as_vec(), thrice);
    assert_eq!(segments_ref::<E, Cpu, _, _>(&SITE, two, &tuple.0, x()).unwrap().as_vec(), thrice);
    assert_eq!(segments_mut::<E, Cpu, _, _>(&SITE, two, &mut tuple, x()).unwrap().as_vec(), thrice);
    assert_eq!(segments_ref::<E, Cpu, _, _>(&SITE, two, &grouped, x()).unwrap().as_vec(), thrice);
    assert_eq!(segments_mut::<E, Cpu, _, _>(&SITE, two, &mut grouped, x()).unwrap().as_vec(), thrice);
}

#[test]
fn training_does_clone_and_says_so() {
    let caught = catch_unwind(AssertUnwindSafe(|| Checkpoint(layer()).forward(x().leaky_trace())));
    assert!(caught.is_err(), "the test above would see a clone");
}

thread_local! {
    static EFFECTS: Cell<usize> = const { Cell::new(0) };
}

/// Counts its first passes.
#[derive(Clone, Debug, Default)]
struct Counts;
impl ckpt_runtime::ReplaySafe for Counts {}
impl ZeroSizedModule for Counts {}
impl NonMutableModule for Counts {}
impl<X: dfdx::tensor::HasErr> Module<X> for Counts {
    type Output = X;
    type Error = X::Err;
    fn try_forward(&self, x: X) -> Result<X, X::Err> {
        first_pass! { EFFECTS.set(EFFECTS.get() + 1); }
        Ok(x)
    }
}

#[test]
fn a_first_pass_is_once_in_training_and_always_in_inference() {
    type Nested = Checkpoint<(Counts, Checkpoint<(Counts, Scoped<Checkpoint<Counts>>)>)>;
    let mut model = dev().build_module::<Nested, E>();
    for policy in [Policy::checkpoint(), Policy::keep(), Policy::plain(), Policy::checkpoint().verify(0.0)] {
        EFFECTS.set(0);
        let loss = with_policy(policy.clone(), || model.forward_mut(x().leaky_trace())).sum();
        assert_eq!(EFFECTS.get(), 3, "{policy:?}");
        loss.backward();
        assert_eq!(EFFECTS.get(), 3, "{policy:?}, after backward");
    }
    model.forward(x());
    assert_eq!(EFFECTS.get(), 6);
}

/// What `verify` says of a layer that does this in its first call and that in its second.
fn verified(input: E, first: Does, again: Does, tolerance: f64) -> Option<Difference> {
    static VERIFIED: Site = Site::new("Model.noisy");
    let x: Bare = dev().ones() * input;
    let mut noisy = AssumeReplaySafe(Probe::new(&[first, again]));
    let y = with_policy(Policy::checkpoint().verify(tolerance), || field_mut(&VERIFIED, &mut noisy, x.leaky_trace()));
    if y.unwrap().sum().try_backward().is_ok() {
        return None;
    }
    let failure = last_failure().unwrap();
    assert_eq!((failure.region.as_str(), failure.pass), ("Model.noisy", Pass::Recompute));
    match failure.cause {
        Cause::Differs(difference) => Some(difference),
        other => panic!("{other:?}"),
    }
}

#[test]
fn verify_finds_what_does_not_repeat() {
    use Does::{Add, Negate, Pass};
    assert_eq!(verified(1.0, Add(1.0), Add(1.0), 0.0), None);
    assert_eq!(verified(1.0, Add(1.0), Add(2.0), 0.0), Some(Difference { element: 0, first: 2.0, again: 3.0 }));
    assert_eq!(verified(0.0, Pass, Negate, 0.0), Some(Difference { element: 0, first: 0.0, again: -0.0 }));
    assert_eq!(verified(f64::NAN, Pass, Pass, 0.0), None, "the same NaN");
    let to_nan = verified(1.0, Pass, Add(f64::NAN), 0.0).unwrap();
    assert!(to_nan.first == 1.0 && to_nan.again.is_nan());
    assert!(verified(f64::NAN, Pass, Negate, 0.0).is_some(), "another NaN");
}

#[test]
fn verify_has_a_relative_tolerance() {
    use Does::{Add, Negate, Pass};
    assert_eq!(verified(1000.0, Pass, Add(1.0), 0.01), None);
    assert!(verified(1000.0, Pass, Add(20.0), 0.01).is_some());
    assert_eq!(verified(0.0, Pass, Negate, 0.01), None, "zeros of either sign");
    assert_eq!(verified(f64::NAN, Pass, Negate, 0.01), None, "NaNs of either sign");
    assert!(verified(1.0, Pass, Add(f64::NAN), 0.01).is_some());
    assert!(verified(1.0, Pass, Add(f64::INFINITY), 0.01).is_some(), "a number and an infinity");
    assert!(verified(f64::INFINITY, Pass, Negate, 0.01).is_some(), "infinities of both signs");
    assert_eq!(verified(f64::INFINITY, Pass, Pass, 0.01), None);
}

type Layers = (Linear<4, 5>, Tanh, BatchNorm1D<5>, Residual<(nn::Dropout, Linear<5, 5>)>, ReLU, Linear<5, 4>);

/// Loads what the plain tuple saved, and saves what the plain tuple can load.
macro_rules! loads {
    ($dir:ident, $x:ident, $expected:ident: $($Other:ty),+ $(,)?) => { $(
        let path = |name: &str| $dir.path().join(name);
        let mut other = Cpu::seed_from_u64(99).build_module::<$Other, E>();
        assert_ne!(other.forward($x.clone()).as_vec(), $expected);
        other.load(path("plain.npz")).unwrap();
        assert_eq!(other.forward($x.clone()).as_vec(), $expected, "npz, {}", stringify!($Other));

        let mut other = Cpu::seed_from_u64(99).build_module::<$Other, E>();
        other.load_safetensors(path("plain.safetensors")).unwrap();
        assert_eq!(other.forward($x.clone()).as_vec(), $expected, "safetensors, {}", stringify!($Other));

        other.save(path("other.npz")).unwrap();
        let mut back = Cpu::seed_from_u64(98).build_module::<Layers, E>();
        back.load(path("other.npz")).unwrap();
        assert_eq!(back.forward($x.clone()).as_vec(), $expected, "back from {}", stringify!($Other));
    )+ };
}

#[test]
fn weights_load_into_every_segmentation() {
    let dir = tempfile::tempdir().unwrap();
    let dev = dev();
    let mut plain = dev.build_module::<Layers, E>();
    for _ in 0..3 {
        // Running statistics that are not those of a fresh model.
        plain.forward_mut(noise(&dev, Rows::default(), -1.0, 1.0).leaky_traced());
    }
    plain.save(dir.path().join("plain.npz")).unwrap();
    plain.save_safetensors(dir.path().join("plain.safetensors")).unwrap();
    let x = x();
    let expected = plain.forward(x.clone()).as_vec();
    loads!(dir, x, expected:
        Sequential<0, Layers>, Sequential<1, Layers>, Sequential<3, Layers>, Sequential<6, Layers>,
        Checkpoint<Layers>, Scoped<Checkpoint<Layers>>, Checkpoint<Sequential<2, Layers>>,
        Sequential<2, Concat<(Linear<4, 5>, Tanh), Concat<(BatchNorm1D<5>,), (Residual<(nn::Dropout, Linear<5, 5>)>, ReLU, Linear<5, 4>)>>>,
        (Checkpoint<Linear<4, 5>>, Tanh, Scoped<BatchNorm1D<5>>, Residual<Checkpoint<(nn::Dropout, Linear<5, 5>)>>, ReLU, Checkpoint<Linear<5, 4>>),
    );
}

/// Not only the same names: the same training goes on.
#[test]
fn a_model_trains_alike_under_any_name_it_has() {
    let rows = |dev: &Cpu| noise::<Rows, E>(dev, Rows::default(), -1.0, 1.0);
    let plain = <Layers as Trains<E, _>>::run(8, None, rows);
    let other = <(
        Checkpoint<Linear<4, 5>>,
        Tanh,
        Scoped<BatchNorm1D<5>>,
        Residual<Checkpoint<(nn::Dropout, Linear<5, 5>)>>,
        ReLU,
        Checkpoint<Linear<5, 4>>,
    ) as Trains<E, _>>::run(8, None, rows);
    plain.assert_same(&other, "names and values");
}
