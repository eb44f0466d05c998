//! Code compiled once for each width of vector, and chosen as the program runs.
//!
//! Loops over slices are written plainly and vectorised by the compiler, which needs to know what
//! instructions it may use: [`vectorised!`] makes a copy of a function for AVX-512, one for AVX2,
//! and one for whatever the program was built for.

use std::sync::OnceLock;

/// What the machine that the program runs on can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// What the program was compiled for.
    Portable,
    /// 256-bit vectors and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The widest level of this machine. The environment variable `CKPT_VECTORS` (`portable`, `avx2`)
/// lowers it, so that tests reach every copy; it is read once.
pub(super) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| detect(std::env::var("CKPT_VECTORS").as_deref().unwrap_or_default()))
}

#[cfg(target_arch = "x86_64")]
fn detect(wanted: &str) -> Level {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw");
    match wanted {
        "portable" => Level::Portable,
        _ if avx512 && wanted != "avx2" => Level::Avx512,
        _ if avx2 => Level::Avx2,
        _ => Level::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect(_: &str) -> Level {
    Level::Portable
}

/// Defines functions over a [`Scalar`](super::scalar::Scalar) that run with the machine's widest
/// vectors.
///
/// The body may name `FMA`, a constant that says whether multiply-add is one instruction (see
/// [`Scalar::fma`](super::scalar::Scalar::fma)). Everything it calls in its loops must be
/// `#[inline(always)]`, or is compiled without the wide instructions.
macro_rules! vectorised {
    ($(
        $(#[$attribute:meta])*
        $vis:vis fn $name:ident<$E:ident $(, $G:ident: $Bound:ident)*>($($arg:ident: $T:ty),* $(,)?) $(-> $R:ty)? $body:block
    )*) => { $(
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name<$E: $crate::kernels::scalar::Scalar $(, $G: $Bound)*>($($arg: $T),*) $(-> $R)? {
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            fn portable<const FMA: bool, $E: $crate::kernels::scalar::Scalar $(, $G: $Bound)*>($($arg: $T),*) $(-> $R)? $body

            #[cfg(target_arch = "x86_64")]
            #[allow(clippy::too_many_arguments)]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
            fn avx2<$E: $crate::kernels::scalar::Scalar $(, $G: $Bound)*>($($arg: $T),*) $(-> $R)? {
                portable::<true, $E $(, $G)*>($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[allow(clippy::too_many_arguments)]
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2")]
            fn avx512<$E: $crate::kernels::scalar::Scalar $(, $G: $Bound)*>($($arg: $T),*) $(-> $R)? {
                portable::<true, $E $(, $G)*>($($arg),*)
            }

            match $crate::kernels::vector::level() {
                // SAFETY: `level` answers so only where the machine has these features.
                #[cfg(target_arch = "x86_64")]
                $crate::kernels::vector::Level::Avx512 => unsafe { avx512::<$E $(, $G)*>($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::kernels::vector::Level::Avx2 => unsafe { avx2::<$E $(, $G)*>($($arg),*) },
                $crate::kernels::vector::Level::Portable => {
                    // Every aarch64 has fused multiply-add; elsewhere it might be a library call.
                    portable::<{ cfg!(any(target_arch = "aarch64", target_feature = "fma")) }, $E $(, $G)*>($($arg),*)
                }
            }
        }
    )* };
}
