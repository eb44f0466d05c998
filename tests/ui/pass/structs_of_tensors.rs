//! A struct of the user's over a region's edge.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[derive(Clone, Debug)]
struct Config {
    scale: f64,
}

/// Queries and keys.
#[derive(Clone, Debug, Boundary)]
struct Pair<S: Shape, E: Dtype, D: Device<E>, T> {
    q: Tensor<S, E, D, T>,
    k: Tensor<S, E, D, T>,
    #[boundary(plain)]
    config: Config,
}

#[derive(Clone, Debug, Boundary)]
enum Either<S: Shape, E: Dtype, D: Device<E>, T> {
    One(Tensor<S, E, D, T>),
    None,
}

#[checkpoint]
fn weigh<B: Dim, E: Dtype, D: Device<E>>(
    layer: &Linear<4, 4, E, D>,
    x: Tensor<(B, Const<4>), E, D>,
    pair: Pair<(B, Const<4>), E, D, _>,
    more: Either<(B, Const<4>), E, D, _>,
) -> Tensor<(B, Const<4>), E, D> {
    let y = layer.forward(x) * pair.q * E::from_f64(pair.config.scale).unwrap() + pair.k;
    match more {
        Either::One(z) => y + z,
        Either::None => y,
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let layer = dev.build_module::<builders::Linear<4, 4>, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let pair = |x: &Tensor<Rank2<3, 4>, f32, Cpu>| Pair {
        q: x.leaky_trace(),
        k: x.leaky_trace(),
        config: Config { scale: 0.5 },
    };
    let y = weigh(&layer, x.leaky_trace(), pair(&x), Either::One(x.leaky_trace()));
    y.square().mean().backward();
    weigh(&layer, x.leaky_trace(), pair(&x), Either::None).mean().backward();
}
