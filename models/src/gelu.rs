//! The exact GELU with its exact gradient.

use std::f64::consts::{PI, SQRT_2};

use dfdx::prelude::*;

/// `x · Φ(x)`, Φ the standard normal distribution (Hendrycks and Gimpel, arXiv 1606.08415), as
/// `torch.nn.GELU()`.
///
/// dfdx 0.13's `AccurateGeLU` has the same values and a wrong gradient: it writes the density as
/// `exp(-x²/2) · 2/√π` where `exp(-x²/2) · √(2/π)` belongs, which is off by up to 0.1 near |x| = 1.
/// This layer subtracts `m - m̄` with `m = -(√2 - 1)/√(2π) · exp(-x²/2)` and `m̄` its value off the
/// tape: a term that is exactly zero and whose derivative is what is missing.
///
/// It works in any shape, on any device that dfdx has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gelu;

impl ZeroSizedModule for Gelu {}
impl NonMutableModule for Gelu {}

impl<S: Shape, E: Dtype, D: Device<E>, T: Tape<E, D>> Module<Tensor<S, E, D, T>> for Gelu {
    type Output = Tensor<S, E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<S, E, D, T>) -> Result<Self::Output, D::Err> {
        let scalar = |v: f64| E::from_f64(v).unwrap();
        if !T::OWNS_TAPE {
            return x.try_accurate_gelu();
        }
        let bell = x.with_empty_tape();
        let y = x.try_accurate_gelu()?;
        let bell = bell.try_square()?.try_mul(scalar(-0.5))?.try_exp()?;
        let m = bell.try_mul(scalar(-(SQRT_2 - 1.0) / (2.0 * PI).sqrt()))?;
        // A tensor of its own: under `m`'s id it would take `m`'s gradient back.
        let minus_m = m.retaped::<NoneTape>().try_negate()?;
        y.try_sub(m.try_add(minus_m)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // gelu and its derivative by mpmath, 20 digits.
    const X: [f64; 5] = [-3.0, -1.0, 0.0, 0.5, 2.0];
    const Y: [f64; 5] =
        [-0.004_049_694_094_890_28, -0.158_655_253_931_457_05, 0.0, 0.345_731_230_637_006_55, 1.954_499_736_103_641_6];
    const DY: [f64; 5] =
        [-0.011_945_647_204_183_927, -0.083_315_470_587_686_3, 0.5, 0.867_495_124_656_162_8, 1.085_231_801_078_197];

    #[test]
    fn value_and_gradient_are_exact() {
        let dev = Cpu::default();
        let x = dev.tensor(X);
        let y = Gelu.forward(x.leaky_trace());
        let untaped = Gelu.forward(x.clone());
        assert_eq!(y.array(), untaped.array());
        let dy = y.sum().backward().get(&x).array();
        for i in 0..X.len() {
            assert!((untaped.array()[i] - Y[i]).abs() < 1e-15, "value at {}", X[i]);
            assert!((dy[i] - DY[i]).abs() < 1e-15, "gradient at {}", X[i]);
        }
    }

    #[test]
    fn training_keeps_the_sign_of_zero() {
        let dev = Cpu::default();
        let x = dev.tensor([-40.0_f32, -0.0]);
        let y = Gelu.forward(x.leaky_trace());
        assert!(y.array().iter().all(|v| *v == 0.0 && v.is_sign_negative()));
    }
}
