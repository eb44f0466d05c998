//! Bytes moved through a field.
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
            self.file.write_all(b);
            self.file.flush();
            self.file.read_line(&mut s);
            self.file.read_to_string(&mut s);
            self.file.read_to_end(&mut v);
            self.file.read_exact(&mut v);
            self.file.write_fmt(args);
            self.file.sync_all();
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
