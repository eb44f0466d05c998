//! The two dtypes of the kernels, and their exponential, normal and logistic functions.
//!
//! All are free of branches, so that loops over them vectorise, and are computed alike in every
//! copy of a loop but for fused multiply-adds.

use crate::Real;

/// `f32` or `f64`.
pub trait Scalar: Real + std::iter::Sum {
    /// One and a half times 2 to the number of mantissa bits: adding it rounds to an integer, which
    /// then stands in the low bits.
    const SHIFTER: Self;
    /// The `x` below which `exp` is taken as 0 (the smallest normal number), and above which it
    /// overflows.
    const EXP_RANGE: (Self, Self);
    /// ln 2, as a part with few bits and the rest.
    const LN_2: (Self, Self);
    /// A number of this type.
    fn of(v: f64) -> Self;
    /// 2 to the integer that [`SHIFTER`](Self::SHIFTER) was added to.
    fn two_to_shifted(v: Self) -> Self;
    /// `exp(r)` for |r| ≤ ln 2 / 2.
    fn exp_near_zero<const FMA: bool>(r: Self) -> Self;
    /// `exp(a²) erfc(a) / t` with `t = 2 / (2 + a)`, at `s = 2 t - 1`.
    fn scaled_tail<const FMA: bool>(s: Self) -> Self;

    /// `self * b + c`, in one rounding where that is one instruction.
    #[inline(always)]
    fn fma<const FMA: bool>(self, b: Self, c: Self) -> Self {
        if FMA { self.mul_add(b, c) } else { self * b + c }
    }
}

/// A polynomial by Horner's rule, lowest coefficient first.
macro_rules! horner {
    ($x:ident; $c:expr) => { $c };
    ($x:ident; $c:expr, $($rest:expr),+) => { horner!($x; $($rest),+).fma::<FMA>($x, $c) };
}

impl Scalar for f32 {
    const SHIFTER: f32 = 12_582_912.0;
    const EXP_RANGE: (f32, f32) = (-87.336_54, 88.376_26);
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);

    #[inline(always)]
    fn of(v: f64) -> f32 {
        v as f32
    }

    #[inline(always)]
    fn two_to_shifted(v: f32) -> f32 {
        f32::from_bits(v.to_bits().wrapping_sub(Self::SHIFTER.to_bits()).wrapping_add(127) << 23)
    }

    // The series to the seventh power: its rest is 5e-9.
    #[inline(always)]
    fn exp_near_zero<const FMA: bool>(r: f32) -> f32 {
        horner!(r; 1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0)
    }

    // Chebyshev's expansion, cut where the rest is 2e-8 of the value.
    #[inline(always)]
    fn scaled_tail<const FMA: bool>(s: f32) -> f32 {
        horner!(s; 0.510_791_36, 0.343_580_34, 0.139_735_73, 0.018_221_384, -0.010_751_626, -0.003_241_855,
            0.001_529_157_2, 0.000_427_020_16, -0.000_299_382_7, -3.295_154e-5, 4.216_12e-5, -1.327_395_4e-6)
    }
}

impl Scalar for f64 {
    const SHIFTER: f64 = 6_755_399_441_055_744.0;
    const EXP_RANGE: (f64, f64) = (-708.396_418_532_264, 709.436_139_303_1);
    const LN_2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);

    #[inline(always)]
    fn of(v: f64) -> f64 {
        v
    }

    #[inline(always)]
    fn two_to_shifted(v: f64) -> f64 {
        f64::from_bits(v.to_bits().wrapping_sub(Self::SHIFTER.to_bits()).wrapping_add(1023) << 52)
    }

    // The series to the thirteenth power: its rest is 4e-18.
    #[inline(always)]
    fn exp_near_zero<const FMA: bool>(r: f64) -> f64 {
        horner!(r; 1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5_040.0, 1.0 / 40_320.0,
            1.0 / 362_880.0, 1.0 / 3_628_800.0, 1.0 / 39_916_800.0, 1.0 / 479_001_600.0, 1.0 / 6_227_020_800.0)
    }

    // Chebyshev's expansion, cut where the rest is 1e-18.
    #[inline(always)]
    fn scaled_tail<const FMA: bool>(s: f64) -> f64 {
        horner!(s; 0.510_791_352_621_011_5, 0.343_580_342_206_905_25, 0.139_736_046_278_027_5,
            0.018_221_115_753_442_495, -0.010_755_330_944_755_412, -0.003_239_592_533_986_513_3,
            0.001_545_306_030_057_245, 0.000_418_648_033_296_486_8, -0.000_331_536_760_971_279_5,
            -1.718_573_759_454_893_8e-5, 7.223_545_742_893_795e-5, -1.707_433_653_073_570_2e-5,
            -1.084_861_076_248_144_6e-5, 8.060_040_491_028_146e-6, -5.608_703_424_323_453e-7,
            -1.820_807_838_402_982_1e-6, 9.961_500_261_023_896e-7, -3.058_719_645_674_709_6e-9,
            -2.773_200_785_727_096_4e-7, 1.649_116_311_118_463_3e-7, -1.165_860_859_319_608_3e-8,
            -5.760_146_697_175_624e-8, 3.732_070_643_488_130_6e-8, 6.353_864_669_505_139e-9,
            -1.424_406_151_216_716_2e-8, 1.228_453_635_018_656_6e-9, 2.644_944_163_183_532_5e-9,
            -3.388_869_554_630_868_7e-10, -2.056_825_090_850_241_4e-10)
    }
}

/// eˣ: within 2 ulp, 0 below the normal numbers, infinite above.
#[inline(always)]
pub(super) fn exp<E: Scalar, const FMA: bool>(x: E) -> E {
    let (low, high) = E::EXP_RANGE;
    let inside = if x < low { low } else { x };
    let inside = if inside > high { high } else { inside };
    let shifted = inside.fma::<FMA>(E::of(std::f64::consts::LOG2_E), E::SHIFTER);
    let n = shifted - E::SHIFTER;
    let r = (-n).fma::<FMA>(E::LN_2.0, inside);
    let r = (-n).fma::<FMA>(E::LN_2.1, r);
    let y = E::exp_near_zero::<FMA>(r) * E::two_to_shifted(shifted);
    let y = if x < low { E::zero() } else { y };
    if x > high { E::infinity() } else { y }
}

/// The standard normal distribution function, and `exp(-x² / 2)`.
///
/// From the tail on the side of `x`, so that it is exact to the last digits where it is small.
#[inline(always)]
pub(super) fn normal<E: Scalar, const FMA: bool>(x: E) -> (E, E) {
    let bell = exp::<E, FMA>(x * x * E::of(-0.5));
    let t = E::of(2.0) / x.abs().fma::<FMA>(E::of(std::f64::consts::FRAC_1_SQRT_2), E::of(2.0));
    let tail = E::of(0.5) * bell * t * E::scaled_tail::<FMA>(t + t - E::one());
    (if x < E::zero() { tail } else { E::one() - tail }, bell)
}

/// 1 / (1 + e⁻ˣ).
#[inline(always)]
pub(super) fn logistic<E: Scalar, const FMA: bool>(x: E) -> E {
    E::one() / (E::one() + exp::<E, FMA>(-x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst<E: Scalar>(from: f64, to: f64, ours: impl Fn(E) -> E, exact: impl Fn(f64) -> f64) -> f64 {
        (0..=20_000)
            .map(|i| {
                let x = E::of(from + (to - from) * f64::from(i) / 20_000.0);
                let exact = exact(x.to_f64().unwrap());
                ((ours(x).to_f64().unwrap() - exact) / exact).abs()
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn exp_is_near_exact_over_its_range() {
        assert!(worst::<f32>(-87.0, 88.0, exp::<f32, true>, f64::exp) < 2e-7);
        assert!(worst::<f32>(-87.0, 88.0, exp::<f32, false>, f64::exp) < 2e-7);
        assert!(worst::<f64>(-708.0, 709.0, exp::<f64, true>, f64::exp) < 4e-16);
        assert!(worst::<f64>(-708.0, 709.0, exp::<f64, false>, f64::exp) < 4e-16);
    }

    #[test]
    fn exp_at_the_ends() {
        assert_eq!(exp::<f32, true>(0.0), 1.0);
        assert_eq!(exp::<f32, true>(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp::<f32, true>(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp::<f64, true>(-1e9), 0.0);
        assert_eq!(exp::<f64, true>(1e9), f64::INFINITY);
        assert!(exp::<f32, true>(f32::NAN).is_nan() && exp::<f64, false>(f64::NAN).is_nan());
    }

    #[test]
    fn the_normal_distribution_is_near_exact_in_both_tails() {
        let exact = |x: f64| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
        assert!(worst::<f32>(-4.0, 6.0, |x| normal::<f32, true>(x).0, exact) < 2e-6);
        assert!(worst::<f32>(-1.0, 6.0, |x| normal::<f32, false>(x).0, exact) < 5e-7);
        assert!(worst::<f64>(-6.0, 6.0, |x| normal::<f64, true>(x).0, exact) < 1e-14);
        assert!(worst::<f64>(-1.0, 6.0, |x| normal::<f64, false>(x).0, exact) < 1e-15);
        assert!(normal::<f32, true>(f32::NAN).0.is_nan());
    }

    #[test]
    fn the_logistic_function_is_near_exact() {
        let exact = |x: f64| 1.0 / (1.0 + (-x).exp());
        assert!(worst::<f32>(-80.0, 80.0, logistic::<f32, true>, exact) < 3e-7);
        assert!(worst::<f64>(-80.0, 80.0, logistic::<f64, true>, exact) < 1e-15);
    }
}
