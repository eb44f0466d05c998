//! What prints or logs, twice a step.
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
            print!("a");
            println!("{x:?}");
            eprint!("a");
            eprintln!("b");
            std::println!("c");
            let x = dbg!(x);
            log::info!("d");
            tracing::debug!(loss = 1, "e");
            error!("f");
            warn!("g");
            info!("h");
            debug!("i");
            trace!("j");
            write!(self.out, "k").unwrap();
            writeln!(std::io::sink(), "l").unwrap();
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
