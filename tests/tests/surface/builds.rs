//! Building a declared model in dfdx's ways, and using it as any module of dfdx.

use ckpt_runtime::prelude::*;
use dfdx::nn::modules;

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Net<const W: usize, E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: (modules::Linear<4, W, E, D>, ReLU),
    #[checkpoint]
    b: modules::Linear<W, 4, E, D>,
}

#[test]
fn by_the_device_by_itself_and_inside_dfdxs_containers() {
    let dev: Cpu = Default::default();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();

    let one = dev.build_module::<NetBuilder<5>, f32>();
    let two: Net<5, f32, Cpu> = BuildModule::build(&dev);
    let three = Net::<5, f32, Cpu>::build(&dev);
    let _ = [one, two, three].map(|m| m.forward(x.clone()));

    type Inside = (Repeated<NetBuilder<5>, 2>, Residual<NetBuilder<6>>, SplitInto<(NetBuilder<5>, NetBuilder<7>)>);
    let mut inside = dev.build_module::<Inside, f32>();
    let (a, b) = inside.forward_mut(x.leaky_trace());
    let gradients = (a.square().mean() + b.square().mean()).backward();
    assert_eq!(gradients.get(&inside.0.modules[1].b.weight).shape(), &(Const::<4>, Const::<5>));
}

#[test]
fn the_builder_is_plain_data() {
    let builder = NetBuilder::<5>::default();
    assert_eq!(format!("{:?}", builder.clone()), "NetBuilder");
}

/// A function over any dtype and device, as a library would write it.
fn generic<E: Real, D: Device<E> + DeviceBuildExt>(dev: &D) -> Net<5, E, D> {
    dev.build_module::<NetBuilder<5>, E>()
}

#[test]
fn in_generic_code() {
    let dev = Cpu::default();
    let model = generic::<f64, _>(&dev);
    let x: Tensor<Rank1<4>, f64, _> = dev.zeros();
    let _ = model.forward(x);
}
