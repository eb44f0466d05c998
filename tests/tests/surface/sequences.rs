//! `checkpoint_sequential!` in its three positions.

use ckpt_runtime::prelude::*;
use dfdx::{nn::modules, tensor::CpuError};
use tests::compare::{bits, policies, run_with};

use crate::same::{one_function, rows, trains_as, trains_by_reference};

type Cut = checkpoint_sequential!(segments = 3, Linear<4, 6>, ReLU, Linear<6, 6>, Tanh, Linear<6, 2>);
type Each = checkpoint_sequential!(each, Linear<4, 6>, ReLU, Linear<6, 6>, Tanh, Linear<6, 2>);

checkpoint_sequential! {
    segments = 3;
    /// With names.
    #[derive(Clone, Debug, Default)]
    pub struct Named {
        pub first: Linear<4, 6>,
        pub act: ReLU,
        second: Linear<6, 6>,
        r#type: Tanh,
        /// The head.
        pub head: Linear<6, 2>,
    }
}

#[test]
fn as_a_type() {
    trains_as(|dev| dev.build_module::<Cut, f32>(), rows::<4, f32>, |m, x| m.0.try_forward_mut(x));
    trains_as(|dev| dev.build_module::<Each, f32>(), rows::<4, f32>, |m, x| m.0.try_forward_mut(x));
    one_function(|dev| dev.build_module::<Cut, f32>(), rows::<4, f32>, |y| bits(&y), |y| bits(&y));
    trains_by_reference(|dev| dev.build_module::<Cut, f32>(), rows::<4, f32>);
}

#[test]
fn as_a_struct() {
    trains_as(
        |dev| dev.build_module::<Named, f32>(),
        rows::<4, f32>,
        |m, x| {
            let x = m.second.try_forward_mut(m.act.try_forward_mut(m.first.try_forward_mut(x)?)?)?;
            m.head.try_forward_mut(m.r#type.try_forward_mut(x)?)
        },
    );
    one_function(|dev| dev.build_module::<Named, f32>(), rows::<4, f32>, |y| bits(&y), |y| bits(&y));
    trains_by_reference(|dev| dev.build_module::<Named, f32>(), rows::<4, f32>);
}

checkpoint_sequential! {
    each;
    struct Pair(Linear<4, 4>, pub(crate) Sigmoid);
}

checkpoint_sequential! {
    segments = 2, name = "wide", verify;
    struct Sized<const W: usize> {
        into: Linear<4, W>,
        norm: BatchNorm1D<W>,
        drop: nn::Dropout,
        out: Linear<W, 2>,
    }
}

checkpoint_sequential! { keep; struct Kept { a: Linear<4, 4>, b: Tanh } }

#[test]
fn a_struct_takes_options_constants_and_numbered_layers() {
    trains_as(
        |dev| dev.build_module::<(Pair, Kept, Sized<8>), f32>(),
        rows::<4, f32>,
        |m, x| {
            let x = m.0.1.try_forward_mut(m.0.0.try_forward_mut(x)?)?;
            let x = m.1.b.try_forward_mut(m.1.a.try_forward_mut(x)?)?;
            let x = m.2.norm.try_forward_mut(m.2.into.try_forward_mut(x)?)?;
            m.2.out.try_forward_mut(m.2.drop.try_forward_mut(x)?)
        },
    );
}

/// Three layers, one of them with a forward of another kind in training.
#[derive(Clone, Debug)]
struct Hand<E: Dtype, D: Device<E>> {
    a: modules::Linear<4, 4, E, D>,
    norm: modules::BatchNorm1D<4, E, D>,
    b: modules::Linear<4, 4, E, D>,
}

impl<E: Real, D: Device<E>> TensorCollection<E, D> for Hand<E, D> {
    type To<E2: Dtype, D2: Device<E2>> = Hand<E2, D2>;
    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(
            (
                Self::module("a", |s| &s.a, |s| &mut s.a),
                Self::module("norm", |s| &s.norm, |s| &mut s.norm),
                Self::module("b", |s| &s.b, |s| &mut s.b),
            ),
            |(a, norm, b)| Hand { a, norm, b },
        )
    }
}

type Traced<E, D> = Tensor<(usize, Const<4>), E, D, OwnedTape<E, D>>;

impl<E: Real, D: Device<E>> Hand<E, D> {
    fn checkpointed(&mut self, x: Traced<E, D>) -> Result<Traced<E, D>, D::Err> {
        let y = checkpoint_sequential!(segments = 2, x, self.a, &mut self.norm, ReLU, &self.b)?;
        checkpoint_sequential!(each, y, self.a, Tanh)
    }

    fn plain(&mut self, x: Traced<E, D>) -> Result<Traced<E, D>, D::Err> {
        let y = self.norm.try_forward_mut(self.a.try_forward(x)?)?;
        Tanh.try_forward(self.a.try_forward(self.b.try_forward(ReLU.try_forward(y)?)?)?)
    }

    fn infer(&self, x: Tensor<(usize, Const<4>), E, D>) -> Result<Tensor<(usize, Const<4>), E, D>, D::Err> {
        checkpoint_sequential!(segments = 3, x, self.a, self.norm, self.b)
    }
}

fn hand(dev: &Cpu) -> Hand<f32, Cpu> {
    Hand { a: BuildModule::build(dev), norm: BuildModule::build(dev), b: BuildModule::build(dev) }
}

#[test]
fn as_an_expression() {
    let expected = run_with(7, hand, rows::<4, f32>, Hand::plain);
    for (name, policy) in policies() {
        let run = run_with(7, hand, rows::<4, f32>, |m, x| match policy.clone() {
            Some(policy) => with_policy(policy, || m.checkpointed(x)),
            None => m.checkpointed(x),
        });
        run.assert_same(&expected, name);
    }
    let dev = Cpu::seed_from_u64(3);
    let (model, x) = (hand(&dev), rows::<4, f32>(&dev));
    let expected = model.b.forward(model.norm.forward(model.a.forward(x.clone())));
    assert_eq!(bits(&model.infer(x).unwrap()), bits(&expected));
}

#[checkpointed]
#[derive(Clone, Debug)]
struct Inside<E: Dtype, D: Device<E>> {
    #[checkpoint]
    cut: checkpoint_sequential!(segments = 2, modules::Linear<4, 4, E, D>, ReLU, checkpoint_sequential!(each, modules::Linear<4, 4, E, D>, Tanh)),
    #[checkpoint(segments = 2)]
    again: checkpoint_sequential!(each, modules::Linear<4, 4, E, D>, Tanh, modules::Linear<4, 4, E, D>),
}

#[test]
fn in_a_field_and_in_another_sequence() {
    trains_as(
        |dev| dev.build_module::<InsideBuilder, f32>(),
        rows::<4, f32>,
        |m, x| {
            let x = m.cut.0.1.try_forward_mut(m.cut.0.0.try_forward_mut(x)?)?;
            let x = m.cut.0.2.0.try_forward_mut(x)?;
            m.again.0.try_forward_mut(x)
        },
    );
}

/// Longer than any tuple that dfdx knows.
type Long = checkpoint_sequential!(
    segments = 5,
    Linear<4, 5>, Tanh, Linear<5, 6>, Tanh, Linear<6, 5>, Tanh, Linear<5, 4>, Tanh,
    Linear<4, 5>, Tanh, Linear<5, 6>, Tanh, Linear<6, 5>, Tanh, Linear<5, 4>, Tanh,
    Linear<4, 5>, Tanh, Linear<5, 6>, Tanh, Linear<6, 5>, Tanh, Linear<5, 4>, Tanh,
    Linear<4, 3>,
);

type Octet = (Linear<4, 5>, Tanh, Linear<5, 6>, (Tanh, Linear<6, 5>, Tanh), (Linear<5, 4>, Tanh));

#[test]
fn longer_than_a_tuple() {
    // The same layers in the same order, in dfdx's tuples: only the names differ.
    type Grouped = (Octet, Octet, Octet, Linear<4, 3>);
    let expected = run_with(7, |dev| dev.build_module::<Grouped, f32>(), rows::<4, f32>, |m, x| m.try_forward_mut(x));
    for (name, policy) in policies() {
        let run = run_with(
            7,
            |dev| dev.build_module::<Long, f32>(),
            rows::<4, f32>,
            |m, x| match policy.clone() {
                Some(policy) => with_policy(policy, || m.try_forward_mut(x)),
                None => m.try_forward_mut(x),
            },
        );
        run.unnamed().assert_same(&expected.clone().unnamed(), name);
    }
}

#[test]
fn the_number_of_segments_is_chosen_at_run_time() {
    let dev = Cpu::seed_from_u64(1);
    let mut model = dev.build_module::<Cut, f32>();
    let x = rows::<4, f32>(&dev);
    for n in 1..=5 {
        let y: Result<_, CpuError> =
            with_policy(Policy::segments(n), || model.try_forward_mut(x.clone().leaky_trace()));
        y.unwrap().square().mean().backward();
    }
    let refused = with_policy(Policy::segments(6), || model.try_forward_mut(x.leaky_trace()));
    assert!(refused.is_err(), "six segments of five layers");
    let failure = last_failure().unwrap();
    assert_eq!(
        failure.to_string(),
        "region `Sequential` failed in the first pass: it has 5 layers and cannot be cut into 6 segments"
    );
}
