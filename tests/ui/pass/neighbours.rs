//! Right, and near to what is refused.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

/// As many segments as layers, and one.
#[checkpointed]
#[derive(Clone, Debug)]
struct Segments<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 3)]
    all: Repeated<Linear<4, 4, E, D>, 3>,
    #[checkpoint(segments = 1)]
    one: (Linear<4, 4, E, D>, ReLU),
}

/// A part of a larger model may be one region.
#[checkpointed(allow(whole_model))]
#[derive(Clone, Debug)]
struct Part<E: Dtype, D: Device<E>> {
    #[checkpoint]
    all: (Linear<4, 4, E, D>, ReLU),
}

/// A forward is left early outside of a region, and a loop inside of one by its own `break`.
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Leaves<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    #[skip]
    stop: bool,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Leaves<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        if self.stop {
            return x;
        }
        #[checkpoint]
        let y = {
            let mut y = x;
            for n in 0.. {
                if n == 2 {
                    break;
                }
                y = self.a.forward(y);
            }
            y
        };
        y
    }
}

pub fn main() {
    type Net = (SegmentsBuilder, PartBuilder, LeavesBuilder);
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<Net, f32>();
    let x: Tensor<Rank2<2, 4>, f32, _> = dev.sample_normal();
    model.forward_mut(x.traced(model.alloc_grads())).mean().backward();
}
