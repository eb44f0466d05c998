//! What the comparisons with PyTorch share: its fixtures, and a layer's run on one.
// Each test uses a part of it.
#![allow(dead_code)]

use std::convert::Infallible;

use ::safetensors::SafeTensors;
use ckpt_runtime::prelude::*;

/// A fixture, read.
pub struct Torch(Vec<u8>);

impl Torch {
    pub fn open(name: &str) -> Self {
        Self(std::fs::read(format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap())
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        let file = SafeTensors::deserialize(&self.0).unwrap();
        file.tensor(name).unwrap_or_else(|e| panic!("{name}: {e}")).data().to_vec()
    }

    fn words(&self, name: &str) -> impl Iterator<Item = [u8; 8]> {
        self.bytes(name).chunks_exact(8).map(|b| b.try_into().unwrap()).collect::<Vec<_>>().into_iter()
    }

    pub fn floats(&self, name: &str) -> Vec<f64> {
        self.words(name).map(f64::from_le_bytes).collect()
    }

    pub fn tensor<S: ConstShape, E: Dtype>(&self, dev: &Cpu, name: &str) -> Tensor<S, E, Cpu> {
        let values = self.floats(name).into_iter().map(|v| E::from_f64(v).unwrap()).collect();
        dev.tensor_from_vec(values, S::default())
    }

    pub fn indices<S: ConstShape>(&self, dev: &Cpu, name: &str) -> Tensor<S, usize, Cpu> {
        let values = self.words(name).map(|b| usize::try_from(i64::from_le_bytes(b)).unwrap()).collect();
        dev.tensor_from_vec(values, S::default())
    }
}

/// Asserts that no element is further off than `tolerance` of the tensor's largest.
pub fn assert_near<E: Dtype>(what: &str, ours: &[E], torch: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), torch.len(), "{what}: sizes");
    let scale = torch.iter().fold(1e-3_f64, |m, v| m.max(v.abs()));
    for (i, (a, b)) in ours.iter().zip(torch).enumerate() {
        let a = a.to_f64().unwrap();
        assert!((a - b).abs() <= tolerance * scale, "{what}[{i}]: ours {a}, torch {b}, largest {scale}");
    }
}

/// Fills every tensor with the fixture's of that name.
pub struct Load<'a> {
    pub torch: &'a Torch,
}

impl<E: Dtype> TensorVisitor<E, Cpu> for Load<'_>
where
    Cpu: Device<E>,
{
    type Viewer = (ViewTensorMut, ViewTensorName);
    type Err = Infallible;
    type E2 = E;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, E, Cpu>,
        (tensor, name): (&mut Tensor<S, E, Cpu>, String),
    ) -> Result<Option<Tensor<S, E, Cpu>>, Infallible> {
        let values: Vec<E> = self.torch.floats(&name).into_iter().map(|v| E::from_f64(v).unwrap()).collect();
        tensor.copy_from(&values);
        Ok(None)
    }
}

/// Compares every trained tensor's gradient with the fixture's, and what training made of the others.
struct Compare<'a, E: Dtype>
where
    Cpu: Device<E>,
{
    torch: &'a Torch,
    case: &'a str,
    gradients: &'a Gradients<E, Cpu>,
    tolerance: f64,
}

impl<E: Dtype> TensorVisitor<E, Cpu> for Compare<'_, E>
where
    Cpu: Device<E>,
{
    type Viewer = (ViewTensorRef, ViewTensorName);
    type Err = Infallible;
    type E2 = E;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, Cpu>,
        (tensor, name): (&Tensor<S, E, Cpu>, String),
    ) -> Result<Option<Tensor<S, E, Cpu>>, Infallible> {
        let name = name.strip_prefix(self.case).and_then(|n| n.strip_prefix('.')).unwrap();
        let trained = options.do_gradient_update;
        let ours = if trained { self.gradients.get(tensor).as_vec() } else { tensor.as_vec() };
        let kind = if trained { "grad" } else { "after" };
        let of_torch = self.torch.floats(&format!("{}.{kind}.{name}", self.case));
        assert_near(&format!("{} {name}", self.case), &ours, &of_torch, self.tolerance);
        Ok(None)
    }
}

pub const INFALLIBLE: &str = "visits that cannot fail";

/// Loads a layer built as `B`, whose names in the fixture start with `prefix`, from a case, runs it
/// with `run` from an input to an output on the tape, and compares output and gradients.
pub fn case<B, E, S, X>(
    torch: &Torch,
    case: &str,
    prefix: &str,
    tolerance: f64,
    run: impl FnOnce(&Torch, &Cpu, &mut B::Built) -> (Tensor<S, E, Cpu, OwnedTape<E, Cpu>>, X),
) where
    E: Dtype,
    S: Shape,
    Cpu: Device<E>,
    B: BuildOnDevice<Cpu, E>,
    B::Built: TensorCollection<E, Cpu>,
    X: FnOnce(&Gradients<E, Cpu>) -> Vec<(&'static str, Vec<E>)>,
{
    let dev = Cpu::default();
    let mut layer = B::build_on_device(&dev);
    let prefix = format!("{case}{prefix}");
    B::Built::iter_tensors(&mut RecursiveWalker { m: (&mut layer, prefix.clone()), f: &mut Load { torch } })
        .expect(INFALLIBLE);
    let (y, inputs) = run(torch, &dev, &mut layer);
    assert_near(&format!("{case} y"), &y.as_vec(), &torch.floats(&format!("{case}.y")), tolerance);
    let d = torch.floats(&format!("{case}.d")).into_iter().map(|v| E::from_f64(v).unwrap()).collect();
    let d = dev.tensor_from_vec(d, *y.shape());
    let gradients = (y * d).sum().backward();
    let mut compare = Compare { torch, case, gradients: &gradients, tolerance };
    B::Built::iter_tensors(&mut RecursiveWalker { m: (&layer, prefix), f: &mut compare }).expect(INFALLIBLE);
    for (name, gradient) in inputs(&gradients) {
        assert_near(&format!("{case} {name}"), &gradient, &torch.floats(&format!("{case}.grad.{name}")), tolerance);
    }
}
