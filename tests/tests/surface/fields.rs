//! A struct whose fields run in order: its marks and all their options.

use ckpt_runtime::prelude::*;
use dfdx::nn::modules;
use tests::compare::bits;

use crate::same::{Forward, Traced, one_function, rows, trains_as, trains_by_reference};

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Mlp<const IN: usize, const HID: usize, const OUT: usize, E: Dtype, D: Device<E>> {
    #[checkpoint]
    encode: (modules::Linear<IN, HID, E, D>, ReLU, modules::Linear<HID, HID, E, D>, ReLU),
    #[checkpoint]
    mix: Residual<(modules::Linear<HID, HID, E, D>, Tanh)>,
    head: modules::Linear<HID, OUT, E, D>,
}

fn mlp<E: Real>(dev: &Cpu) -> Mlp<4, 6, 2, E, Cpu>
where
    Cpu: Device<E>,
{
    dev.build_module::<MlpBuilder<4, 6, 2>, E>()
}

#[test]
fn marked_fields_recompute_and_train_as_plain() {
    trains_as(mlp::<f32>, rows::<4, f32>, |m, x| {
        let x = m.mix.try_forward_mut(m.encode.try_forward_mut(x)?)?;
        m.head.try_forward_mut(x)
    });
    trains_as(mlp::<f64>, rows::<4, f64>, |m, x| {
        let x = m.mix.try_forward_mut(m.encode.try_forward_mut(x)?)?;
        m.head.try_forward_mut(x)
    });
}

#[test]
fn every_way_to_call_it_is_the_same_function() {
    one_function(mlp::<f32>, rows::<4, f32>, |y| bits(&y), |y| bits(&y));
    trains_by_reference(mlp::<f32>, rows::<4, f32>);
}

#[test]
fn any_rank_of_input_passes() {
    let dev = Cpu::default();
    let model = mlp::<f32>(&dev);
    let one: Tensor<Rank1<4>, f32, _> = dev.sample_normal();
    let _: Tensor<Rank1<2>, f32, _> = model.forward(one);
    let batches: Tensor<Rank3<2, 3, 4>, f32, _> = dev.sample_normal();
    let _: Tensor<Rank3<2, 3, 2>, f32, _, OwnedTape<f32, Cpu>> = model.forward(batches.leaky_trace());
}

type Layer<E, D> = (modules::Linear<4, 4, E, D>, Tanh);

/// Every option of a field that runs.
#[checkpointed(name = "net")]
#[derive(Clone, Debug)]
struct Options<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 2)]
    cut: Repeated<Layer<E, D>, 3>,
    #[checkpoint(each)]
    each: Repeated<Layer<E, D>, 2>,
    #[checkpoint(segments = 3, verify)]
    tuple: (modules::Linear<4, 4, E, D>, ReLU, modules::Linear<4, 4, E, D>, modules::BatchNorm1D<4, E, D>),
    #[checkpoint(keep)]
    kept: Layer<E, D>,
    #[checkpoint(plain)]
    plain: Layer<E, D>,
    #[checkpoint(verify)]
    verified: Layer<E, D>,
    #[checkpoint(verify(tolerance = 1e-6))]
    nearly: Layer<E, D>,
    #[checkpoint(name = "mine", verify(tolerance = 1))]
    named: (modules::BatchNorm1D<4, E, D>, nn::Dropout),
    unmarked: Layer<E, D>,
}

fn options_by_hand(m: &mut Options<f32, Cpu>, x: Traced<4>) -> Forward<Traced<4>> {
    let x = m.cut.try_forward_mut(x)?;
    let x = m.each.try_forward_mut(x)?;
    let x = m.tuple.try_forward_mut(x)?;
    let x = m.kept.try_forward_mut(x)?;
    let x = m.plain.try_forward_mut(x)?;
    let x = m.verified.try_forward_mut(x)?;
    let x = m.nearly.try_forward_mut(x)?;
    let x = m.named.try_forward_mut(x)?;
    m.unmarked.try_forward_mut(x)
}

#[test]
fn every_option_of_a_field_trains_as_plain() {
    trains_as(|dev| dev.build_module::<OptionsBuilder, f32>(), rows::<4, f32>, options_by_hand);
}

#[checkpointed(allow(whole_model))]
#[derive(Clone, Debug)]
struct Whole<E: Dtype, D: Device<E>> {
    #[checkpoint]
    all: Layer<E, D>,
}

#[checkpointed]
#[derive(Clone, Debug)]
struct WholeByField<E: Dtype, D: Device<E>>(#[checkpoint(allow(whole_model))] Layer<E, D>);

#[test]
fn a_part_of_a_larger_model_may_be_one_region() {
    trains_as(
        |dev| dev.build_module::<(WholeBuilder, ReLU, WholeByFieldBuilder), f32>(),
        rows::<4, f32>,
        |m, x| {
            let x = m.1.try_forward_mut(m.0.all.try_forward_mut(x)?)?;
            m.2.0.try_forward_mut(x)
        },
    );
}

#[checkpointed]
#[derive(Clone, Debug)]
struct Blocks<const W: usize, E: Dtype, D: Device<E>> {
    norm: modules::LayerNorm1D<W, E, D>,
    #[checkpoint]
    ff: Residual<(modules::Linear<W, W, E, D>, Tanh)>,
}

#[checkpointed]
#[derive(Clone, Debug)]
struct Deep<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 4)]
    blocks: Repeated<Blocks<4, E, D>, 12>,
    #[checkpoint(each)]
    more: Repeated<Blocks<4, E, D>, 3>,
    #[checkpoint]
    wide: (Blocks<4, E, D>, Blocks<4, E, D>),
}

#[test]
fn regions_nest_in_repeats_and_tuples() {
    trains_as(
        |dev| dev.build_module::<DeepBuilder, f32>(),
        rows::<4, f32>,
        |m, mut x| {
            let blocks = m.blocks.modules.iter_mut().chain(&mut m.more.modules);
            for block in blocks.chain([&mut m.wide.0, &mut m.wide.1]) {
                x = block.ff.try_forward_mut(block.norm.try_forward_mut(x)?)?;
            }
            Ok(x)
        },
    );
}

#[checkpointed]
#[derive(Clone, Debug)]
struct Held<E: Dtype, D: Device<E>> {
    #[policy]
    policy: Policy,
    #[checkpoint]
    a: Layer<E, D>,
    #[checkpoint]
    b: Layer<E, D>,
    #[skip]
    calls: u32,
}

#[test]
fn a_policy_that_the_model_holds_is_in_force_and_changes_no_bit() {
    for policy in
        [Policy::default(), Policy::plain(), Policy::keep(), Policy::checkpoint().region("Held.a", Mode::Keep)]
    {
        trains_as(
            |dev| {
                let mut model = dev.build_module::<HeldBuilder, f32>();
                assert_eq!((&model.policy, model.calls), (&Policy::default(), 0));
                model.policy = policy.clone();
                model
            },
            rows::<4, f32>,
            |m, x| m.b.try_forward_mut(m.a.try_forward_mut(x)?),
        );
    }
}
