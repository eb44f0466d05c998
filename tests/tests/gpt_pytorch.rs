//! The GPT against PyTorch: the same weights and batch give the same logits, loss and gradients.
//! `tools/make_gpt_fixture.py` made the fixture and says what is in it.

use std::path::PathBuf;

use ::safetensors::SafeTensors;
use ckpt_runtime::prelude::*;
use models::loss::token_cross_entropy;
use tests::{gradients, plain_gpt};

const VOCAB: usize = 11;
const SEQ: usize = 8;
const BATCH: usize = 2;

type DeclaredGpt<E> = models::gpt::Gpt<2, VOCAB, SEQ, 16, 2, 32, E, Cpu>;
type PlainGpt<E> = plain_gpt::Gpt<2, VOCAB, SEQ, 16, 2, 32, E, Cpu>;
type Tokens<T = NoneTape> = Tensor<(usize, Const<SEQ>), usize, Cpu, T>;
type Logits<E, T> = Tensor<(usize, Const<SEQ>, Const<VOCAB>), E, Cpu, T>;

/// The fixture, read.
struct Torch(Vec<u8>);

impl Torch {
    fn path() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/gpt_torch.safetensors")
    }

    fn open() -> Self {
        Self(std::fs::read(Self::path()).unwrap())
    }

    fn bytes(&self, name: &str) -> Vec<[u8; 8]> {
        let file = SafeTensors::deserialize(&self.0).unwrap();
        let tensor = file.tensor(name).unwrap();
        tensor.data().chunks_exact(8).map(|b| b.try_into().unwrap()).collect()
    }

    fn floats(&self, name: &str) -> Vec<f64> {
        self.bytes(name).into_iter().map(f64::from_le_bytes).collect()
    }

    fn indices(&self, dev: &Cpu, name: &str) -> Tokens {
        let values = self.bytes(name).into_iter();
        let values: Vec<usize> = values.map(|b| usize::try_from(i64::from_le_bytes(b)).unwrap()).collect();
        dev.tensor_from_vec(values, (BATCH, Const))
    }

    fn gradient_names(&self) -> Vec<String> {
        let file = SafeTensors::deserialize(&self.0).unwrap();
        let mut names: Vec<String> =
            file.names().into_iter().filter_map(|n| n.strip_prefix("grad.").map(str::to_owned)).collect();
        names.sort();
        names
    }
}

/// Asserts that no element is further off than `tolerance` of the tensor's largest.
fn assert_near<E: Dtype>(what: &str, ours: &[E], torch: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), torch.len(), "{what}: sizes");
    let scale = torch.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    for (i, (a, b)) in ours.iter().zip(torch).enumerate() {
        let a = a.to_f64().unwrap();
        assert!((a - b).abs() <= tolerance * scale, "{what}[{i}]: ours {a}, torch {b}, largest {scale}");
    }
}

fn check<E, M>(dev: &Cpu, mut model: M, tolerance: f64)
where
    E: Dtype,
    Cpu: Device<E>,
    M: TensorCollection<E, Cpu> + ModuleMut<Tokens<OwnedTape<E, Cpu>>, Output = Logits<E, OwnedTape<E, Cpu>>>,
{
    let torch = Torch::open();
    let tokens = torch.indices(dev, "tokens");
    let targets = torch.indices(dev, "targets");

    let logits = model.forward_mut(tokens.traced(model.alloc_grads()));
    assert_near("logits", &logits.as_vec(), &torch.floats("logits"), tolerance);
    let loss = token_cross_entropy(logits, targets);
    assert_near("loss", &loss.as_vec(), &torch.floats("loss"), tolerance);

    let ours = gradients::by_name(&model, &loss.backward());
    assert_eq!(
        ours.keys().cloned().collect::<Vec<_>>(),
        torch.gradient_names(),
        "every parameter has a gradient in the fixture, and the other way round"
    );
    for (name, gradient) in &ours {
        let torch = torch.floats(&format!("grad.{name}"));
        // A key's bias moves every score of a row alike and softmax cancels it: what is left of
        // its gradient is rounding, with no scale of its own.
        if name.ends_with("attn.k.bias") {
            assert!(gradient.iter().all(|g| g.to_f64().unwrap().abs() < tolerance), "{name}");
        } else {
            assert_near(name, gradient, &torch, tolerance);
        }
    }
}

/// The fixture's weights in a model of f64.
fn loaded<M>(dev: &Cpu) -> M
where
    M: TensorCollection<f64, Cpu, To<f64, Cpu> = M>,
{
    let mut model = M::build(dev);
    model.load_safetensors(Torch::path()).unwrap();
    model
}

#[test]
fn the_plain_gpt_agrees() {
    let dev = Cpu::default();
    let model = loaded::<PlainGpt<f64>>(&dev);
    check(&dev, model.to_dtype::<f32>(), 1e-5);
    check(&dev, model, 1e-12);
}

#[test]
fn the_declared_gpt_agrees_in_every_mode() {
    let dev = Cpu::default();
    let model = loaded::<DeclaredGpt<f64>>(&dev);
    for policy in [Policy::plain(), Policy::keep(), Policy::checkpoint(), Policy::segments(1), Policy::segments(2)] {
        with_policy(policy, || {
            check(&dev, model.to_dtype::<f32>(), 1e-5);
            check(&dev, model.clone(), 1e-12);
        });
    }
}
