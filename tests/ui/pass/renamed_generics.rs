//! Generics in another order and by other names.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed]
#[derive(Clone, Debug)]
pub struct Swapped<Gpu: Device<Float>, Float: Dtype, const K: usize> {
    #[checkpoint]
    a: Linear<K, K, Float, Gpu>,
    b: Linear<K, K, Float, Gpu>,
}

#[checkpointed(forward = custom, dtype = P, device = Q)]
#[derive(Clone, Debug)]
pub struct Hidden<Q, P>
where
    P: Dtype,
    Q: Device<P>,
{
    a: Linear<4, 4, P, Q>,
}

#[checkpointed(dtype = P, device = Q)]
impl<Q, P> Hidden<Q, P>
where
    P: Dtype,
    Q: Device<P>,
{
    fn forward<Batch: Dim>(&self, input: Tensor<(Batch, Const<4>), P, Q>) -> Tensor<(Batch, Const<4>), P, Q> {
        #[checkpoint]
        let output = self.a.forward(input).sigmoid();
        output
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<(SwappedBuilder<4>, HiddenBuilder), f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
