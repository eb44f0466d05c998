//! Methods that change what is in a field.
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
            self.field.push(1);
            self.field.push_str("a");
            self.field.push_back(1);
            self.field.push_front(1);
            self.field.append(&mut v);
            self.field.extend(v);
            self.field.insert(1, x);
            self.field.get_or_insert_with(f);
            self.field.entry(1);
            self.field.pop();
            self.field.pop_front();
            self.field.pop_back();
            self.field.remove(0);
            self.field.truncate(1);
            self.field.retain(f);
            self.field.drain(..);
            self.field.clear();
            self.field.take();
            self.field.replace(1);
            self.field.sort();
            self.field.reset_params();
            self.field.try_reset_params()?;
            self.field.ema(&self.a, 0.9);
            self.field.try_ema(&self.a, 0.9)?;
            self.field.load_safetensors("w");
            self.a.forward(x)
        };
        x
    }
}

fn main() {}
