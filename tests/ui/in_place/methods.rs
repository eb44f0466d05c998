//! Methods of tensors that change them in place.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward(&self, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
        #[checkpoint]
        let x = {
            x.axpy(0.5, &x, 0.5);
            x.try_axpy(0.5, &x, 0.5)?;
            x.fill_with_zeros();
            x.try_fill_with_zeros()?;
            x.fill_with_ones();
            x.try_fill_with_ones()?;
            x.fill_with_distr(Standard);
            x.try_fill_with_distr(Standard)?;
            x.copy_from(&[0.0; 4]);
            x.load_from_npy("x.npy").unwrap();
            x.load_safetensor(&tensors, "x").unwrap();
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
