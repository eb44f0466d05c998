//! With a mistake in its forward a model is still all that it was: only the mistake is reported.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Block<E: Dtype, D: Device<E>> {
    pub a: Linear<4, 4, E, D>,
    pub b: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    pub const WIDTH: usize = 4;

    pub fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = {
            println!("in the block");
            self.mix(self.a.forward(x))
        };
        h
    }

    /// A helper that only the macro can read.
    pub fn mix<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        self.b.forward(x.clone()) + x
    }

    pub fn width(&self) -> usize {
        Self::WIDTH
    }
}

impl<E: Real, D: Device<E>> Block<E, D> {
    pub fn twice(&self) -> usize {
        2 * self.width()
    }
}

/// Functions, too, keep their types.
#[checkpoint]
pub fn scaled<E: Dtype, D: Device<E>>(a: &Linear<4, 4, E, D>, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
    println!("in the function");
    a.forward(x)
}

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Model<E: Dtype, D: Device<E>> {
    #[checkpoint]
    blocks: Repeated<Block<E, D>, 2>,
    head: Linear<4, 2, E, D>,
}

fn main() {
    let dev = Cpu::default();
    let mut model = dev.build_module::<ModelBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.zeros();
    let _: Tensor<Rank2<3, 2>, f32, Cpu> = model.forward(x.clone());
    let loss = model.forward_mut(x.clone().leaky_trace()).square().mean();
    let _ = loss.backward();
    let block = &mut model.blocks.modules[0];
    let _ = (block.twice() + Block::<f32, Cpu>::WIDTH, &block.a.weight, block.mix(x.clone()));
    let _ = (block.forward(x.clone()), block.forward_mut(x.leaky_trace()));
    let row: Tensor<Rank1<4>, f32, _> = dev.zeros();
    let _ = (scaled(&model.blocks.modules[0].a, row.clone()), try_scaled(&model.blocks.modules[0].a, row.leaky_trace()));
    let _ = model.num_trainable_params();
}
