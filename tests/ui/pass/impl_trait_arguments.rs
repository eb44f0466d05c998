//! Functions that take `impl Trait`, and a forward that hands closures to one.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpoint]
fn scaled<B: Dim, E: Dtype, D: Device<E>>(
    layer: &Linear<4, 4, E, D>,
    x: Tensor<(B, Const<4>), E, D>,
    scale: impl Fn(usize) -> f64 + Clone + 'static,
    rounds: impl IntoIterator<Item = usize> + Clone + 'static,
) -> Tensor<(B, Const<4>), E, D> {
    let mut h = x;
    for round in rounds {
        h = layer.forward(h) * E::from_f64(scale(round)).unwrap();
    }
    h
}

pub fn main() {
    let dev: Cpu = Default::default();
    let layer = dev.build_module::<builders::Linear<4, 4>, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let y = scaled(&layer, x.leaky_trace(), |n| 1.0 / (n + 1) as f64, 0..3);
    y.square().mean().backward();
}
