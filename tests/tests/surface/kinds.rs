//! The kinds of fault that other systems had, where it takes a macro to have them. Each test is
//! named after its kind. (That the whole function as one region saves nothing is diagnosed by the
//! compiler: `ui/declaration/whole_model.rs`.)

use std::thread;

use ckpt_runtime::prelude::*;
use dfdx::nn::modules;
use tests::compare::bits;

use crate::same::{rows, trains_as, under};

#[checkpointed]
#[derive(Clone, Debug)]
struct Normed<E: Dtype, D: Device<E>> {
    #[checkpoint]
    body: (modules::Linear<4, 4, E, D>, modules::BatchNorm1D<4, E, D>, Tanh),
    #[checkpoint(segments = 2)]
    more: Repeated<(modules::Linear<4, 4, E, D>, modules::BatchNorm1D<4, E, D>), 3>,
    head: modules::Linear<4, 2, E, D>,
}

fn normed(dev: &Cpu) -> Normed<f32, Cpu> {
    dev.build_module::<NormedBuilder, f32>()
}

#[test]
fn state_updated_twice() {
    trains_as(normed, rows::<4, f32>, |m, x| {
        m.head.try_forward_mut(m.more.try_forward_mut(m.body.try_forward_mut(x)?)?)
    });
}

#[test]
fn state_updated_late() {
    let dev = Cpu::seed_from_u64(1);
    let mut model = normed(&dev);
    let before = model.body.1.running_mean.clone();
    let y = model.forward_mut(rows::<4, f32>(&dev).leaky_trace());
    let after_forward = bits(&model.body.1.running_mean);
    assert_ne!(after_forward, bits(&before), "the first pass updates");
    y.mean().backward();
    assert_eq!(bits(&model.body.1.running_mean), after_forward, "the recompute does not");
}

#[test]
fn derived_forward_called_the_wrong_variant() {
    let dev = Cpu::seed_from_u64(1);
    let mut model = normed(&dev);
    let x = rows::<4, f32>(&dev);
    let (before, inferred) = (bits(&model.more.modules[2].1.running_var), bits(&model.forward(x.clone())));
    let _ = model.forward(x.clone());
    assert_eq!(bits(&model.more.modules[2].1.running_var), before, "inference leaves the statistics");
    let trained = bits(&model.forward_mut(x.leaky_trace()));
    assert_ne!(bits(&model.more.modules[2].1.running_var), before, "training reaches batch norm's training path");
    assert_ne!(trained, inferred, "and normalises by the batch");
}

#[test]
fn modes_lost_on_another_thread() {
    let dev = Cpu::seed_from_u64(1);
    let mut model = normed(&dev);
    let x = rows::<4, f32>(&dev);
    let plain = under(Some(Policy::plain()), normed, rows::<4, f32>);
    under(None, normed, rows::<4, f32>).assert_same(&plain, "on this thread");
    // The backward of a forward that ran under a policy is under it too, wherever the scope ends.
    let loss = with_policy(Policy::segments(3), || model.forward_mut(x.leaky_trace())).mean();
    loss.backward();
    // Another thread starts without it, and trains as this one.
    with_policy(Policy::keep(), || {
        thread::spawn(move || under(None, normed, rows::<4, f32>).assert_same(&plain, "on another thread"))
            .join()
            .unwrap();
    });
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Inputs<E: Dtype, D: Device<E>> {
    words: modules::Embedding<5, 4, E, D>,
    a: modules::Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Inputs<E, D> {
    fn forward<B: Dim>(
        &self,
        mask: Option<Tensor<(B, Const<4>), bool, D>>,
        words: Tensor<(B,), usize, D>,
        x: Tensor<(B, Const<4>), E, D>,
        shift: Option<usize>,
        flag: bool,
    ) -> (Tensor<(B, Const<4>), E, D>, usize) {
        #[checkpoint]
        let (y, n) = {
            let y = self.a.forward(x + self.words.forward(words));
            let y = match mask {
                Some(mask) => mask.choose(y, x),
                None => y,
            };
            (if flag { y.tanh() } else { y }, shift.unwrap_or(7))
        };
        (y, n + 1)
    }
}

#[test]
fn none_masks_integer_tensors_and_flags_among_the_inputs() {
    let dev = Cpu::seed_from_u64(1);
    let mut model = dev.build_module::<InputsBuilder, f32>();
    let x = rows::<4, f32>(&dev);
    let words: Tensor<(usize,), usize, _> = dev.tensor_from_vec(vec![0, 4, 4], (3,));
    let mask: Tensor<(usize, Const<4>), bool, _> =
        dev.tensor_from_vec((0..12).map(|i| i % 2 == 0).collect(), (3, Const));
    for mask in [None, Some(mask)] {
        for (shift, flag) in [(None, false), (Some(2), true)] {
            let loss_and_gradients = |policy: Policy, model: &mut Inputs<f32, Cpu>| {
                let traced = x.clone().traced(model.alloc_grads());
                let input = (mask.clone(), words.clone(), traced, shift, flag);
                let (y, n) = with_policy(policy, || model.forward_mut(input));
                assert_eq!(n, shift.unwrap_or(7) + 1);
                let y_bits = bits(&y);
                (y_bits, tests::gradients::by_name(model, &y.square().mean().backward()))
            };
            let plain = loss_and_gradients(Policy::plain(), &mut model);
            assert_eq!(loss_and_gradients(Policy::checkpoint(), &mut model), plain);
            assert_eq!(loss_and_gradients(Policy::keep(), &mut model), plain);
            assert!(plain.1["words.weight"].iter().any(|g| *g != 0.0));
            let (inferred, _) = model.forward((mask.clone(), words.clone(), x.clone(), shift, flag));
            assert_eq!(bits(&inferred), plain.0);
        }
    }
}
