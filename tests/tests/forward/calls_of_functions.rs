//! A checkpointed function in a checkpointed forward, and a model that a macro of the user's writes.
use ckpt_runtime::{checkpoint, checkpointed, prelude::*};
use dfdx::nn::modules;

#[checkpoint]
fn ffn<B: Dim, const M: usize, E: Dtype, D: Device<E>>(
    l: &modules::Linear<M, M, E, D>,
    bn: &mut modules::BatchNorm1D<M, E, D>,
    x: Tensor<(B, Const<M>), E, D>,
    flag: bool,
) -> Tensor<(B, Const<M>), E, D> {
    if flag {
        return x;
    }
    let h = bn.forward(l.forward(x));
    h.relu() + x
}

/// m
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Fm<const M: usize, E: Dtype, D: Device<E>> {
    l: modules::Linear<M, M, E, D>,
    bn: modules::BatchNorm1D<M, E, D>,
    many: Repeated<modules::Linear<M, M, E, D>, 2>,
}
#[checkpointed]
impl<const M: usize, E: Dtype, D: Device<E>> Fm<M, E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
        let h = ffn(&self.l, &mut self.bn, x, false);
        #[checkpoint]
        let g = {
            let f = |t| self.l.forward(t);
            let a = f(x);
            self.bn.forward(a)
        };
        let mut k = g;
        for b in &self.many {
            k = ffn(b, &mut self.bn, k, false);
        }
        h + k
    }
}
macro_rules! make {
    ($N:ident, $f:ident) => {
        /// by macro
        #[checkpointed(forward = custom)]
        #[derive(Clone, Debug)]
        pub struct $N<E: Dtype, D: Device<E>> {
            $f: modules::Linear<3, 3, E, D>,
            other: modules::Linear<3, 3, E, D>,
        }
        #[checkpointed]
        impl<E: Dtype, D: Device<E>> $N<E, D> {
            fn forward<B: Dim>(&self, x: Tensor<(B, Const<3>), E, D>) -> Tensor<(B, Const<3>), E, D> {
                let mut h = x;
                #[checkpoint]
                {
                    h = self.$f.forward(self.other(h));
                }
                #[checkpoint]
                let y = self.go(h);
                y + x
            }
            fn go<B: Dim>(&self, x: Tensor<(B, Const<3>), E, D>) -> Tensor<(B, Const<3>), E, D> {
                self.$f.forward(x)
            }
        }
    };
}
make!(Made, inner);
#[test]
fn functions_and_macros_of_the_user() {
    let dev = Cpu::seed_from_u64(0);
    let m: Fm<4, f32, Cpu> = BuildModule::build(&dev);
    let x: Tensor<(usize, Const<4>), f32, _> = dev.sample_normal_like(&(5usize, Const));
    let mut first = None;
    for p in [Policy::plain(), Policy::keep(), Policy::checkpoint()] {
        let mut m = m.clone();
        let (y, g) = with_policy(p.clone(), || {
            let y = m.forward_mut(x.leaky_trace());
            (y.as_vec(), y.square().mean().backward())
        });
        let got = (y, g.get(&x).as_vec(), g.get(&m.l.weight).as_vec(), m.bn.running_mean.as_vec());
        assert_eq!(*first.get_or_insert_with(|| got.clone()), got, "{p:?}");
    }
    assert!(m.forward(x).as_vec()[0].is_finite());
    let m = dev.build_module::<MadeBuilder, f32>();
    let x: Tensor<(usize, Const<3>), f32, _> = dev.sample_normal_like(&(5usize, Const));
    assert!(m.forward(x).as_vec()[0].is_finite());
}
