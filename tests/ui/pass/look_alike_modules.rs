//! Modules and types of the user's that are called as the standard library's are.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

mod fs {
    pub fn width() -> usize {
        0
    }
}

mod log {
    pub fn levels() -> Vec<usize> {
        Vec::new()
    }
}

mod env {
    pub struct Rounds(pub usize);

    impl Rounds {
        pub fn new(n: usize) -> Self {
            Self(n)
        }
    }
}

struct Instant {
    n: usize,
}

struct Command {
    n: usize,
}

impl Command {
    fn of(i: Instant) -> Self {
        Self { n: i.n }
    }
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = {
            let width = fs::width() + log::levels().len() + env::Rounds::new(2).0;
            let clock = Instant { n: width };
            let process = Command::of(clock);
            let mut h = x;
            for _ in 0..process.n {
                h = self.a.forward(h);
            }
            h
        };
        self.b.forward(h)
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
