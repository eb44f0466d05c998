//! Methods of strings that sound like those of cells, files and modules.
use std::fmt::Write;

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
        #[checkpoint]
        let h = {
            let mut text = String::from("a layer");
            let name = text.replace('a', "b").replace("b", "c");
            text.push_str(&name);
            text.push('!');
            text += " and more";
            write!(text, "{}", text.len()).unwrap();
            writeln!(&mut text, " {name}").unwrap();
            text.insert(0, 'x');
            text.truncate(9);
            let first = text.pop();
            let lines: Vec<&str> = text.lines().take(3).collect();
            let joined = lines.join("/");
            assert!(first.is_some() && joined.len() < 99);
            text.clear();
            self.a.forward(x)
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
