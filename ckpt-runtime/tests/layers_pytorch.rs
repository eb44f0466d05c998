//! The layers of `nn` against PyTorch: the same parameters, under the same names, and the same input
//! give the same output and gradients. `tools/make_layers_fixture.py` made the fixture and says
//! what is in it.

use std::convert::Infallible;

use ::safetensors::SafeTensors;
use ckpt_runtime::{nn, prelude::*};
#[cfg(feature = "f16")]
use dfdx::dtypes::f16;

/// The fixtures, read.
struct Torch(Vec<Vec<u8>>);

impl Torch {
    fn open() -> Self {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let files = ["layers_torch.safetensors", "conv_torch.safetensors"];
        Self(files.map(|file| std::fs::read(folder.join(file)).unwrap()).into())
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        let files = self.0.iter().map(|file| SafeTensors::deserialize(file).unwrap());
        let tensor = files.flat_map(|file| file.tensor(name).map(|t| t.data().to_vec())).next();
        tensor.unwrap_or_else(|| panic!("no {name} in the fixtures"))
    }

    fn words(&self, name: &str) -> impl Iterator<Item = [u8; 8]> {
        self.bytes(name).chunks_exact(8).map(|b| b.try_into().unwrap()).collect::<Vec<_>>().into_iter()
    }

    fn floats(&self, name: &str) -> Vec<f64> {
        self.words(name).map(f64::from_le_bytes).collect()
    }

    fn tensor<S: ConstShape, E: Dtype>(&self, dev: &Cpu, name: &str) -> Tensor<S, E, Cpu> {
        let values = self.floats(name).into_iter().map(|v| E::from_f64(v).unwrap()).collect();
        dev.tensor_from_vec(values, S::default())
    }

    fn indices<S: ConstShape>(&self, dev: &Cpu, name: &str) -> Tensor<S, usize, Cpu> {
        let values = self.words(name).map(|b| usize::try_from(i64::from_le_bytes(b)).unwrap()).collect();
        dev.tensor_from_vec(values, S::default())
    }
}

/// Asserts that no element is further off than `tolerance` of the tensor's largest.
fn assert_near<E: Dtype>(what: &str, ours: &[E], torch: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), torch.len(), "{what}: sizes");
    let scale = torch.iter().fold(1e-3_f64, |m, v| m.max(v.abs()));
    for (i, (a, b)) in ours.iter().zip(torch).enumerate() {
        let a = a.to_f64().unwrap();
        assert!((a - b).abs() <= tolerance * scale, "{what}[{i}]: ours {a}, torch {b}, largest {scale}");
    }
}

/// Fills every tensor with the fixture's of that name.
struct Load<'a> {
    torch: &'a Torch,
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

/// Compares every tensor's gradient with the fixture's.
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
        _: TensorOptions<S, E, Cpu>,
        (tensor, name): (&Tensor<S, E, Cpu>, String),
    ) -> Result<Option<Tensor<S, E, Cpu>>, Infallible> {
        let name = name.strip_prefix(self.case).and_then(|n| n.strip_prefix('.')).unwrap();
        let of_torch = self.torch.floats(&format!("{}.grad.{name}", self.case));
        assert_near(&format!("{} {name}", self.case), &self.gradients.get(tensor).as_vec(), &of_torch, self.tolerance);
        Ok(None)
    }
}

const INFALLIBLE: &str = "visits that cannot fail";

/// Loads a layer built as `B`, whose names in the fixture start with `prefix`, from a case, runs it
/// with `run` from an input to an output on the tape, and compares output and gradients.
fn case<B, E, S, X>(
    case: &str,
    prefix: &str,
    tolerance: f64,
    run: impl FnOnce(&Torch, &Cpu, &B::Built) -> (Tensor<S, E, Cpu, OwnedTape<E, Cpu>>, X),
) where
    E: Dtype,
    S: ConstShape,
    Cpu: Device<E>,
    B: BuildOnDevice<Cpu, E>,
    B::Built: TensorCollection<E, Cpu>,
    X: FnOnce(&Gradients<E, Cpu>) -> Vec<(&'static str, Vec<E>)>,
{
    let (torch, dev) = (Torch::open(), Cpu::default());
    let mut layer = B::build_on_device(&dev);
    let prefix = format!("{case}{prefix}");
    B::Built::iter_tensors(&mut RecursiveWalker { m: (&mut layer, prefix.clone()), f: &mut Load { torch: &torch } })
        .expect(INFALLIBLE);
    let (y, inputs) = run(&torch, &dev, &layer);
    assert_near(&format!("{case} y"), &y.as_vec(), &torch.floats(&format!("{case}.y")), tolerance);
    let gradients = (y * torch.tensor::<S, E>(&dev, &format!("{case}.d"))).sum().backward();
    let mut compare = Compare { torch: &torch, case, gradients: &gradients, tolerance };
    B::Built::iter_tensors(&mut RecursiveWalker { m: (&layer, prefix), f: &mut compare }).expect(INFALLIBLE);
    for (name, gradient) in inputs(&gradients) {
        assert_near(&format!("{case} {name}"), &gradient, &torch.floats(&format!("{case}.grad.{name}")), tolerance);
    }
}

/// A case with one input of shape `$X`, in every dtype.
macro_rules! simple {
    ($($test:ident: $name:literal $prefix:literal $Layer:ty, $X:ty;)*) => { $(
        #[test]
        fn $test() {
            simple!(@one f64 1e-13 $name $prefix $Layer, $X);
            simple!(@one f32 5e-6 $name $prefix $Layer, $X);
            // Composed of dfdx's operations.
            #[cfg(feature = "f16")]
            simple!(@one f16 3e-2 $name $prefix $Layer, $X);
        }
    )* };
    (@one $E:ident $tolerance:literal $name:literal $prefix:literal $Layer:ty, $X:ty) => {
        case::<$Layer, $E, _, _>($name, $prefix, $tolerance, |torch, dev, layer| {
            let x: Tensor<$X, $E, Cpu> = torch.tensor(dev, concat!($name, ".x"));
            (layer.forward(x.leaky_trace()), move |g: &Gradients<$E, Cpu>| vec![("x", g.get(&x).as_vec())])
        })
    };
}
simple! {
    linear: "linear" "" nn::Linear<5, 3>, Rank3<2, 4, 5>;
    gelu: "gelu" "" nn::Gelu, Rank2<3, 7>;
    relu: "relu" "" nn::Relu, Rank2<3, 7>;
    silu: "silu" "" nn::Silu, Rank2<3, 7>;
    linear_then_gelu: "linear_gelu" ".0" nn::LinearAct<5, 3, nn::Gelu>, Rank2<4, 5>;
    linear_then_relu: "linear_relu" ".0" nn::LinearAct<5, 3, nn::Relu>, Rank2<4, 5>;
    linear_then_silu: "linear_silu" ".0" nn::LinearAct<5, 3, nn::Silu>, Rank2<4, 5>;
    gelu_then_linear: "gelu_linear" ".1" nn::ActLinear<nn::Gelu, 5, 3>, Rank2<4, 5>;
    relu_then_linear: "relu_linear" ".1" nn::ActLinear<nn::Relu, 5, 3>, Rank2<4, 5>;
    silu_then_linear: "silu_linear" ".1" nn::ActLinear<nn::Silu, 5, 3>, Rank2<4, 5>;
    layer_norm: "layer_norm" "" nn::LayerNorm<6>, Rank2<4, 6>;
    rms_norm: "rms_norm" "" nn::RmsNorm<6>, Rank2<4, 6>;
    self_attention: "self_attention" "" nn::MultiHeadAttention<8, 2>, Rank3<2, 5, 8>;
    causal_attention: "causal_attention" "" nn::MultiHeadAttention<8, 2, f32, Cpu, true>, Rank3<2, 5, 8>;
}

/// A case of an image layer, which gives a height and width known as the program runs.
macro_rules! images {
    ($($test:ident: $Layer:ty, $X:ty => $Y:ty;)*) => { $(
        #[test]
        fn $test() {
            images!(@one f64 1e-13 $test $Layer, $X => $Y);
            images!(@one f32 5e-6 $test $Layer, $X => $Y);
        }
    )* };
    (@one $E:ident $tolerance:literal $test:ident $Layer:ty, $X:ty => $Y:ty) => {
        case::<$Layer, $E, _, _>(stringify!($test), "", $tolerance, |torch, dev, layer| {
            let x: Tensor<$X, $E, Cpu> = torch.tensor(dev, concat!(stringify!($test), ".x"));
            let y = layer.forward(x.leaky_trace()).reshape_like(&<$Y>::default());
            (y, move |g: &Gradients<$E, Cpu>| vec![("x", g.get(&x).as_vec())])
        })
    };
}
images! {
    conv2d: nn::Conv2d<3, 4, 3, 2, 1>, Rank4<2, 3, 6, 7> => Rank4<2, 4, 3, 4>;
    conv2d_dilated: nn::Conv2d<4, 6, 3, 1, 2, 2, 2>, Rank4<2, 4, 5, 6> => Rank4<2, 6, 5, 6>;
    conv2d_depthwise: nn::Conv2d<5, 5, 3, 1, 1, 1, 5>, Rank4<1, 5, 4, 6> => Rank4<1, 5, 4, 6>;
    conv2d_pointwise: nn::Conv2d<3, 5, 1>, Rank4<2, 3, 4, 3> => Rank4<2, 5, 4, 3>;
    conv2d_transformed: nn::Conv2d<16, 16, 3, 1, 1>, Rank4<1, 16, 6, 5> => Rank4<1, 16, 6, 5>;
    conv_transpose2d: nn::ConvTranspose2d<3, 4, 3, 2, 1, 1>, Rank4<2, 3, 4, 3> => Rank4<2, 4, 8, 6>;
    conv_transpose2d_dilated: nn::ConvTranspose2d<4, 6, 2, 1, 0, 0, 2, 2>, Rank4<1, 4, 3, 4> => Rank4<1, 6, 5, 6>;
}

#[test]
fn cross_attention_with_padding() {
    case::<nn::MultiHeadAttention<8, 2>, f64, _, _>("cross_attention", "", 1e-13, |torch, dev, layer| {
        let x: Tensor<Rank3<2, 5, 8>, f64, Cpu> = torch.tensor(dev, "cross_attention.x");
        let memory: Tensor<Rank3<2, 3, 8>, f64, Cpu> = torch.tensor(dev, "cross_attention.memory");
        let padding = torch.bytes("cross_attention.padding").into_iter().map(|b| b == 1).collect();
        let padding: Tensor<Rank2<2, 3>, bool, _> = dev.tensor_from_vec(padding, Default::default());
        let y = layer.forward((x.leaky_trace(), memory.leaky_trace(), padding));
        (y, move |g: &Gradients<f64, Cpu>| vec![("x", g.get(&x).as_vec()), ("memory", g.get(&memory).as_vec())])
    });
}

#[test]
fn embedding() {
    case::<nn::Embedding<7, 4>, f64, _, _>("embedding", "", 1e-15, |torch, dev, layer| {
        let x: Tensor<Rank2<2, 5>, usize, Cpu> = torch.indices(dev, "embedding.x");
        (layer.forward(x.put_tape(OwnedTape::default())), |_: &Gradients<f64, Cpu>| vec![])
    });
}

#[test]
fn cross_entropy() {
    let (torch, dev) = (Torch::open(), Cpu::default());
    let x: Tensor<Rank3<2, 3, 6>, f64, Cpu> = torch.tensor(&dev, "cross_entropy.x");
    let loss = nn::cross_entropy(x.leaky_trace(), torch.indices::<Rank2<2, 3>>(&dev, "cross_entropy.targets"));
    assert_near("loss", &loss.as_vec(), &torch.floats("cross_entropy.y"), 1e-14);
    let gradient = loss.backward().get(&x).as_vec();
    assert_near("gradient", &gradient, &torch.floats("cross_entropy.grad.x"), 1e-14);
}
