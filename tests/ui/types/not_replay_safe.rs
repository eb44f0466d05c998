//! dfdx's dropout draws where nothing can record it: the layer is named at the field.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules;

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: (modules::Linear<4, 4, E, D>, modules::Dropout),
    #[checkpoint]
    deep: Repeated<Residual<(modules::Linear<4, 4, E, D>, modules::DropoutOneIn<2>)>, 3>,
    // Where nothing is recomputed it may stay.
    kept: modules::Dropout,
}

checkpoint_sequential! { each; struct Sequence { a: Linear<4, 4>, b: Dropout } }

fn main() {
    let dev: Cpu = Default::default();
    let cut = dev.build_module::<checkpoint_sequential!(each, Linear<4, 4>, Dropout), f32>();
    let x: Tensor<Rank1<4>, f32, _> = dev.zeros();
    cut.forward(x.leaky_trace());
}
