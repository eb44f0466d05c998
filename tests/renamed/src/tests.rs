//! They train.

use other::prelude::*;

use crate::bare::{FieldsBuilder, FlowBuilder, Named, Sequence, expressions};

#[test]
fn what_is_declared_trains() {
    type Net = (FieldsBuilder<Named>, FlowBuilder, Sequence);
    let dev = Cpu::seed_from_u64(1);
    let mut model = dev.build_module::<Net, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let mut gradients = |policy: Policy| {
        let traced = x.clone().leaky_trace();
        let gradients = with_policy(policy, || model.forward_mut(traced)).square().mean().backward();
        gradients.get(&x).array()
    };
    let plain = gradients(Policy::plain());
    assert_eq!(gradients(Policy::checkpoint()), plain);
    assert_ne!(plain, [[0.0; 4]; 3]);
}

#[test]
fn expressions_train() {
    let dev = Cpu::seed_from_u64(1);
    let layer = dev.build_module::<Linear<4, 4>, f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.sample_normal();
    let gradients = expressions(&layer, x.clone().leaky_trace()).unwrap().mean().backward();
    assert_ne!(gradients.get(&x).array(), [0.0; 4]);
}
