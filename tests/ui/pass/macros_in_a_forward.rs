//! Macros of the standard library and of the user among the statements.
use ckpt_runtime::prelude::*;
use dfdx::nn::modules::Linear;

macro_rules! twice {
    ($e:expr) => {
        2.0 * $e
    };
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
        assert_eq!(x.shape().num_elements() % 4, 0, "rows of {}", 4);
        #[checkpoint]
        let h = {
            debug_assert!(matches!(Some(2), Some(n) if n > 1));
            let scales = vec![twice!(0.5), 2.0, f64::from(u8::MAX.min(1))];
            let name = format!("{} of {}", stringify!(h), scales.len());
            assert!(name.ends_with(concat!("of ", 3)), "{name}");
            let mut h = x;
            for s in scales {
                h = self.a.forward(h) * E::from_f64(s).unwrap();
            }
            h
        };
        let y = self.b.forward(h);
        if x.shape().num_elements() == 0 {
            unreachable!("an empty batch: {}", line!());
        }
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
