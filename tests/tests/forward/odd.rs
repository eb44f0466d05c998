//! Forwards with much of Rust in them, on odd structs: the modes agree to the bit.
#![allow(clippy::never_loop)]
use ckpt_runtime::{checkpointed, prelude::*};
use dfdx::nn::modules;

type Lin<const M: usize, E, D> = modules::Linear<M, M, E, D>;

/// a
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Odd<const M: usize, T: Dtype, V: Device<T>> {
    a: Lin<M, T, V>,
    r#type: Lin<M, T, V>,
    bn: modules::BatchNorm1D<M, T, V>,
    stack: Repeated<(Lin<M, T, V>, modules::BatchNorm1D<M, T, V>), 3>,
    pair: (Lin<M, T, V>, Lin<M, T, V>),
    #[policy]
    policy: Policy,
    #[scalar(default = 0.5)]
    gain: f64,
}

#[checkpointed]
impl<const M: usize, T: Dtype, V: Device<T>> Odd<M, T, V> {
    /// Runs.
    pub fn forward<B: Dim>(
        &self,
        (x, opt): (Tensor<(B, Const<M>), T, V>, Option<Tensor<(B, Const<M>), T, V>>),
        mut k: usize,
    ) -> (Vec<Tensor<(B, Const<M>), T, V>>, Tensor<(B, Const<M>), T, V>) {
        let Self { a, pair, .. } = self;
        let r#fn = a.forward(x);
        #[checkpoint]
        let h: Tensor<(B, Const<M>), T, V> = {
            let t = r#fn + a.forward(a.forward(x));
            let u = self.r#type.forward(t) * T::from_f64(self.gain).unwrap();
            self.help(u, 1) + pair.0.forward(t)
        };
        let f = |t: Tensor<(B, Const<M>), T, V>| self.bn.forward(t);
        let h = f(h) + h;
        let mut outs = Vec::new();
        let late;
        #[checkpoint]
        {
            late = h + r#fn;
            outs.push(h);
            k += 1;
        }
        let mut h = late;
        'outer: while k < 10 {
            k += 3;
            let Some(b) = self.stack.modules.get(k % 3) else { panic!("no block {k}") };
            h = b.forward(h);
            loop {
                if k > 8 {
                    break 'outer;
                }
                #[checkpoint(keep)]
                let g = self.stack.modules[k % 3].forward(h);
                h = g - h;
                break;
            }
        }
        for b in &self.stack {
            h = self.help(b.forward(h), 0);
            h = b.0.forward(h);
        }
        let (mut p, mut q) = (h, x);
        (p, q) = (q, p);
        #[checkpoint]
        {
            (p, q) = (self.pair.1.forward(q), p.relu());
        }
        let ds = match opt {
            Some(o) if k > 2 => o + p,
            _ => p,
        };
        #[checkpoint]
        for (l, s) in self.stack.iter().zip([1.0, 2.0, 3.0]) {
            let s: f64 = s;
            q = l.0.forward(q) * T::from_f64(s).unwrap();
        }
        let e = Self::apply(&self.a, q);
        outs.push(e + ds);
        let last = outs.pop().unwrap();
        (outs, last)
    }

    fn help<B: Dim>(&self, x: Tensor<(B, Const<M>), T, V>, n: usize) -> Tensor<(B, Const<M>), T, V> {
        if n == 0 {
            return x;
        }
        #[checkpoint(name = "deep")]
        let y = self.a.forward(x) + x;
        self.help(y, n - 1)
    }

    fn apply<B: Dim>(l: &Lin<M, T, V>, x: Tensor<(B, Const<M>), T, V>) -> Tensor<(B, Const<M>), T, V> {
        #[checkpoint]
        {
            l.forward(x).tanh() + x
        }
    }
}

/// tuple struct with dropout, f64
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Pos<const M: usize, E: Dtype, D: Device<E>>(Lin<M, E, D>, nn::Dropout, Lin<M, E, D>);

#[checkpointed]
impl<const M: usize, E: Dtype, D: Device<E>> Pos<M, E, D> {
    fn forward<S: Dim>(&self, x: Tensor<(S, Const<M>), E, D>) -> Result<Tensor<(S, Const<M>), E, D>, D::Err> {
        #[checkpoint(verify)]
        let h = {
            let a = self.0.try_forward(x)?;
            let b = self.1.forward(a);
            self.2.try_forward(b)?.try_relu()?
        };
        let y = checkpoint!(self.1, h)?;
        y.try_add(h.square())
    }
}

/// outer, declarative around custom
#[checkpointed]
#[derive(Clone, Debug)]
pub struct Outer<const M: usize, E: Dtype, D: Device<E>> {
    #[checkpoint(segments = 2)]
    blocks: Repeated<Residual<Pos<M, E, D>>, 4>,
    head: Lin<M, E, D>,
}

mod bare {
    #![no_implicit_prelude]
    use ::ckpt_runtime::checkpointed;
    use ::dfdx::{
        nn::modules,
        shapes::{Const, Dim, Dtype},
        tensor::Tensor,
        tensor_ops::Device,
    };
    /// b
    #[checkpointed(forward = custom)]
    #[derive(::std::clone::Clone, ::std::fmt::Debug)]
    pub struct Bare<const M: usize, E: Dtype, D: Device<E>> {
        a: modules::Linear<M, M, E, D>,
        b: modules::Linear<M, M, E, D>,
    }
    #[checkpointed]
    impl<const M: usize, E: Dtype, D: Device<E>> Bare<M, E, D> {
        fn forward<S: Dim>(&self, x: Tensor<(S, Const<M>), E, D>) -> Tensor<(S, Const<M>), E, D> {
            #[checkpoint]
            let (h, g) = (self.a.forward(x), self.b(x));
            let mut h = h;
            for l in [1, 2] {
                let _ = l;
                #[checkpoint]
                {
                    h = self.a(h);
                }
            }
            h + g + checkpoint!(self.a, x).unwrap()
        }
    }
}

fn grads<X, Y, M: Clone + TensorCollection<f64, Cpu> + ModuleMut<X, Output = Y>>(
    m: &M,
    x: impl Fn(Gradients<f64, Cpu>) -> X,
    y: impl Fn(Y) -> Tensor<Rank0, f64, Cpu, OwnedTape<f64, Cpu>>,
) {
    struct V<'a>(&'a Gradients<f64, Cpu>, Vec<f64>);
    impl dfdx::nn::TensorVisitor<f64, Cpu> for V<'_> {
        type Viewer = dfdx::nn::ViewTensorRef;
        type Err = std::convert::Infallible;
        type E2 = f64;
        type D2 = Cpu;
        fn visit<S: Shape>(
            &mut self,
            o: TensorOptions<S, f64, Cpu>,
            t: &Tensor<S, f64, Cpu>,
        ) -> Result<Option<Tensor<S, f64, Cpu>>, Self::Err> {
            self.1.extend(t.as_vec());
            if o.do_gradient_update {
                self.1.extend(self.0.get(t).as_vec());
            }
            Ok(None)
        }
    }
    let mut first = None;
    for p in [Policy::plain(), Policy::keep(), Policy::checkpoint(), Policy::checkpoint().verify(0.0), Policy::each()] {
        let mut m = m.clone();
        let g = with_policy(p.clone(), || y(m.forward_mut(x(m.alloc_grads()))).backward());
        let mut v = V(&g, vec![]);
        M::iter_tensors(&mut dfdx::nn::RecursiveWalker { m: &m, f: &mut v }).unwrap();
        assert!(v.1.iter().any(|x| *x != 0.0));
        assert_eq!(*first.get_or_insert_with(|| v.1.clone()), v.1, "{p:?}");
    }
}

#[test]
fn much_of_rust() {
    let dev = Cpu::seed_from_u64(3);
    let odd: Odd<5, f64, Cpu> = BuildModule::build(&dev);
    let x: Tensor<(usize, Const<5>), f64, _> = dev.sample_normal_like(&(4usize, Const));
    for o in [None, Some(x.clone())] {
        grads(
            &odd,
            |g| ((x.trace(g), o.clone()), 1),
            |(v, y)| {
                let mut v = v;
                y.square().mean() + v.remove(0).mean()
            },
        );
        assert!(odd.forward(((x.clone(), o), 1)).1.as_vec()[0].is_finite());
    }
    let bare: bare::Bare<5, f64, Cpu> = BuildModule::build(&dev);
    grads(&bare, |g| x.trace(g), |y| y.square().mean());
    assert_eq!(bare.forward(x.clone()).as_vec(), bare.forward(x.leaky_trace()).as_vec());
    let mut outer: Outer<5, f64, Cpu> = BuildModule::build(&dev);
    grads(
        &{
            let mut o = outer.clone();
            o.blocks.modules.iter_mut().for_each(|b| b.0.1.p = 0.0);
            o
        },
        |g| x.trace(g),
        |y| y.square().mean(),
    );
    let y = outer.forward_mut(x.traced(outer.alloc_grads()));
    let _ = y.mean().backward();
}
#[test]
fn dropout_plays_back() {
    let mut first = None;
    for p in [Policy::plain(), Policy::keep(), Policy::checkpoint(), Policy::each()] {
        let dev = Cpu::seed_from_u64(3);
        let mut outer: Outer<5, f64, Cpu> = BuildModule::build(&dev);
        let x: Tensor<(usize, Const<5>), f64, _> = dev.sample_normal_like(&(4usize, Const));
        let y = with_policy(p.clone(), || outer.forward_mut(x.leaky_trace()));
        let v = y.as_vec();
        let g = y.square().mean().backward();
        let got = (v, g.get(&outer.blocks.modules[0].0.0.weight).as_vec(), g.get(&x).as_vec());
        assert_eq!(*first.get_or_insert_with(|| got.clone()), got, "{p:?}");
    }
}
