//! `nn::pre_norm`: which layers and norms it takes, and of how many features.
use ckpt_runtime::prelude::*;

fn main() {
    let dev: Cpu = Default::default();
    let x: Tensor<Rank2<3, 8>, f32, _> = dev.zeros();
    let norm = dev.build_module::<nn::LayerNorm<8>, f32>();
    let layer = dev.build_module::<nn::FeedForward<8, 32>, f32>();
    let other = dev.build_module::<nn::Linear<8, 8>, f32>();
    let _ = nn::pre_norm(x.clone(), &norm, &other, 0.0);
    let _ = nn::pre_norm(x.clone(), &other, &layer, 0.0);
    let wider = dev.build_module::<nn::FeedForward<16, 32>, f32>();
    let _ = nn::pre_norm(x, &norm, &wider, 0.0);
}
