//! [`Conv2d`](super::Conv2d) and its kin, as layers.

use dfdx::prelude::*;
use dfdx::shapes::{Axes4, Const};

use super::super::checks::*;
use crate::nn;

/// Compares all gradients of a layer with differences, for an input of shape `$X`.
macro_rules! differences {
    ($($Layer:ty, $X:ty;)*) => { $({
        let dev = Cpu::seed_from_u64(1);
        let layer = dev.build_module::<$Layer, f64>();
        let x: Tensor<$X, f64, _> = dev.sample_normal();
        agrees_with_differences(&x, |x| layer.forward(x).square().sum());
        let of_weight = |weight: &_| {
            let mut layer = layer.clone();
            layer.weight = Clone::clone(weight);
            layer.forward(x.leaky_trace()).square().sum()
        };
        parameter_agrees_with_differences(&layer.weight, |weight| of_weight(&weight));
        parameter_agrees_with_differences(&layer.bias, |bias| {
            let mut layer = layer.clone();
            layer.bias = bias;
            layer.forward(x.leaky_trace()).square().sum()
        });
    })* };
}

#[test]
fn gradients_agree_with_differences() {
    differences! {
        nn::Conv2d<2, 3, 1>, Rank4<2, 2, 3, 4>;
        nn::Conv2d<2, 3, 3, 2, 1>, Rank4<2, 2, 5, 4>;
        nn::Conv2d<4, 2, 2, 1, 1, 2, 2>, Rank3<4, 4, 5>;
        nn::Conv2d<3, 3, 3, 1, 1, 1, 3>, Rank3<3, 4, 3>;
        nn::ConvTranspose2d<3, 2, 2, 2>, Rank4<2, 3, 2, 3>;
        nn::ConvTranspose2d<4, 2, 3, 2, 1, 1, 1, 2>, Rank3<4, 3, 2>;
        nn::ConvTranspose2d<2, 1, 3, 1, 2, 1, 2>, Rank3<2, 3, 4>;
        nn::ConvTranspose2d<3, 3, 3, 2, 1, 0, 1, 3>, Rank3<3, 3, 2>;
    }
}

#[test]
fn layouts_batches_and_tapes_make_no_difference() {
    let dev = Cpu::seed_from_u64(2);
    let layer = dev.build_module::<nn::Conv2d<3, 5, 3, 2, 1>, f32>();
    let last: Tensor<Rank4<2, 6, 7, 3>, f32, _> = dev.sample_normal();
    let last = last.permute::<Rank4<2, 3, 6, 7>, Axes4<0, 3, 1, 2>>();
    let first = last.clone().contiguous();
    let run = |x: Tensor<Rank4<2, 3, 6, 7>, f32, Cpu>| {
        let y = layer.forward(x.leaky_trace());
        assert_eq!(y.shape(), &(Const::<2>, Const::<5>, 3, 4));
        let values = y.as_vec();
        (values, y.square().sum().backward().get(&x).as_vec())
    };
    let (y, dx) = run(last.clone());
    assert_eq!((y.clone(), dx), run(first.clone()));
    assert_eq!(y, layer.forward(first.clone()).as_vec());
    // Dimensions known as the program runs, and one image alone.
    let dynamic = first.clone().reshape_like(&(2, 3, 6, 7));
    let all: Tensor<(usize, Const<5>, usize, usize), f32, _> = layer.forward(dynamic);
    assert_eq!(y, all.as_vec());
    let second: Tensor<Rank3<3, 6, 7>, f32, _> = first.select(dev.tensor(1));
    let alone: Tensor<(Const<5>, usize, usize), f32, _> = layer.forward(second);
    assert_eq!(y[5 * 12..], alone.as_vec());
}

#[test]
fn layers_without_a_bias_are_those_with_a_bias_of_zero() {
    let dev = Cpu::seed_from_u64(3);
    let mut biased = dev.build_module::<(nn::Conv2d<2, 4, 3>, nn::ConvTranspose2d<4, 3, 2, 2>), f64>();
    let mut bare = dev.build_module::<(nn::UnbiasedConv2d<2, 4, 3>, nn::UnbiasedConvTranspose2d<4, 3, 2, 2>), f64>();
    (bare.0.weight, bare.1.weight) = (biased.0.weight.clone(), biased.1.weight.clone());
    biased.0.bias.fill_with_zeros();
    biased.1.bias.fill_with_zeros();
    let x: Tensor<Rank3<2, 5, 4>, f64, _> = dev.sample_normal();
    let (a, b) = (biased.forward(x.leaky_trace()), bare.forward(x.leaky_trace()));
    near(&a.as_vec(), &b.as_vec(), 1e-15);
    let (a, b) = (a.square().sum().backward(), b.square().sum().backward());
    near(&a.get(&x).as_vec(), &b.get(&x).as_vec(), 1e-14);
    near(&a.get(&bare.0.weight).as_vec(), &b.get(&bare.0.weight).as_vec(), 1e-14);
}

#[test]
fn exact_convolutions_are_nearer_and_have_the_same_names() {
    let dev = Cpu::seed_from_u64(4);
    let layer = dev.build_module::<nn::Conv2d<32, 32, 3, 1, 1>, f32>();
    let exact = nn::Exact(layer.clone());
    let wide = layer.clone().to_dtype::<f64>();
    let x: Tensor<Rank4<2, 32, 8, 8>, f32, _> = dev.sample_normal();
    let truth = wide.forward(x.clone().to_dtype::<f64>()).as_vec();
    let error = |y: Vec<f32>| y.iter().zip(&truth).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
    let (transformed, summed) = (error(layer.forward(x.clone()).as_vec()), error(exact.forward(x.clone()).as_vec()));
    assert!(0.0 < summed && summed < transformed && transformed < 1e-5, "{summed} and {transformed}");
    let run = nn::Fused((exact.clone(), nn::Relu)).forward(x.clone()).as_vec();
    assert_eq!(run, exact.forward(x).as_vec().into_iter().map(|v| v.max(0.0)).collect::<Vec<_>>());
    let names = |path: &std::path::Path| {
        let file = std::fs::read(path).unwrap();
        let mut names: Vec<_> =
            ::safetensors::SafeTensors::deserialize(&file).unwrap().names().into_iter().cloned().collect();
        names.sort();
        names
    };
    let path = std::env::temp_dir().join(format!("ckpt-exact-{}.safetensors", std::process::id()));
    exact.save_safetensors(&path).unwrap();
    assert_eq!(names(&path), ["bias", "weight"]);
    let mut loaded = dev.build_module::<nn::Conv2d<32, 32, 3, 1, 1>, f32>();
    loaded.load_safetensors(&path).unwrap();
    assert_eq!(loaded.weight.as_vec(), layer.weight.as_vec());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn initial_values_are_pytorchs() {
    let dev = Cpu::seed_from_u64(5);
    let layer = dev.build_module::<nn::Conv2d<8, 16, 3, 1, 0, 1, 2>, f64>();
    let transposed = dev.build_module::<nn::ConvTranspose2d<16, 8, 3, 1, 0, 0, 1, 2>, f64>();
    let bound = 1.0 / (4.0 * 9.0_f64).sqrt();
    for values in [layer.weight.as_vec(), layer.bias.as_vec(), transposed.weight.as_vec(), transposed.bias.as_vec()] {
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        assert!(largest <= bound && largest > 0.7 * bound, "{largest} of {bound}");
    }
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let dev = Cpu::default();
    let layer = dev.build_module::<nn::Conv2d<3, 4, 5, 1, 1>, f32>();
    let run = |shape: (usize, usize, usize, usize)| panic_of(|| layer.forward(dev.zeros_like(&shape)));
    let message = run((2, 4, 9, 9));
    assert!(message.contains("Conv2d takes 3 channels, not 4") && message.contains("2 images of 9 by 9"), "{message}");
    let message = run((2, 3, 2, 9));
    assert!(message.contains("a kernel of 5 pixels") && message.contains("2 by 9"), "{message}");
    let message = run((0, 3, 9, 9));
    assert!(message.contains("Conv2d cannot run on nothing"), "{message}");
    let layer = dev.build_module::<nn::ConvTranspose2d<2, 4, 1, 1, 2>, f32>();
    let message = panic_of(|| layer.forward(dev.zeros::<Rank3<2, 4, 3>>()));
    assert!(message.contains("ConvTranspose2d leaves nothing of images of 4 by 3 pixels"), "{message}");
}

#[test]
fn bits_do_not_depend_on_threads() {
    let dev = Cpu::seed_from_u64(6);
    type Model = (
        nn::Conv2d<3, 24, 7, 2, 3>,
        nn::Conv2d<24, 32, 3, 1, 1>,
        nn::Conv2d<32, 32, 3, 2, 1, 1, 32>,
        (nn::Conv2d<32, 130, 3, 1, 1>, nn::Conv2d<130, 64, 1>, nn::Conv2d<64, 64, 3, 2, 1, 1, 2>),
        nn::ConvTranspose2d<64, 8, 2, 2>,
    );
    let model = dev.build_module::<Model, f32>();
    let x: Tensor<Rank4<5, 3, 46, 38>, f32, _> = dev.sample_normal();
    same_bits_for_any_threads(|| {
        let y = model.forward(x.leaky_trace());
        let values = y.as_vec();
        let g = y.square().sum().backward();
        let weights = [
            g.get(&model.0.weight).as_vec(),
            g.get(&model.1.weight).as_vec(),
            g.get(&model.2.weight).as_vec(),
            g.get(&model.3.0.weight).as_vec(),
            g.get(&model.3.1.weight).as_vec(),
            g.get(&model.3.2.weight).as_vec(),
            g.get(&model.4.weight).as_vec(),
        ];
        [values, g.get(&x).as_vec(), g.get(&model.0.bias).as_vec()].into_iter().chain(weights).collect()
    });
}

#[test]
fn a_transposed_pointwise_convolution_may_leave_rows_for_its_bias() {
    let dev = Cpu::seed_from_u64(7);
    let mut layer = dev.build_module::<nn::ConvTranspose2d<1, 1, 1, 1, 0, 1, 2>, f64>();
    layer.weight.fill_with_ones();
    layer.bias.copy_from(&[0.5]);
    let x: Tensor<Rank3<1, 1, 1>, f64, _> = dev.ones();
    assert_eq!(layer.forward(x.clone()).as_vec(), [1.5, 0.5, 0.5, 0.5]);
    agrees_with_differences(&x, |x| layer.forward(x).square().sum());
}

#[test]
fn sizes_that_no_memory_holds_are_refused() {
    let dev = Cpu::default();
    let x = || -> Tensor<Rank3<1, 2, 2>, f32, Cpu> { dev.ones() };
    let wide = dev.build_module::<nn::UnbiasedConvTranspose2d<1, 1, 1, 4_294_967_295>, f32>();
    let message = panic_of(|| wide.forward(x()));
    assert!(message.contains("more than memory holds"), "{message}");
    let padded = dev.build_module::<nn::UnbiasedConv2d<1, 4, 1, 1, 1_073_741_823>, f32>();
    let message = panic_of(|| padded.forward(x()));
    assert!(message.contains("more than memory holds"), "{message}");
    let far = dev.build_module::<nn::UnbiasedConv2d<1, 1, 3, 1, 1, { 1 << 63 }>, f32>();
    let message = panic_of(|| far.forward(x()));
    assert!(message.contains("a kernel of"), "{message}");
    let message = panic_of(|| nn::UpsampleNearest2d::<4_294_967_296>.forward(x()));
    assert!(message.contains("more than memory holds"), "{message}");
}
