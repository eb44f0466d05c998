//! Checkpointed functions in a module without the standard prelude.
#![no_implicit_prelude]

mod model {
    use ::ckpt_runtime::prelude::{
        BatchNorm1D, Const, Device, Dim, Dtype, Linear, Tensor, checkpoint, checkpointed, modules,
    };
    use ::std::clone::Clone;
    use ::std::fmt::Debug;
    use ::std::option::Option::{self, None, Some};
    use ::std::prelude::v1::derive;

    #[checkpoint]
    pub fn norm<B: Dim, const M: usize, E: Dtype, D: Device<E>>(
        l: &modules::Linear<M, M, E, D>,
        bn: &mut modules::BatchNorm1D<M, E, D>,
        x: Tensor<(B, Const<M>), E, D>,
        shift: Option<Tensor<(B, Const<M>), E, D>>,
    ) -> Tensor<(B, Const<M>), E, D> {
        let h = bn.forward(l.forward(x)).tanh();
        match shift {
            Some(s) => h + s,
            None => h,
        }
    }

    /// Hands its modules on, more than once.
    #[checkpoint]
    pub fn twice<B: Dim, const M: usize, E: Dtype, D: Device<E>>(
        l: &modules::Linear<M, M, E, D>,
        bn: &mut modules::BatchNorm1D<M, E, D>,
        x: Tensor<(B, Const<M>), E, D>,
    ) -> Tensor<(B, Const<M>), E, D> {
        let h = norm(l, bn, x, None);
        norm(l, bn, h, Some(x))
    }

    #[checkpointed(forward = custom)]
    #[derive(Clone, Debug)]
    pub struct Block<const M: usize, E: Dtype, D: Device<E>> {
        pub l: modules::Linear<M, M, E, D>,
        pub bn: modules::BatchNorm1D<M, E, D>,
    }

    #[checkpointed]
    impl<const M: usize, E: Dtype, D: Device<E>> Block<M, E, D> {
        fn forward<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
            let h = norm(&self.l, &mut self.bn, x, None);
            #[checkpoint]
            let y = h + twice(&self.l, &mut self.bn, h);
            y
        }
    }

    pub type Parts = (Linear<4, 4>, BatchNorm1D<4>);
}

#[test]
fn functions_in_a_checkpointed_forward() {
    use ::ckpt_runtime::prelude::*;
    use ::std::{prelude::v1::*, vec::Vec};
    let dev = Cpu::seed_from_u64(0);
    let (l, bn) = dev.build_module::<model::Parts, f32>();
    let start = model::Block { l, bn };
    let x: Tensor<(usize, Const<4>), f32, Cpu> = dev.sample_normal_like(&(5, Const));
    let look = |m: &model::Block<4, f32, Cpu>, y: Tensor<(usize, Const<4>), f32, Cpu, OwnedTape<f32, Cpu>>| {
        let g = y.square().sum().backward();
        (g.get(&m.l.weight).array(), g.get(&m.bn.scale).array(), m.bn.running_mean.array(), g.get(&x).as_vec())
    };
    let expected = {
        let mut m = start.clone();
        let h = m.bn.forward_mut(m.l.forward(x.leaky_trace())).tanh();
        let h0 = h.with_empty_tape();
        let h1 = h.with_empty_tape();
        let a = m.bn.forward_mut(m.l.forward(h)).tanh();
        let b = m.bn.forward_mut(m.l.forward(a)).tanh() + h0;
        let y = h1 + b;
        look(&m, y)
    };
    for policy in [Policy::plain(), Policy::keep(), Policy::checkpoint(), Policy::checkpoint().verify(0.0)] {
        let mut m = start.clone();
        let y = with_policy(policy, || m.forward_mut(x.leaky_trace()));
        assert_eq!(look(&m, y), expected);
    }
    let y: Vec<f32> = start.forward(x.clone()).as_vec();
    assert_eq!(y.len(), 20);
}
