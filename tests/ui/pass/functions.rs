//! Functions of every kind: options, flags, exclusive modules, slices, tuples, results.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::{BatchNorm1D, Linear};

/// With all that a function can take.
#[checkpoint(name = "ffn", verify(tolerance = 1e-5))]
#[must_use]
pub(crate) fn ffn<B: Dim, const M: usize, const H: usize, E: Dtype, D: Device<E>>(
    up: &Linear<M, H, E, D>,
    norm: &mut BatchNorm1D<H, E, D>,
    downs: &[Linear<H, M, E, D>],
    (x, flag): (Tensor<(B, Const<M>), E, D>, bool),
    mask: Option<Tensor<(B, Const<M>), bool, D>>,
    names: [&'static str; 2],
) -> Tensor<(B, Const<M>), E, D> {
    let h = norm.forward(up.forward(x));
    let h = if flag { h.relu() } else { h };
    let mut y = x;
    for (down, name) in downs.iter().zip(names) {
        assert!(name.len() == 1);
        y = y + down.forward(h);
    }
    match mask {
        Some(mask) => mask.choose(x, y),
        None => y,
    }
}

#[checkpoint]
fn tried<B: Dim, E: Dtype, D: Device<E>>(
    layer: &Linear<4, 4, E, D>,
    x: Tensor<(B, Const<4>), E, D>,
) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
    if x.shape().num_elements() == 0 {
        return Ok(x);
    }
    layer.try_forward(x)?.try_tanh()
}

#[checkpoint]
fn fixed(layer: &Linear<4, 4, f32, Cpu>, x: Tensor<Rank2<3, 4>, f32, Cpu>) -> Tensor<Rank2<3, 4>, f32, Cpu> {
    layer.forward(x).square()
}

pub fn main() {
    let dev: Cpu = Default::default();
    let (up, mut norm, down) =
        dev.build_module::<(builders::Linear<4, 6>, builders::BatchNorm1D<6>, builders::Linear<6, 4>), f32>();
    let last = dev.build_module::<builders::Linear<4, 4>, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let y = ffn(&up, &mut norm, &[down.clone(), down], (x.leaky_trace(), true), None, ["a", "b"]);
    let y = try_tried(&last, y).unwrap();
    fixed(&last, y).mean().backward();
}
