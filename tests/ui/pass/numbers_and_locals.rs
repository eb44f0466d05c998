//! Numbers, arrays and structs of the forward's own that change as it runs.
use std::mem;

use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

const SCALES: [f64; 2] = [1.0, 2.0];

#[derive(Clone, Debug)]
struct Config {
    rounds: usize,
    name: &'static str,
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
        let mut n = 1;
        n += 1;
        let mut total = 0;
        let mut config = Config { rounds: n, name: "x" };
        config.rounds *= 2;
        #[checkpoint]
        let h = {
            let mut grid = [[0; 2]; 2];
            grid[1][0] = SCALES.len();
            grid[0][1] |= 1;
            let (mut a, mut b) = (grid[1][0], 5);
            mem::swap(&mut a, &mut b);
            let old = mem::replace(&mut a, 7);
            let mut scale = SCALES[1];
            scale /= 2.0;
            total += old + a + b;
            config.name = "y";
            self.a.forward(x) * E::from_f64(scale).unwrap()
        };
        assert_eq!((total, config.rounds, config.name), (5 + 7 + 2, 4, "y"));
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
