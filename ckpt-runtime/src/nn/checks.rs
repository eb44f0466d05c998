//! What the tests of the layers share.

use dfdx::{
    shapes::{HasShape, Rank0, Shape},
    tensor::{AsArray, Cpu, NoneTape, OwnedTape, Tensor, TensorFromVec, Trace},
    tensor_ops::Backward,
};
use rayon::ThreadPoolBuilder;

/// A loss over `f64`s on the `Cpu`, on the tape of its input.
type Loss = Tensor<Rank0, f64, Cpu, OwnedTape<f64, Cpu>>;

/// Compares the gradient that `loss` gives `x` with central differences.
///
/// `loss` gets `x` on the tape; what else it uses it closes over.
pub(super) fn agrees_with_differences<S: Shape>(
    x: &Tensor<S, f64, Cpu>,
    loss: impl Fn(Tensor<S, f64, Cpu, OwnedTape<f64, Cpu>>) -> Loss,
) {
    parameter_agrees_with_differences(x, |x| loss(x.leaky_trace()));
}

/// The same for a tensor that enters off the tape, as parameters do.
pub(super) fn parameter_agrees_with_differences<S: Shape>(
    x: &Tensor<S, f64, Cpu, NoneTape>,
    loss: impl Fn(Tensor<S, f64, Cpu>) -> Loss,
) {
    const STEP: f64 = 1e-5;
    let gradient = loss(x.clone()).backward().get(x).as_vec();
    let values = x.as_vec();
    for i in 0..values.len() {
        let at = |v: f64| {
            let mut moved = values.clone();
            moved[i] = v;
            // In the usual order, whatever that of `x` is.
            loss(x.device().tensor_from_vec(moved, *x.shape())).array()
        };
        let slope = (at(values[i] + STEP) - at(values[i] - STEP)) / (2.0 * STEP);
        let tolerance = 1e-7 * (1.0 + slope.abs());
        assert!((gradient[i] - slope).abs() < tolerance, "element {i}: {} for {slope}", gradient[i]);
    }
}

/// Runs `f` in pools of 1, 2 and 5 threads, and checks that its bits are the same.
pub(super) fn same_bits_for_any_threads(f: impl Fn() -> Vec<Vec<f32>> + Sync) {
    let bits = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let values = pool.install(&f);
        values.into_iter().map(|v| v.into_iter().map(f32::to_bits).collect()).collect::<Vec<Vec<_>>>()
    };
    let one = bits(1);
    assert!(one == bits(2) && one == bits(5), "the bits depend on the number of threads");
}

/// Checks that two lists of numbers are alike.
#[track_caller]
pub(super) fn near(ours: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), expected.len());
    for (i, (a, b)) in ours.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "element {i}: {a} for {b}");
    }
}

/// The message of the panic in `f`.
pub(super) fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).err().expect("a panic");
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}
