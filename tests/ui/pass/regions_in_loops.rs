//! Regions in loops, which are left where no region is.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
    b: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let mut h = x;
        for n in 0..5 {
            if n == 3 {
                break;
            }
            if n == 1 {
                continue;
            }
            #[checkpoint]
            let next = self.a.forward(h).tanh();
            h = next;
        }
        let mut left = 2;
        while left > 0 {
            left -= 1;
            #[checkpoint]
            {
                h = self.b.forward(h);
            }
        }
        #[checkpoint]
        let y = 'rounds: {
            let mut y = h;
            'outer: for n in 0.. {
                loop {
                    match n {
                        0 => continue 'outer,
                        3 => break 'outer,
                        _ => break,
                    }
                }
                y = self.a.forward(y);
                if n > 7 {
                    break 'rounds h;
                }
            }
            y
        };
        y
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
