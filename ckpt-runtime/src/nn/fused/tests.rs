//! The run on functions alone; that of every image layer is tested beside it.

use dfdx::prelude::*;

use super::{Fused, ResidualAct};
use crate::nn::{Exact, Gelu, Identity, Relu, Silu, checks::*};

type Images64 = Tensor<Rank4<2, 3, 4, 5>, f64, Cpu>;

/// Several functions, of which all but the last are computed again.
type Functions = Fused<(Gelu, Silu, (Gelu, Relu), Silu)>;

#[test]
fn a_run_is_its_layers_in_turn() {
    let dev = Cpu::seed_from_u64(1);
    let x: Images64 = dev.sample_normal();
    let layers = (Gelu, Silu, (Gelu, Relu), Silu);
    let (ours, theirs) = (Functions::default().forward(x.leaky_trace()), layers.forward(x.leaky_trace()));
    near(&ours.as_vec(), &theirs.as_vec(), 0.0);
    near(&Functions::default().forward(x.clone()).as_vec(), &theirs.as_vec(), 0.0);
    let (ours, theirs) = (ours.square().sum().backward(), theirs.square().sum().backward());
    near(&ours.get(&x).as_vec(), &theirs.get(&x).as_vec(), 1e-14);
}

#[test]
fn every_layout_gives_the_same() {
    let dev = Cpu::seed_from_u64(2);
    let x: Tensor<Rank4<2, 4, 5, 3>, f64, _> = dev.sample_normal();
    let last = x.clone().permute::<Rank4<2, 3, 4, 5>, Axes4<0, 3, 1, 2>>();
    let first = last.clone().contiguous();
    let run = |x: Images64| {
        let y = Functions::default().forward(x.leaky_trace());
        // Unlike at every element, so that a gradient in the wrong place shows.
        let weights = y.device().tensor_from_vec((0..120).map(f64::from).collect(), *y.shape());
        let values = y.as_vec();
        (values, (y * weights).sum().backward().get(&x).as_vec())
    };
    assert_eq!(run(last), run(first));
    // A broadcast tensor is neither.
    let row: Tensor<Rank1<5>, f64, _> = dev.sample_normal();
    agrees_with_differences(&row, |row| {
        Functions::default().forward(row.broadcast::<Rank4<2, 3, 4, 5>, _>()).square().sum()
    });
}

#[test]
fn images_need_no_batch_and_their_sizes_may_be_known_late() {
    let dev = Cpu::seed_from_u64(3);
    let x: Tensor<Rank3<3, 4, 5>, f64, _> = dev.sample_normal();
    let y: Tensor<(Const<3>, usize, usize), f64, _> = Functions::default().forward(x.clone());
    let (batch, sized) = ((1, 3, 4, 5), (Const::<3>, 4, Const::<5>));
    let again: Tensor<(usize, usize, usize, usize), f64, _> =
        Functions::default().forward(x.clone().reshape_like(&batch));
    let late = Functions::default().forward(x.reshape_like(&sized));
    assert_eq!((again.as_vec(), late.as_vec()), (y.as_vec(), y.as_vec()));
}

#[test]
fn a_residual_adds_its_shortcut() {
    let dev = Cpu::seed_from_u64(4);
    let x: Images64 = dev.sample_normal();
    type Late = Tensor<(Const<2>, Const<3>, usize, usize), f64, Cpu>;
    fn check<A: super::super::ActivationFn + Module<Late, Output = Late>>(x: &Images64) {
        let sum = Gelu.forward(x.clone()) + x.clone();
        let sum = sum.reshape_like(&(Const, Const, 4, 5));
        let block = ResidualAct::<Gelu, Identity, A>::default();
        near(&block.forward(x.clone()).as_vec(), &A::default().forward(sum).as_vec(), 1e-15);
        agrees_with_differences(x, |x| ResidualAct::<Gelu, Identity, A>::default().forward(x).square().sum());
        agrees_with_differences(x, |x| ResidualAct::<(Silu, Gelu), Silu, A>::default().forward(x).square().sum());
        agrees_with_differences(x, |x| ResidualAct::<Identity, Identity, A>::default().forward(x).square().sum());
    }
    check::<Relu>(&x);
    check::<Gelu>(&x);
    check::<Silu>(&x);
}

#[test]
fn bits_of_sums_do_not_depend_on_threads_or_their_place() {
    let dev = Cpu::seed_from_u64(5);
    // More than a piece, and not a whole number of blocks.
    let x: Tensor<Rank3<7, 101, 59>, f32, _> = dev.sample_normal();
    same_bits_for_any_threads(|| {
        let y = ResidualAct::<Gelu>::default().forward(x.leaky_trace());
        let out = y.as_vec();
        let slopes = y.sum().backward().get(&x).as_vec();
        let expected = x.as_vec();
        assert!(slopes.iter().zip(&expected).all(|(slope, x)| (*slope == 0.0) == (*x <= 0.0)));
        vec![out, slopes]
    });
}

#[test]
fn an_empty_batch_is_named() {
    let dev = Cpu::default();
    let x: Tensor<(usize, Const<3>, usize, usize), f32, _> = dev.zeros_like(&(0, Const, 4, 4));
    let message = panic_of(|| Fused((Relu,)).forward(x));
    assert_eq!(message, "Fused cannot run on nothing: its input is [0, 3, 4, 4]");
}

#[test]
fn a_run_may_stand_in_another() {
    let dev = Cpu::seed_from_u64(6);
    let x: Images64 = dev.sample_normal();
    let nested = Fused((Gelu, Fused((Silu, Exact(Fused((Gelu,)))))));
    let (ours, theirs) = (nested.forward(x.leaky_trace()), (Gelu, Silu, Gelu).forward(x.leaky_trace()));
    near(&ours.as_vec(), &theirs.as_vec(), 0.0);
    let (ours, theirs) = (ours.square().sum().backward(), theirs.square().sum().backward());
    near(&ours.get(&x).as_vec(), &theirs.get(&x).as_vec(), 1e-14);
}
