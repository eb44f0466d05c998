//! `match` with guards, `if let` chains, `let else`, ranges and bindings.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[derive(Clone, Copy, Debug, Boundary)]
pub enum Mode {
    Off,
    Rounds(usize),
    Named { name: &'static str },
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    a: Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>, mode: Mode) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let h = match mode {
            Mode::Off => x,
            Mode::Rounds(n @ 1..=3) if n != 2 => self.a.forward(x),
            Mode::Rounds(_) => self.a.forward(self.a.forward(x)),
            Mode::Named { name } => {
                let Some(first) = name.chars().next() else { return_nothing(name) };
                if let 'a'..='f' = first
                    && name.len() > 1
                {
                    self.a.forward(x)
                } else {
                    x.relu()
                }
            }
        };
        h.relu() + x
    }
}

fn return_nothing(name: &str) -> ! {
    panic!("no letter in {name:?}")
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    for mode in [Mode::Off, Mode::Rounds(1), Mode::Rounds(2), Mode::Named { name: "abc" }] {
        let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
        model.forward_mut((x.traced(model.alloc_grads()), mode)).square().mean().backward();
    }
}
