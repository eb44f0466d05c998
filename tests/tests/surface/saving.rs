//! What dfdx does with a module's tensors: saving, loading, moving, optimizing, averaging.

use ckpt_runtime::prelude::*;
use dfdx::{
    nn::modules,
    optim::{Adam, Momentum, Optimizer, Sgd, SgdConfig},
};
use tests::compare::Run;

use crate::same::{Rows, rows};

type Tuple = (Linear<4, 6>, BatchNorm1D<6>, ReLU, Linear<6, 6>, Tanh, Linear<6, 2>);
type One = checkpoint_sequential!(segments = 1, Linear<4, 6>, BatchNorm1D<6>, ReLU, Linear<6, 6>, Tanh, Linear<6, 2>);
type Three = checkpoint_sequential!(segments = 3, Linear<4, 6>, BatchNorm1D<6>, ReLU, Linear<6, 6>, Tanh, Linear<6, 2>);
type Each = checkpoint_sequential!(each, Linear<4, 6>, BatchNorm1D<6>, ReLU, Linear<6, 6>, Tanh, Linear<6, 2>);

/// The tuple's names, as numbered fields.
#[checkpointed]
#[derive(Clone, Debug)]
struct Declared<E: Dtype, D: Device<E>>(
    #[checkpoint] modules::Linear<4, 6, E, D>,
    #[checkpoint] modules::BatchNorm1D<6, E, D>,
    ReLU,
    #[checkpoint(plain)] modules::Linear<6, 6, E, D>,
    Tanh,
    modules::Linear<6, 2, E, D>,
);

/// All tensors, and what the model makes of an input.
fn tensors<M: TensorCollection<f32, Cpu> + Module<Rows<4>, Output = Rows<2>>>(model: &M, x: &Rows<4>) -> Run {
    let mut run = Run::default();
    run.tensors("saved", model);
    run.record("output", &model.forward(x.clone()));
    run
}

fn travels<A, B>(dev: &Cpu, what: &str)
where
    A: BuildOnDevice<Cpu, f32>,
    B: BuildOnDevice<Cpu, f32>,
    A::Built: Module<Rows<4>, Output = Rows<2>> + SaveToNpz<f32, Cpu> + SaveToSafetensors<f32, Cpu>,
    B::Built: Module<Rows<4>, Output = Rows<2>> + LoadFromNpz<f32, Cpu> + LoadFromSafetensors<f32, Cpu>,
{
    let folder = tempfile::tempdir().unwrap();
    let (npz, safetensors) = (folder.path().join("m.npz"), folder.path().join("m.safetensors"));
    let from = A::build_on_device(dev);
    let x = rows::<4, f32>(dev);
    from.save(&npz).unwrap();
    from.save_safetensors(&safetensors).unwrap();
    let expected = tensors(&from, &x);

    let mut to = B::build_on_device(dev);
    assert!(tensors(&to, &x).difference(&expected).is_some(), "{what}: built anew");
    to.load(&npz).unwrap();
    tensors(&to, &x).assert_same(&expected, &format!("{what}, npz"));
    let mut to = B::build_on_device(dev);
    to.load_safetensors(&safetensors).unwrap();
    tensors(&to, &x).assert_same(&expected, &format!("{what}, safetensors"));
}

#[test]
fn weights_load_from_the_plain_tuple_into_every_segmentation_and_back() {
    let dev = Cpu::seed_from_u64(5);
    travels::<Tuple, One>(&dev, "tuple to one segment");
    travels::<Tuple, Three>(&dev, "tuple to three");
    travels::<Tuple, Each>(&dev, "tuple to each");
    travels::<Tuple, DeclaredBuilder>(&dev, "tuple to declared");
    travels::<Each, Tuple>(&dev, "each to tuple");
    travels::<Three, One>(&dev, "three to one");
    travels::<DeclaredBuilder, Three>(&dev, "declared to three");
}

#[checkpointed]
#[derive(Clone, Debug)]
struct Outer<E: Dtype, D: Device<E>> {
    #[checkpoint]
    stem: modules::Linear<4, 6, E, D>,
    #[checkpoint(segments = 2)]
    r#loop: Repeated<Inner<E, D>, 2>,
    norm: modules::BatchNorm1D<6, E, D>,
}

#[checkpointed(allow(whole_model))]
#[derive(Clone, Debug)]
struct Inner<E: Dtype, D: Device<E>> {
    #[checkpoint]
    ff: (modules::Linear<6, 6, E, D>, Tanh),
}

#[test]
fn tensors_are_named_by_their_fields() {
    let dev = Cpu::default();
    let model = dev.build_module::<OuterBuilder, f32>();
    let gradients = model.alloc_grads();
    let names: Vec<_> = tests::gradients::by_name(&model, &gradients).into_keys().collect();
    assert_eq!(
        names,
        [
            "loop.0.ff.0.bias",
            "loop.0.ff.0.weight",
            "loop.1.ff.0.bias",
            "loop.1.ff.0.weight",
            "norm.bias",
            "norm.scale",
            "stem.bias",
            "stem.weight"
        ]
    );
    assert_eq!(model.num_trainable_params(), 4 * 6 + 6 + 2 * (6 * 6 + 6) + 2 * 6);
}

#[test]
fn a_model_moves_between_dtypes() {
    let dev = Cpu::seed_from_u64(2);
    let model = dev.build_module::<OuterBuilder, f32>();
    let there: Outer<f64, Cpu> = model.to_dtype::<f64>();
    let back: Outer<f32, Cpu> = there.to_dtype::<f32>();
    let again: Outer<f32, Cpu> = back.to_device(&dev);
    let (mut a, mut b) = (Run::default(), Run::default());
    a.tensors("moved", &again);
    b.tensors("moved", &model);
    a.assert_same(&b, "f32 to f64 and back");
}

#[test]
fn an_average_follows_the_weights() {
    let dev = Cpu::seed_from_u64(2);
    let model = dev.build_module::<OuterBuilder, f32>();
    let mut average = dev.build_module::<OuterBuilder, f32>();
    average.ema(&model, 0.0);
    let (mut a, mut b) = (Run::default(), Run::default());
    a.record("stem", &average.stem.weight);
    a.record("loop", &average.r#loop.modules[1].ff.0.weight);
    b.record("stem", &model.stem.weight);
    b.record("loop", &model.r#loop.modules[1].ff.0.weight);
    a.assert_same(&b, "decay 0 copies");
}

/// Trains a declared model and the plain tuple of the same weights with one of dfdx's optimizers.
macro_rules! optimizes {
    ($($name:ident: $optimizer:expr;)+) => { $(
        #[test]
        fn $name() {
            let dev = Cpu::seed_from_u64(4);
            let mut plain = dev.build_module::<Tuple, f32>();
            let mut model = Cpu::seed_from_u64(4).build_module::<DeclaredBuilder, f32>();
            let (mut plain_optimizer, mut optimizer) = ($optimizer(&plain), $optimizer(&model));
            let (mut plain_gradients, mut gradients) = (plain.alloc_grads(), model.alloc_grads());
            for step in 0..4 {
                let x = rows::<4, f32>(&dev);
                plain_gradients = plain.forward_mut(x.clone().traced(plain_gradients)).square().mean().backward();
                gradients = model.forward_mut(x.traced(gradients)).square().mean().backward();
                plain_optimizer.update(&mut plain, &plain_gradients).unwrap();
                optimizer.update(&mut model, &gradients).unwrap();
                if step % 2 == 1 {
                    plain.zero_grads(&mut plain_gradients);
                    model.zero_grads(&mut gradients);
                }
                let (mut a, mut b) = (Run::default(), Run::default());
                a.tensors("updated", &plain);
                b.tensors("updated", &model);
                b.assert_same(&a, &format!("step {step}"));
            }
        }
    )+ };
}
optimizes! {
    sgd_updates_every_tensor: |m: &_| sgd(m);
    adam_updates_every_tensor: |m: &_| Adam::new(m, Default::default());
}

fn sgd<M: TensorCollection<f32, Cpu>>(model: &M) -> Sgd<M, f32, Cpu> {
    Sgd::new(model, SgdConfig { lr: 0.1, momentum: Some(Momentum::Nesterov(0.9)), weight_decay: None })
}

#[test]
fn a_file_of_another_shape_is_refused() {
    let dev = Cpu::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.npz");
    dev.build_module::<(Linear<4, 6>, Linear<6, 3>), f32>().save(&path).unwrap();
    assert!(dev.build_module::<DeclaredBuilder, f32>().load(&path).is_err());
}
