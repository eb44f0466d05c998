//! The image models against PyTorch: the same weights and images give the same logits, loss,
//! gradients and running statistics. `tools/make_models_fixture.py` made the fixtures and says what
//! is in them and how weights and images are made.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;

use ckpt_runtime::prelude::*;
use models::{
    resnet::{ResNet18, ResNet50},
    unet::UNet,
};

/// In f64; PyTorch sums in another order, and ResNet-50 has fifty layers of it.
const TOLERANCE: f64 = 1e-9;

type Pixels<T = NoneTape> = Tensor<(usize, Const<3>, usize, usize), f64, Cpu, T>;
type Taped = OwnedTape<f64, Cpu>;
type Logits<const CLASSES: usize> = Tensor<(usize, Const<CLASSES>), f64, Cpu, Taped>;

/// A vector's length, and its product with noise of its name.
#[derive(Clone, Copy, Debug)]
struct Sketch {
    length: f64,
    product: f64,
}

impl Sketch {
    fn of(name: &str, values: &[f64]) -> Self {
        let noise = noise(&format!("probe.{name}"), values.len());
        Self {
            length: values.iter().map(|v| v * v).sum::<f64>().sqrt(),
            product: values.iter().zip(noise).map(|(v, n)| v * n).sum(),
        }
    }
}

/// The fixture, read.
struct Torch {
    output: Vec<f64>,
    loss: f64,
    gradients: BTreeMap<String, Sketch>,
    buffers: BTreeMap<String, Sketch>,
}

impl Torch {
    fn open(model: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/{model}_torch.txt"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut torch = Self { output: Vec::new(), loss: 0.0, gradients: BTreeMap::new(), buffers: BTreeMap::new() };
        let number = |word: &str| word.parse::<f64>().unwrap();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["output", ref values @ ..] => torch.output = values.iter().map(|v| number(v)).collect(),
                ["loss", value] => torch.loss = number(value),
                [kind, name, length, product] => {
                    let sketches = if kind == "gradient" { &mut torch.gradients } else { &mut torch.buffers };
                    sketches.insert(name.to_owned(), Sketch { length: number(length), product: number(product) });
                }
                _ => panic!("{line}"),
            }
        }
        torch
    }
}

/// Numbers in [-1, 1) that depend on the name: SplitMix64 from the name's FNV-1a hash on.
fn noise(name: &str, count: usize) -> Vec<f64> {
    let fnv = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut state = name.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    (0..count)
        .map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^= z >> 31;
            (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
        .collect()
}

/// Fills a model's tensors, or compares them and their gradients.
enum Walk<'a> {
    Fill,
    Compare { gradients: &'a Gradients<f64, Cpu>, torch: &'a Torch, left: Vec<String> },
}

impl TensorVisitor<f64, Cpu> for Walk<'_> {
    type Viewer = (ViewTensorMut, ViewTensorName);
    type Err = Infallible;
    type E2 = f64;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, f64, Cpu>,
        (tensor, name): (&mut Tensor<S, f64, Cpu>, String),
    ) -> Result<Option<Tensor<S, f64, Cpu>>, Infallible> {
        let dims: Vec<usize> = tensor.shape().concrete().into_iter().collect();
        match self {
            Self::Fill => {
                let (offset, scale) = if dims.len() > 1 {
                    (0.0, (3.0 / dims[1..].iter().product::<usize>() as f64).sqrt())
                } else if name.ends_with("running_var") || name.ends_with("weight") {
                    (1.0, 0.3)
                } else {
                    (0.0, 0.2)
                };
                let values = noise(&name, dims.iter().product());
                tensor.copy_from(&values.into_iter().map(|n| offset + scale * n).collect::<Vec<f64>>());
            }
            Self::Compare { gradients, torch, left } => {
                let (values, sketches) = if options.do_gradient_update {
                    (gradients.get(&*tensor).as_vec(), &torch.gradients)
                } else {
                    (tensor.as_vec(), &torch.buffers)
                };
                let expected = sketches.get(&name).unwrap_or_else(|| panic!("PyTorch has no {name}"));
                let ours = Sketch::of(&name, &values);
                // A weight in front of a norm can have a gradient of nothing but rounding.
                let scale = expected.length.max(1e-3);
                let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * scale;
                assert!(
                    near(ours.length, expected.length) && near(ours.product, expected.product),
                    "{name}: {ours:?}, torch {expected:?}"
                );
                left.retain(|left| *left != name);
            }
        }
        Ok(None)
    }
}

fn walk<M: TensorCollection<f64, Cpu>>(model: &mut M, walk: &mut Walk<'_>) {
    let walked = M::iter_tensors(&mut RecursiveWalker { m: (model, String::new()), f: walk });
    if let Err(never) = walked {
        match never {}
    }
}

/// Asserts that no element is further off than the tolerance of the largest.
fn assert_near(what: &str, ours: &[f64], torch: &[f64]) {
    assert_eq!(ours.len(), torch.len(), "{what}: sizes");
    let scale = torch.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    for (i, (a, b)) in ours.iter().zip(torch).enumerate() {
        assert!((a - b).abs() <= TOLERANCE * scale, "{what}[{i}]: ours {a}, torch {b}, largest {scale}");
    }
}

/// Runs a step of a model with the formula's weights in a mode, and compares all that it gives.
/// `logits` are `[.., class]` of the model's output.
fn check<M, const CLASSES: usize>(
    name: &str,
    (count, height, width): (usize, usize, usize),
    policy: Policy,
    logits: impl Fn(&mut M, Pixels<Taped>) -> (Vec<f64>, Logits<CLASSES>),
) where
    M: BuildModule<Cpu, f64> + TensorCollection<f64, Cpu>,
{
    let torch = Torch::open(name);
    let dev = Cpu::default();
    let mut model = M::build(&dev);
    walk(&mut model, &mut Walk::Fill);
    let pixels = noise("x", count * 3 * height * width).into_iter().map(|n| 1.7 * n).collect();
    let x: Pixels = dev.tensor_from_vec(pixels, (count, Const, height, width));

    let (output, logits) = with_policy(policy, || logits(&mut model, x.leaky_trace()));
    assert_near("output", &output, &torch.output);
    let rows = logits.shape().0;
    let targets = dev.tensor_from_vec((0..rows).map(|i| i * 7 % CLASSES).collect(), (rows,));
    let loss = nn::cross_entropy(logits, targets);
    assert_near("loss", &loss.as_vec(), &[torch.loss]);
    let gradients = loss.backward();

    let names = torch.gradients.keys().chain(torch.buffers.keys()).cloned().collect();
    let mut compare = Walk::Compare { gradients: &gradients, torch: &torch, left: names };
    walk(&mut model, &mut compare);
    let Walk::Compare { left, .. } = compare else { unreachable!("it is what it was made as") };
    assert!(left.is_empty(), "only PyTorch has {left:?}");
}

#[test]
fn resnet18_agrees() {
    for policy in [Policy::plain(), Policy::checkpoint()] {
        check::<ResNet18<10, f64, Cpu>, 10>("resnet18", (2, 12, 12), policy, |model, x| {
            let logits = model.forward_mut(x);
            (logits.as_vec(), logits)
        });
    }
}

#[test]
fn resnet50_agrees() {
    check::<ResNet50<10, f64, Cpu>, 10>("resnet50", (2, 40, 40), Policy::segments(4), |model, x| {
        let logits = model.forward_mut(x);
        (logits.as_vec(), logits)
    });
}

#[test]
fn the_unet_agrees() {
    for policy in [Policy::plain(), Policy::checkpoint()] {
        check::<UNet<2, f64, Cpu>, 2>("unet", (2, 16, 24), policy, |model, x| {
            let output = model.forward_mut(x);
            let values = output.as_vec();
            let rows = values.len() / 2;
            (values, output.permute::<_, Axes4<0, 2, 3, 1>>().reshape_like(&(rows, Const)))
        });
    }
}
