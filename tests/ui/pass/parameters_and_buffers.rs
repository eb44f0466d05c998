//! Bare tensors, numbers and what is not saved, as fields.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

fn small<S: ConstShape, E: Dtype, D: Device<E>>(t: &mut Tensor<S, E, D>) -> Result<(), D::Err> {
    t.try_fill_with_ones()
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Scaled<const M: usize, E: Dtype, D: Device<E>> {
    linear: Linear<M, M, E, D>,
    #[param(init = small)]
    scale: Tensor<Rank1<M>, E, D>,
    #[param(init = zeros)]
    shift: Tensor<(Const<M>,), E, D>,
    #[buffer(init = |t| t.try_fill_with_zeros())]
    base: Tensor<Rank1<M>, E, D>,
    #[scalar(default = 0.5)]
    gain: f64,
    #[skip]
    names: Vec<String>,
}

#[checkpointed]
impl<const M: usize, E: Dtype, D: Device<E>> Scaled<M, E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
        let shape = *x.shape();
        let gain = E::from_f64(self.gain).unwrap();
        #[checkpoint]
        let h = {
            let h = self.linear.forward(x) * self.scale.clone().broadcast_like(&shape);
            assert!(self.names.iter().all(|name| !name.is_empty()));
            h * gain + self.shift.clone().broadcast_like(&shape)
        };
        h - self.base.clone().broadcast_like(&shape)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<ScaledBuilder<4>, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
