//! Fields, marks and methods that are there or not.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[cfg_attr(not(doc), derive(Clone, Debug))]
pub struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    a: Linear<4, 4, E, D>,
    #[cfg(doc)]
    #[checkpoint(no_such_option)]
    gone: NoSuchLayer,
    #[cfg(not(doc))]
    #[cfg_attr(not(doc), checkpoint(verify))]
    b: (Linear<4, 4, E, D>, ReLU),
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    #[cfg(doc)]
    gone: NoSuchLayer,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let rounds = if cfg!(debug_assertions) { 2 } else { 3 };
        #[checkpoint]
        let y = {
            let mut y = x;
            for _ in 0..rounds {
                y = self.a.forward(y);
            }
            y
        };
        y
    }

    #[cfg(doc)]
    fn gone(&self) -> NoSuchType {
        println!("never")
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(ModelBuilder, BlockBuilder), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
