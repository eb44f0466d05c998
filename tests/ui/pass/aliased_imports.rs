//! Everything under other names: the crate, the attributes, the layers, the traits.
use std::{collections::BTreeMap as Table, fmt::Write as _, mem as memory};

use ckpt_runtime::{
    checkpoint_sequential as chain, checkpointed as region_model,
    prelude::{
        Const as Fixed, Cpu as Host, Device as Place, Dim as Size, Dtype as Number, ModuleMut as _,
        OwnedTape as Recording, Tensor as Array, checkpoint as region, *,
    },
};
use dfdx::nn::{
    builders,
    modules::{Linear as Dense, ReLU as Rectify},
};

type Net = chain!(segments = 1, builders::Linear<4, 4>, Rectify);

#[region_model(forward = custom, dtype = E, device = D)]
#[derive(Clone, Debug)]
struct Block<E: Number, D: Place<E>> {
    write: Dense<4, 4, E, D>,
    swap: Dense<4, 4, E, D>,
}

#[region_model(dtype = E, device = D)]
impl<E: Number, D: Place<E>> Block<E, D> {
    fn forward<B: Size>(&self, x: Tensor<(B, Fixed<4>), E, D>) -> Tensor<(B, Fixed<4>), E, D> {
        #[checkpoint]
        let h = {
            let mut table: Table<usize, String> = Table::new();
            let mut text = String::new();
            write!(text, "{}", table.len()).unwrap();
            let (mut a, mut b) = (1, 2);
            memory::swap(&mut a, &mut b);
            table.insert(a + b, memory::take(&mut text));
            self.write.forward(x)
        };
        self.swap.forward(h)
    }
}

#[region(dtype = E, device = D)]
fn halved<B: Size, E: Number, D: Place<E>>(
    layer: &Dense<4, 4, E, D>,
    x: Tensor<(B, Fixed<4>), E, D>,
) -> Tensor<(B, Fixed<4>), E, D> {
    layer.forward(x) * E::from_f64(0.5).unwrap()
}

pub fn main() {
    let dev: Host = Default::default();
    let mut model = dev.build_module::<(Net, BlockBuilder), f32>();
    let x: Array<Rank2<3, 4>, f32, Host> = dev.sample_normal();
    let y: Array<Rank2<3, 4>, f32, Host, Recording<f32, Host>> = model.forward_mut(x.leaky_trace());
    halved(&model.1.swap, y).mean().backward();
}
