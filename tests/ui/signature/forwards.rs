//! Forwards that no module can have.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct NoTensor<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> NoTensor<E, D> {
    fn forward(&self, n: usize) -> usize {
        n
    }
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Borrows<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Borrows<E, D> {
    fn forward<B: Dim, const N: usize>(
        self,
        x: Tensor<(B, Const<4>), E, D>,
        y: &Tensor<(B, Const<4>), E, D>,
    ) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let z = self.a.forward(x);
        z
    }
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Another<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Another<E, D> {
    fn run(&self, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
        self.a.forward(x)
    }
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Module<Tensor<Rank1<4>, E, D>> for Another<E, D> {
    type Output = Tensor<Rank1<4>, E, D>;
    type Error = D::Err;
    fn try_forward(&self, x: Tensor<Rank1<4>, E, D>) -> Result<Self::Output, D::Err> {
        self.a.try_forward(x)
    }
}

fn main() {}
