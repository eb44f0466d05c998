//! The image layers of `nn` against PyTorch: the same parameters and statistics, under the same
//! names, and the same input give the same output, gradients and statistics.
//! `tools/make_images_fixture.py` made the fixture and says what is in it.

mod torch;

use ckpt_runtime::{nn, prelude::*};
use torch::{INFALLIBLE, Load, Torch, assert_near, case};

fn open() -> Torch {
    Torch::open("images_torch.safetensors")
}

/// A case with one input of shape `$X`, in either dtype.
macro_rules! simple {
    ($($test:ident: $prefix:literal $Layer:ty, $X:ty;)*) => { $(
        #[test]
        fn $test() {
            simple!(@one f64 1e-13 $test $prefix $Layer, $X);
            simple!(@one f32 5e-6 $test $prefix $Layer, $X);
        }
    )* };
    (@one $E:ident $tolerance:literal $test:ident $prefix:literal $Layer:ty, $X:ty) => {
        case::<$Layer, $E, _, _>(&open(), stringify!($test), $prefix, $tolerance, |torch, dev, layer| {
            let x: Tensor<$X, $E, Cpu> = torch.tensor(dev, concat!(stringify!($test), ".x"));
            (layer.forward_mut(x.leaky_trace()), move |g: &Gradients<$E, Cpu>| vec![("x", g.get(&x).as_vec())])
        })
    };
}
simple! {
    batch_norm: "" nn::BatchNorm2d<3>, Rank4<2, 3, 4, 5>;
    batch_norm_gelu: ".0" nn::BatchNorm2dAct<3, nn::Gelu>, Rank4<2, 3, 4, 5>;
    batch_norm_relu: ".0" nn::BatchNorm2dAct<3, nn::Relu>, Rank4<2, 3, 4, 5>;
    batch_norm_silu: ".0" nn::BatchNorm2dAct<3, nn::Silu>, Rank4<2, 3, 4, 5>;
    group_norm: "" nn::GroupNorm<2, 6>, Rank4<2, 6, 3, 4>;
    max_pool: "" nn::MaxPool2d<2>, Rank4<2, 3, 5, 4>;
    max_pool_padded: "" nn::MaxPool2d<3, 2, 1>, Rank4<2, 3, 5, 6>;
    max_pool_dilated: "" nn::MaxPool2d<3, 1, 1, 2>, Rank4<2, 3, 5, 6>;
    avg_pool: "" nn::AvgPool2d<2>, Rank4<2, 3, 5, 4>;
    avg_pool_padded: "" nn::AvgPool2d<3, 2, 1>, Rank4<2, 3, 5, 6>;
    global_avg_pool: "" nn::GlobalAvgPool2d, Rank4<2, 3, 4, 5>;
    nearest_2: "" nn::UpsampleNearest2d<2>, Rank4<2, 2, 3, 4>;
    nearest_3: "" nn::UpsampleNearest2d<3>, Rank4<2, 2, 3, 4>;
    bilinear_2: "" nn::UpsampleBilinear2d<2>, Rank4<2, 2, 3, 4>;
    bilinear_3: "" nn::UpsampleBilinear2d<3>, Rank4<2, 2, 3, 4>;
}

#[test]
fn batch_norm_in_inference() {
    let (torch, dev) = (open(), Cpu::default());
    let mut layer = dev.build_module::<nn::BatchNorm2d<3>, f64>();
    let names = String::from("inferred");
    TensorCollection::iter_tensors(&mut RecursiveWalker { m: (&mut layer, names), f: &mut Load { torch: &torch } })
        .expect(INFALLIBLE);
    let y = layer.forward(torch.tensor::<Rank4<2, 3, 4, 5>, f64>(&dev, "inferred.x"));
    assert_near("inferred", &y.as_vec(), &torch.floats("inferred.y"), 1e-14);
}

#[test]
fn concat() {
    // A layer without tensors stands for none.
    case::<nn::Relu, f64, _, _>(&open(), "concat", "", 1e-15, |torch, dev, _| {
        let a: Tensor<Rank4<2, 2, 3, 4>, f64, Cpu> = torch.tensor(dev, "concat.a");
        let b: Tensor<Rank4<2, 3, 3, 4>, f64, Cpu> = torch.tensor(dev, "concat.b");
        let y = nn::concat_channels(a.leaky_trace(), b.leaky_trace());
        (y, move |g: &Gradients<f64, Cpu>| vec![("a", g.get(&a).as_vec()), ("b", g.get(&b).as_vec())])
    });
}

#[test]
fn upsample_concat() {
    case::<nn::UpsampleConcat2d<2>, f64, _, _>(&open(), "upsample_concat", "", 1e-15, |torch, dev, layer| {
        let a: Tensor<Rank4<2, 2, 2, 3>, f64, Cpu> = torch.tensor(dev, "upsample_concat.a");
        let b: Tensor<Rank4<2, 3, 4, 6>, f64, Cpu> = torch.tensor(dev, "upsample_concat.b");
        let y = layer.forward((a.leaky_trace(), b.leaky_trace()));
        (y, move |g: &Gradients<f64, Cpu>| vec![("a", g.get(&a).as_vec()), ("b", g.get(&b).as_vec())])
    });
}
