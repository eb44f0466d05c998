//! Models in modules of their own, visible as far as they say.
use ckpt_runtime::prelude::*;

mod layers {
    pub(super) mod inner {
        use ckpt_runtime::prelude::*;
        use dfdx::nn::modules::Linear;

        #[checkpointed(forward = custom)]
        #[derive(Clone, Debug)]
        pub(in super::super) struct Block<E: Dtype, D: Device<E>> {
            pub(super) a: Linear<4, 4, E, D>,
        }

        #[checkpointed]
        impl<E: Dtype, D: Device<E>> Block<E, D> {
            fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
                #[checkpoint]
                let h = self.a.forward(x).relu();
                h + self::shift(x)
            }
        }

        fn shift<B: Dim, E: Dtype, D: Device<E>, T: Tape<E, D>>(
            x: Tensor<(B, Const<4>), E, D, T>,
        ) -> Tensor<(B, Const<4>), E, D, T> {
            x.negate()
        }
    }
}

#[checkpointed]
#[derive(Clone, Debug)]
struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 2)]
    blocks: Repeated<layers::inner::Block<E, D>, 3>,
    head: dfdx::nn::modules::Linear<4, 2, E, D>,
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<ModelBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
