//! Generators seeded anew, and such as come in.
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
            rand::random();
            rand::random_range(0..4);
            rand::thread_rng();
            rand::rng();
            thread_rng();
            fastrand::f32();
            getrandom::fill(&mut b);
            StdRng::from_entropy();
            SmallRng::from_entropy();
            StdRng::from_os_rng();
            SmallRng::from_os_rng();
            rand::rngs::OsRng;
            Uuid::new_v4();
            RandomState::new();
            self.rng.gen_range(0..4);
            self.rng.gen_bool(0.5);
            self.rng.random_range(0..4);
            self.rng.random_bool(0.5);
            self.rng.next_u32();
            self.rng.next_u64();
            self.rng.fill_bytes(&mut b);
            order.shuffle(&mut rng);
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
