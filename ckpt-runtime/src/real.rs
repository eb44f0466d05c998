//! The dtypes that models train in.

use dfdx::shapes::Dtype;
use num_traits::Float;
use rand_distr::uniform::SampleUniform;

/// A floating-point dtype: what dfdx's layers ask of `E`, in one bound.
///
/// Implemented for `f32`, `f64` and, with the feature `f16`, `f16` and `AMP<f16>`. Index and mask
/// dtypes (`usize`, `bool`) are not `Real`: tensors of them cross a region's edge without gradients.
pub trait Real: Dtype + Float + SampleUniform {
    /// The bits of the value, so that `verify` tells `-0.0` from `0.0` and one NaN from another.
    fn bits(self) -> u64;
}

impl Real for f32 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Real for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

#[cfg(feature = "f16")]
impl Real for dfdx::dtypes::f16 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

#[cfg(feature = "f16")]
impl Real for dfdx::dtypes::AMP<dfdx::dtypes::f16> {
    fn bits(self) -> u64 {
        self.0.to_bits().into()
    }
}
