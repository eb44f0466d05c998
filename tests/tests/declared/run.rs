//! A training run of an erased model, written down.

use ckpt_runtime::{last_failure, with_policy};
use dfdx::{prelude::*, tensor::RandomU64};
use tests::compare::Run;

use crate::prelude::{Case, Model, Policy, Rows, Visitor};

/// Which forward runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Forward {
    Plain,
    Declared,
}

/// Two steps with an update between them: one that keeps every gradient, the input's too, and one as
/// in training, with those of the parameters.
pub fn training(case: &Case, policy: Option<Policy>, which: Forward) -> Run {
    let mut run = Run::default();
    let dev = Cpu::seed_from_u64(11);
    let mut model = (case.build)(&dev);
    for step in 0..2 {
        let x = rows(&dev);
        let traced = x.clone().traced(if step == 0 { Gradients::leaky() } else { model.fresh_gradients() });
        let y = match (&policy, which) {
            (_, Forward::Plain) => model.plain(traced),
            (None, Forward::Declared) => model.forward(traced),
            (Some(policy), Forward::Declared) => with_policy(policy.clone(), || model.forward(traced)),
        };
        let y = y.unwrap_or_else(|e| panic!("{}, forward: {e}: {:?}", case.name, last_failure()));
        run.record(format!("step {step}: output"), &y);
        let loss: Tensor<Rank0, f32, Cpu, OwnedTape<f32, Cpu>> = y.sin().mean();
        assert!(loss.array().is_finite(), "{}: the loss is {}", case.name, loss.array());
        let mut gradients =
            loss.try_backward().unwrap_or_else(|e| panic!("{}, backward: {e}: {:?}", case.name, last_failure()));
        // Nothing may have reached it.
        gradients.try_alloc_for(&x).unwrap();
        run.record(format!("step {step}: gradient of the input"), &gradients.get(&x));
        write_down(&mut *model, &mut gradients, step, &mut run);
        descend(&mut *model, &mut gradients);
    }
    run.words("the random stream's next word", vec![dev.random_u64()]);
    run
}

/// Inference must give what training gives.
pub fn inference(case: &Case) {
    let dev = Cpu::seed_from_u64(12);
    let mut model = (case.build)(&dev);
    let x = rows(&dev);
    let trained = model.forward(x.clone().leaky_trace()).unwrap().as_vec();
    let inferred = model.infer(x).unwrap().as_vec();
    assert!(trained.iter().zip(&inferred).all(|(a, b)| a.to_bits() == b.to_bits()), "{}", case.name);
}

fn rows(dev: &Cpu) -> Rows {
    dev.sample_like(&(3, Const), rand_distr::Uniform::new(-1.0, 1.0))
}

fn write_down(model: &mut dyn Model, gradients: &mut Gradients<f32, Cpu>, step: usize, run: &mut Run) {
    let bits = |v: &[f32]| v.iter().map(|v| v.to_bits().into()).collect::<Vec<u64>>();
    model.visit(&mut Visitor {
        gradients: Some(gradients),
        visit: &mut |name, _, values, gradient| {
            run.words(format!("step {step}: {name}"), bits(values));
            if let Some(gradient) = gradient {
                run.words(format!("step {step}: gradient of {name}"), bits(&gradient));
            }
        },
    });
}

fn descend(model: &mut dyn Model, gradients: &mut Gradients<f32, Cpu>) {
    model.visit(&mut Visitor {
        gradients: Some(gradients),
        visit: &mut |_, _, values, gradient| {
            for (value, gradient) in values.iter_mut().zip(gradient.unwrap_or_default()) {
                *value -= 0.05 * gradient;
            }
        },
    });
}
