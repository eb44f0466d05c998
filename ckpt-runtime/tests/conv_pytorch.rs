//! The convolutions of `nn` against PyTorch: the same parameters, under the same names, and the same
//! input give the same output and gradients. `tools/make_conv_fixture.py` made the fixture and says
//! what is in it.

mod torch;

use ckpt_runtime::{nn, prelude::*};
use torch::{Torch, case};

fn open() -> Torch {
    Torch::open("conv_torch.safetensors")
}

/// A case with an input of shape `$X`, in either dtype.
macro_rules! cases {
    ($($test:ident: $Layer:ty, $X:ty;)*) => { $(
        #[test]
        fn $test() {
            cases!(@one f64 1e-13 $test $Layer, $X);
            cases!(@one f32 5e-6 $test $Layer, $X);
        }
    )* };
    (@one $E:ident $tolerance:literal $test:ident $Layer:ty, $X:ty) => {
        case::<$Layer, $E, _, _>(&open(), stringify!($test), "", $tolerance, |torch, dev, layer| {
            let x: Tensor<$X, $E, Cpu> = torch.tensor(dev, concat!(stringify!($test), ".x"));
            (layer.forward(x.leaky_trace()), move |g: &Gradients<$E, Cpu>| vec![("x", g.get(&x).as_vec())])
        })
    };
}
cases! {
    conv2d: nn::Conv2d<3, 4, 3, 2, 1>, Rank4<2, 3, 6, 7>;
    dilated: nn::Conv2d<4, 6, 3, 1, 2, 2, 2>, Rank4<2, 4, 5, 6>;
    depthwise: nn::Conv2d<5, 5, 3, 1, 1, 1, 5>, Rank4<1, 5, 4, 6>;
    pointwise: nn::Conv2d<3, 5, 1>, Rank4<2, 3, 4, 3>;
    transformed: nn::Conv2d<16, 16, 3, 1, 1>, Rank4<1, 16, 6, 5>;
    unbiased: nn::UnbiasedConv2d<3, 4, 2>, Rank4<2, 3, 4, 3>;
    transposed: nn::ConvTranspose2d<3, 4, 3, 2, 1, 1>, Rank4<2, 3, 4, 3>;
    transposed_dilated: nn::ConvTranspose2d<4, 6, 2, 1, 0, 0, 2, 2>, Rank4<1, 4, 3, 4>;
    transposed_padded: nn::ConvTranspose2d<2, 3, 3, 1, 1, 1, 2>, Rank4<2, 2, 4, 3>;
    transposed_unbiased: nn::UnbiasedConvTranspose2d<4, 2, 2, 2>, Rank4<2, 4, 3, 2>;
}
