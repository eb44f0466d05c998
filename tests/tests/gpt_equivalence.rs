//! The declared GPT against the one written by hand: equal to the bit, in every mode.

use ckpt_runtime::prelude::*;
use dfdx::optim::Adam;
use models::loss::token_cross_entropy;
use tests::{gradients, plain_gpt};

const LAYERS: usize = 4;
const VOCAB: usize = 13;
const SEQ: usize = 6;

type Declared<E> = models::gpt::Gpt<LAYERS, VOCAB, SEQ, 16, 4, 24, E, Cpu>;
type Plain<E> = plain_gpt::Gpt<LAYERS, VOCAB, SEQ, 16, 4, 24, E, Cpu>;
type Tokens<T = NoneTape> = Tensor<(usize, Const<SEQ>), usize, Cpu, T>;
type Logits<E, T> = Tensor<(usize, Const<SEQ>, Const<VOCAB>), E, Cpu, T>;

fn modes() -> Vec<Policy> {
    let mut modes = vec![Policy::plain(), Policy::keep(), Policy::checkpoint()];
    modes.extend((1..=LAYERS).map(Policy::segments));
    modes
}

fn tokens(dev: &Cpu, step: usize) -> Tokens {
    let values = (0..3 * SEQ).map(|i| (i * i * 7 + i + step) % VOCAB).collect();
    dev.tensor_from_vec(values, (3, Const))
}

/// A few steps of Adam, with what each gave: the loss and all gradients, as text without rounding.
fn train<E, M>(dev: &Cpu, mut model: M) -> Vec<String>
where
    E: Real,
    Cpu: Device<E>,
    M: TensorCollection<E, Cpu> + ModuleMut<Tokens<OwnedTape<E, Cpu>>, Output = Logits<E, OwnedTape<E, Cpu>>>,
{
    let mut adam = Adam::new(&model, AdamConfig::default());
    (0..3)
        .map(|step| {
            let input = tokens(dev, step).traced(model.alloc_grads());
            let loss = token_cross_entropy(model.forward_mut(input), tokens(dev, step + 1));
            let value = loss.array();
            let gradients = loss.backward();
            let seen = format!("{value:?} {:?}", gradients::by_name(&model, &gradients));
            adam.update(&mut model, &gradients).unwrap();
            seen
        })
        .collect()
}

fn compare<E: Real>()
where
    Cpu: Device<E>,
    Plain<E>: ModuleMut<Tokens<OwnedTape<E, Cpu>>, Output = Logits<E, OwnedTape<E, Cpu>>>,
    Declared<E>: ModuleMut<Tokens<OwnedTape<E, Cpu>>, Output = Logits<E, OwnedTape<E, Cpu>>>,
{
    let seeded = || Cpu::seed_from_u64(5);
    let expected = train(&seeded(), Plain::<E>::build(&seeded()));
    for policy in modes() {
        let trained = with_policy(policy.clone(), || train(&seeded(), Declared::<E>::build(&seeded())));
        for (step, (ours, expected)) in trained.iter().zip(&expected).enumerate() {
            assert!(ours == expected, "{policy:?} differs in step {step}:\n{ours}\n{expected}");
        }
    }
}

#[test]
fn every_mode_trains_as_the_plain_model_in_f32() {
    compare::<f32>();
}

#[test]
fn every_mode_trains_as_the_plain_model_in_f64() {
    compare::<f64>();
}

#[test]
fn dropout_draws_the_same_in_every_mode() {
    let run = |policy| {
        let dev = Cpu::seed_from_u64(7);
        let mut model = Declared::<f32>::build(&dev);
        model.set_dropout(0.3);
        let seen = with_policy(policy, || train(&dev, model));
        (seen, dev.random_u64())
    };
    let plain = run(Policy::plain());
    let without = train(&Cpu::seed_from_u64(7), Declared::<f32>::build(&Cpu::seed_from_u64(7)));
    assert_ne!(plain.0, without, "dropout drops something");
    for policy in modes() {
        assert!(run(policy.clone()) == plain, "{policy:?} differs");
    }
}

#[test]
fn a_model_without_dropout_draws_nothing() {
    let dev = Cpu::seed_from_u64(7);
    let model = Declared::<f32>::build(&dev);
    train(&dev, model);
    let untouched = Cpu::seed_from_u64(7);
    let _ = Declared::<f32>::build(&untouched);
    assert_eq!(dev.random_u64(), untouched.random_u64());
}

#[test]
fn inference_agrees_with_training_and_with_the_plain_model() {
    let dev = Cpu::seed_from_u64(3);
    let plain = Plain::<f32>::build(&Cpu::seed_from_u64(3));
    let model = Declared::<f32>::build(&dev);
    let logits = model.forward(tokens(&dev, 0));
    assert_eq!(logits.as_vec(), plain.forward(tokens(&dev, 0)).as_vec());
    let taped = model.forward(tokens(&dev, 0).leaky_traced());
    assert_eq!(logits.as_vec(), taped.as_vec());
}
