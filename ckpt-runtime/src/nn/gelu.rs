//! The exact GELU with its exact gradient.

use std::f64::consts::{PI, SQRT_2};

use dfdx::{
    nn::{Module, NonMutableModule, ZeroSizedModule},
    shapes::Shape,
    tensor::{NoneTape, Tape, Tensor, WithEmptyTape},
    tensor_ops::{Device, TryAdd, TryMul, TrySub},
};

use super::activation::activate;
use crate::{Real, ReplaySafe, Stateless, kernels::Activation};

/// `x · Φ(x)`, with Φ the standard normal distribution function: `torch.nn.GELU()`; Hendrycks and
/// Gimpel, arXiv 1606.08415.
///
/// dfdx 0.13's `AccurateGeLU` has the same values but a wrong gradient: its density is too large by
/// the factor √2, which makes the derivative wrong by up to 0.1, most near |x| = 1.
///
/// # Shapes
/// Any shape, to the same shape.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let x = dev.tensor([-1.0, 0.0, 1.0]);
/// let gradients = nn::Gelu.forward(x.leaky_trace()).sum().backward();
/// assert_eq!(gradients.get(&x).array()[1], 0.5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gelu;

impl ReplaySafe for Gelu {}
impl Stateless for Gelu {}
impl ZeroSizedModule for Gelu {}
impl NonMutableModule for Gelu {}

impl<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>> Module<Tensor<S, E, D, T>> for Gelu {
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
        activate(x, Activation::Gelu)
    }
}

/// The operation in dfdx's own, on any device.
///
/// dfdx's GELU minus `m - m̄`, where `m = -(√2 - 1)/√(2π) · exp(-x²/2)` and `m̄` is its value off the
/// tape: a term that is exactly zero and whose derivative corrects dfdx's.
pub(super) fn composed<S: Shape, E: Real, D: Device<E>, T: Tape<E, D>>(
    x: Tensor<S, E, D, T>,
) -> Result<Tensor<S, E, D, T>, D::Err> {
    if !T::OWNS_TAPE {
        return x.try_accurate_gelu();
    }
    let bell = x.with_empty_tape();
    let y = x.try_accurate_gelu()?;
    let bell = bell.try_square()?.try_mul(constant::<E>(-0.5))?.try_exp()?;
    let m = bell.try_mul(constant::<E>(-(SQRT_2 - 1.0) / (2.0 * PI).sqrt()))?;
    // A tensor of its own: under `m`'s id it would take `m`'s gradient back.
    let minus_m = m.retaped::<NoneTape>().try_negate()?;
    y.try_sub(m.try_add(minus_m)?)
}

fn constant<E: Real>(v: f64) -> E {
    E::from_f64(v).expect("a finite constant")
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use super::*;

    // The function and its derivative by mpmath.
    const X: [f64; 5] = [-3.0, -1.0, 0.0, 0.5, 2.0];
    const Y: [f64; 5] =
        [-0.004_049_694_094_890_28, -0.158_655_253_931_457_05, 0.0, 0.345_731_230_637_006_55, 1.954_499_736_103_641_6];
    const DY: [f64; 5] =
        [-0.011_945_647_204_183_927, -0.083_315_470_587_686_3, 0.5, 0.867_495_124_656_162_8, 1.085_231_801_078_197];

    fn near<E: Dtype>(ours: &[E], exact: &[f64], tolerance: f64) {
        for (ours, exact) in ours.iter().zip(exact) {
            let ours = ours.to_f64().unwrap();
            assert!((ours - exact).abs() < tolerance, "{ours} for {exact}");
        }
    }

    #[test]
    fn value_and_gradient_are_exact() {
        let dev = Cpu::default();
        let wide = dev.tensor(X);
        let y = Gelu.forward(wide.leaky_trace());
        near(&y.as_vec(), &Y, 1e-15);
        near(&y.sum().backward().get(&wide).as_vec(), &DY, 1e-15);
        let narrow = dev.tensor(X.map(|x| x as f32));
        let y = Gelu.forward(narrow.leaky_trace());
        near(&y.as_vec(), &Y, 2e-7);
        near(&y.sum().backward().get(&narrow).as_vec(), &DY, 2e-7);
    }

    #[test]
    fn the_composed_form_agrees() {
        let dev = Cpu::default();
        let x = dev.tensor(X);
        let y = composed(x.leaky_trace()).unwrap();
        near(&y.as_vec(), &Y, 1e-15);
        near(&y.sum().backward().get(&x).as_vec(), &DY, 1e-15);
        let small = composed(dev.tensor([-40.0, -0.0]).leaky_trace()).unwrap();
        assert!(small.array().iter().all(|v: &f64| *v == 0.0 && v.is_sign_negative()));
    }

    #[test]
    fn a_permuted_input_and_one_used_twice_get_their_gradients() {
        let dev = Cpu::seed_from_u64(1);
        let x: Tensor<Rank2<3, 5>, f64, _> = dev.sample_normal();
        let turned = x.leaky_trace().permute::<Rank2<5, 3>, _>();
        let y = Gelu.forward(turned.with_empty_tape()) + Gelu.forward(turned);
        let slope = |x: f64| 0.5 * (1.0 + libm::erf(x / SQRT_2)) + x * (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
        let slopes: Vec<f64> = x.as_vec().into_iter().map(|x| 2.0 * slope(x)).collect();
        near(&y.sum().backward().get(&x).as_vec(), &slopes, 1e-14);
    }
}
