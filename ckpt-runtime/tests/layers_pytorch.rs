//! The layers of `nn` against PyTorch: the same parameters, under the same names, and the same input
//! give the same output and gradients. `tools/make_layers_fixture.py` made the fixture and says
//! what is in it.

mod torch;

use ckpt_runtime::{nn, prelude::*};
#[cfg(feature = "f16")]
use dfdx::dtypes::f16;
use torch::{Torch, assert_near, case};

fn open() -> Torch {
    Torch::open("layers_torch.safetensors")
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
        case::<$Layer, $E, _, _>(&open(), $name, $prefix, $tolerance, |torch, dev, layer| {
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

#[test]
fn cross_attention_with_padding() {
    case::<nn::MultiHeadAttention<8, 2>, f64, _, _>(&open(), "cross_attention", "", 1e-13, |torch, dev, layer| {
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
    case::<nn::Embedding<7, 4>, f64, _, _>(&open(), "embedding", "", 1e-15, |torch, dev, layer| {
        let x: Tensor<Rank2<2, 5>, usize, Cpu> = torch.indices(dev, "embedding.x");
        (layer.forward(x.put_tape(OwnedTape::default())), |_: &Gradients<f64, Cpu>| vec![])
    });
}

#[test]
fn cross_entropy() {
    let (torch, dev) = (open(), Cpu::default());
    let x: Tensor<Rank3<2, 3, 6>, f64, Cpu> = torch.tensor(&dev, "cross_entropy.x");
    let loss = nn::cross_entropy(x.leaky_trace(), torch.indices::<Rank2<2, 3>>(&dev, "cross_entropy.targets"));
    assert_near("loss", &loss.as_vec(), &torch.floats("cross_entropy.y"), 1e-14);
    let gradient = loss.backward().get(&x).as_vec();
    assert_near("gradient", &gradient, &torch.floats("cross_entropy.grad.x"), 1e-14);
}
