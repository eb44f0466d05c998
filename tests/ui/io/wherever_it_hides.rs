//! In arms, closures, arguments, nested blocks, a helper, and in a loop that is a region.
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
        let x = match x.shape().num_elements() {
            0 => {
                println!("in an arm");
                x
            }
            _ => [1, 2].iter().fold(x, |x, k| {
                eprintln!("in a closure");
                self.a.forward(x)
            }),
        };
        #[checkpoint]
        {
            assert!({
                println!("in an argument");
                true
            });
            let late = || vec![std::fs::read("a")];
        }
        #[checkpoint]
        for layer in &self.layers {
            dbg!(layer);
        }
        #[checkpoint]
        let x = self.twice(x);
        self.report();
        x
    }

    fn twice(&self, x: Tensor<Rank1<4>, E, D>) -> Tensor<Rank1<4>, E, D> {
        println!("in a helper that a region calls");
        self.report();
        self.a.forward(self.a.forward(x))
    }

    fn report(&self) {
        println!("in one that this calls");
    }
}

fn main() {}
