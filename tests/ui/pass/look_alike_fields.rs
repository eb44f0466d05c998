//! Layers and locals that go by the names of what is refused.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Block<E: Dtype, D: Device<E>> {
    log: Linear<4, 4, E, D>,
    store: Linear<4, 4, E, D>,
    trace: Linear<4, 4, E, D>,
    dropout: nn::Dropout,
    spawn: Tanh,
    set: ReLU,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Block<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let log = self.log.forward(x);
        #[checkpoint]
        let store = {
            let println = self.store.forward(log);
            let fs = self.set(println);
            let rand = self.dropout.forward(fs);
            let env = self.send(rand);
            let unsafe_code = env + log;
            self.spawn(unsafe_code)
        };
        let thread = self.trace.forward(store);
        thread
    }

    /// Sends nothing to anybody.
    fn send<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        x.relu()
    }
}

pub fn main() {
    let dev: Cpu = Default::default();
    let mut model = dev.build_module::<BlockBuilder, f32>();
    let x: Tensor<Rank2<3, 4>, f32, _> = dev.sample_normal();
    let _ = model.forward(x.clone());
    model.forward_mut(x.traced(model.alloc_grads())).square().mean().backward();
}
