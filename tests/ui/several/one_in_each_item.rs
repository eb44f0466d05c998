//! One mistake in a struct, an impl, a function and a sequence each: what is beside them still works.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Ordered<E: Dtype, D: Device<E>> {
    #[checkpoint(kep)]
    pub a: Linear<4, 4, E, D>,
    pub b: ReLU,
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Custom<E: Dtype, D: Device<E>> {
    pub a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Custom<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = self.a.forward(x).dropout(0.5);
        h
    }

    fn width(&self) -> usize {
        4
    }
}

#[checkpoint]
fn reported<B: Dim, E: Dtype, D: Device<E>>(
    a: &Linear<4, 4, E, D>,
    x: Tensor<(B, Const<4>), E, D>,
) -> Tensor<(B, Const<4>), E, D> {
    println!("here");
    a.forward(x)
}

checkpoint_sequential! { segments = 0; struct Named { a: builders::Linear<4, 4>, b: ReLU } }

trait Width {
    fn twice(&self) -> usize;
}

impl<E: Dtype, D: Device<E>> Width for Custom<E, D> {
    fn twice(&self) -> usize {
        2 * self.width()
    }
}

fn main() {
    let dev: Cpu = Default::default();
    let mut ordered = dev.build_module::<OrderedBuilder, f32>();
    let mut custom = dev.build_module::<CustomBuilder, f32>();
    let mut named = dev.build_module::<Named, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.zeros();
    let _: Tensor<Rank2<3, 4>, f32, _> = ordered.forward(x.clone());
    let y = ordered.forward_mut(x.clone().leaky_trace());
    let y = custom.forward_mut(y);
    let y = reported(&custom.a, y);
    let _ = named.forward_mut(y).mean().backward();
    let _ = (custom.twice(), &ordered.a.weight, &named.a.bias, custom.forward(x));
}
