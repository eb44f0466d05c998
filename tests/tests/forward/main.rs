//! Forwards written as Rust: outputs, gradients and statistics are those of the same steps written
//! by hand on plain modules, to the bit, in every mode.
#![allow(clippy::type_complexity)]

mod calls_of_functions;
mod odd;

use ckpt_runtime::{checkpointed, prelude::*};
use dfdx::nn::modules;

type T2<const M: usize, TP = NoneTape> = Tensor<(usize, Const<M>), f32, Cpu, TP>;
type Own = OwnedTape<f32, Cpu>;

fn modes() -> Vec<Policy> {
    vec![
        Policy::plain(),
        Policy::keep(),
        Policy::checkpoint(),
        Policy::checkpoint().verify(0.0),
        Policy::each(),
        Policy::segments(2),
    ]
}
/// Compares loss, gradients and tensors (statistics included) of two ways to run a model.
fn same<M, X, Y>(
    name: &str,
    m: &M,
    x: X,
    plain: impl Fn(&mut M, X, Gradients<f32, Cpu>) -> Y,
    ours: impl Fn(&mut M, X, Gradients<f32, Cpu>) -> Y,
) where
    M: Clone + TensorCollection<f32, Cpu>,
    X: Clone,
    Y: Loss,
{
    let mut p = m.clone();
    let (yp, gp) = plain(&mut p, x.clone(), m.alloc_grads()).finish();
    let (tp, ip) = dump(&p, &gp);
    for policy in modes() {
        let mut o = m.clone();
        let (y, g) = with_policy(policy.clone(), || ours(&mut o, x.clone(), m.alloc_grads()).finish());
        assert_eq!(yp, y, "{name} {policy:?}");
        let (t, i) = dump(&o, &g);
        assert_eq!(tp, t, "{name} {policy:?} tensors");
        assert_eq!(ip, i, "{name} {policy:?} gradients");
    }
    assert!(ip.iter().any(|g| g.iter().any(|v| *v != 0.0)));
}
trait Loss {
    fn finish(self) -> (Vec<f32>, Gradients<f32, Cpu>);
}
impl<S: Shape> Loss for Tensor<S, f32, Cpu, Own> {
    fn finish(self) -> (Vec<f32>, Gradients<f32, Cpu>) {
        let v = self.as_vec();
        (v, self.square().mean().backward())
    }
}
impl<S: Shape, S2: Shape> Loss for (Tensor<S, f32, Cpu, Own>, Tensor<S2, f32, Cpu, Own>) {
    fn finish(self) -> (Vec<f32>, Gradients<f32, Cpu>) {
        let mut v = self.0.as_vec();
        v.extend(self.1.as_vec());
        let (a, b) = (self.0.square().mean(), self.1.square().mean());
        (v, (a + b).backward())
    }
}
fn dump<M: TensorCollection<f32, Cpu>>(m: &M, g: &Gradients<f32, Cpu>) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    struct V<'a>(&'a Gradients<f32, Cpu>, Vec<Vec<f32>>, Vec<Vec<f32>>);
    impl dfdx::nn::TensorVisitor<f32, Cpu> for V<'_> {
        type Viewer = dfdx::nn::ViewTensorRef;
        type Err = std::convert::Infallible;
        type E2 = f32;
        type D2 = Cpu;
        fn visit<S: Shape>(
            &mut self,
            o: TensorOptions<S, f32, Cpu>,
            t: &Tensor<S, f32, Cpu>,
        ) -> Result<Option<Tensor<S, f32, Cpu>>, Self::Err> {
            self.1.push(t.as_vec());
            if o.do_gradient_update {
                self.2.push(self.0.get(t).as_vec());
            }
            Ok(None)
        }
    }
    let mut v = V(g, vec![], vec![]);
    M::iter_tensors(&mut dfdx::nn::RecursiveWalker { m, f: &mut v }).unwrap();
    (v.1, v.2)
}

// 1. loops, batch norm, helpers, nested regions, closures, branches
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Net<const M: usize, E: Dtype, D: Device<E>> {
    a: modules::Linear<M, M, E, D>,
    bn: modules::BatchNorm1D<M, E, D>,
    c: modules::Linear<M, M, E, D>,
    blocks: Repeated<(modules::Linear<M, M, E, D>, modules::BatchNorm1D<M, E, D>, Tanh), 5>,
}

#[checkpointed]
impl<const M: usize, E: Dtype, D: Device<E>> Net<M, E, D> {
    const TWO: f64 = 2.0;
    /// The flow.
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
        let n = x.shape().0.size();
        #[checkpoint]
        let (h, r) = {
            let h = self.a(x);
            let z = self.mix(h, x);
            (z, h.relu())
        };
        #[checkpoint(name = "outer")]
        let h = {
            let scale = |t: Tensor<(B, Const<M>), E, D>| t * E::from_f64(0.5).unwrap();
            #[checkpoint]
            let inner = self.bn.forward(h);
            let k = if n > 2 { self.c.forward(inner) + inner } else { inner };
            scale(k) + scale(r)
        };
        let mut h = h;
        #[checkpoint(each)]
        for b in &self.blocks {
            h = b.forward(h) + x;
        }
        #[checkpoint(segments = 2)]
        for b in self.blocks.modules.iter() {
            h = b.forward(h.tanh());
        }
        #[checkpoint]
        for (i, b) in self.blocks.iter().enumerate() {
            if i == 3 {
                continue;
            }
            h = b.forward(h);
        }
        let mut last = h;
        #[checkpoint]
        {
            last = last / E::from_usize(n).unwrap();
            let l = &self.c;
            h = l.forward(self.c.forward(h));
        }
        for b in &self.blocks {
            #[checkpoint]
            let t = b.0.forward(h);
            h = t + h;
        }
        if n > 100 {
            return h;
        }
        h = self.blocks[1].0.forward(self.blocks[0].0.forward(h));
        (last + h) * E::from_f64(Self::TWO).unwrap()
    }
    fn mix<B: Dim>(
        &self,
        h: Tensor<(B, Const<M>), E, D>,
        x: Tensor<(B, Const<M>), E, D>,
    ) -> Tensor<(B, Const<M>), E, D> {
        let g = self.bn.forward(self.c.forward(h));
        g * self.gain() + Self::halve(x)
    }
    fn halve<B: Dim>(x: Tensor<(B, Const<M>), E, D>) -> Tensor<(B, Const<M>), E, D> {
        x / E::from_f64(2.0).unwrap()
    }
    fn gain(&self) -> E {
        E::from_usize(M).unwrap()
    }
}
fn net_plain<const M: usize>(m: &mut Net<M, f32, Cpu>, x: T2<M>, g: Gradients<f32, Cpu>) -> T2<M, Own> {
    let x0 = x.trace(g);
    // a tape of its own for each value, merged: as a careful dfdx user writes
    let (x, t) = x0.split_tape();
    let sh = SharedTape::<f32, Cpu>::open();
    let x = ckpt_runtime::__private::enter(x.put_tape(t), &sh);
    use ckpt_runtime::__private::call_mut as c;
    let n = x.shape().0 as f32;
    let h = c(&sh, &mut m.a, x.clone()).unwrap();
    let q = c(&sh, &mut m.c, h.clone()).unwrap();
    let q = c(&sh, &mut m.bn, q).unwrap();
    let z = q * (M as f32) + x.clone() / 2.0;
    let r = h.relu();
    let inner = c(&sh, &mut m.bn, z).unwrap();
    let k = c(&sh, &mut m.c, inner.clone()).unwrap() + inner;
    let mut h = k * 0.5 + r * 0.5;
    for b in &mut m.blocks.modules {
        h = c(&sh, b, h).unwrap() + x.clone();
    }
    for b in &mut m.blocks.modules {
        h = c(&sh, b, h.tanh()).unwrap();
    }
    for (i, b) in m.blocks.modules.iter_mut().enumerate() {
        if i == 3 {
            continue;
        }
        h = c(&sh, b, h).unwrap();
    }
    let last = h.clone() / n;
    let u = c(&sh, &mut m.c, h).unwrap();
    h = c(&sh, &mut m.c, u).unwrap();
    for b in &mut m.blocks.modules {
        let t = c(&sh, &mut b.0, h.clone()).unwrap();
        h = t + h;
    }
    let u = c(&sh, &mut m.blocks.modules[0].0, h).unwrap();
    h = c(&sh, &mut m.blocks.modules[1].0, u).unwrap();
    ckpt_runtime::__private::leave((last + h) * 2.0, sh).unwrap()
}

// 2. several inputs, mask, tuple output, Result, generic child, `checkpoint!`, sequences
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Two<F, const M: usize, E: Dtype, D: Device<E>> {
    body: F,
    p: modules::Linear<M, M, E, D>,
    q: modules::Linear<M, M, E, D>,
    #[param(init = ones)]
    scale: Tensor<Rank1<M>, E, D>,
}
#[checkpointed]
impl<F, const M: usize, E: Dtype, D: Device<E>> Two<F, M, E, D> {
    fn forward<B: Dim>(
        &self,
        x: Tensor<(B, Const<M>), E, D>,
        y: Tensor<(B, Const<M>), E, D>,
        mask: Option<Tensor<(B, Const<M>), bool, D>>,
        flag: bool,
    ) -> Result<(Tensor<(B, Const<M>), E, D>, Tensor<Rank0, E, D>), D::Err>
    where
        F: Module<Tensor<(B, Const<M>), E, D>, Output = Tensor<(B, Const<M>), E, D>>,
    {
        let h = self.body.try_forward(x)?;
        #[checkpoint]
        let h = {
            let g = self.p.forward(h).try_relu()?;
            let g = g * self.scale.clone().broadcast_like(&g);
            match mask {
                Some(m) => m.choose(g, y),
                None => g + y,
            }
        };
        let k = checkpoint!(self.q, h + y)?;
        let k = checkpoint_sequential!(segments = 2, k, self.p, self.q, self.p)?;
        if !flag {
            return Ok((k, h.mean()));
        }
        let vs = vec![h, k];
        let mut sum = h.mean();
        for v in vs {
            sum = sum + v.sum();
        }
        let _ = mask.is_some();
        Ok((h + k, sum))
    }
}

// 3. token-only
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Lm<const V: usize, const M: usize, E: Dtype, D: Device<E>> {
    emb: modules::Embedding<V, M, E, D>,
    drop: nn::Dropout,
    l: modules::Linear<M, M, E, D>,
}
#[checkpointed]
impl<const V: usize, const M: usize, E: Dtype, D: Device<E>> Lm<V, M, E, D> {
    fn forward<B: Dim, S: Dim>(&self, ids: Tensor<(B, S), usize, D>) -> Tensor<(B, S, Const<M>), E, D> {
        #[checkpoint]
        let h = self.emb.forward(ids);
        #[checkpoint]
        let h = {
            let mut vs = Vec::new();
            vs.push(self.drop.forward(h));
            first_pass! { assert_eq!(vs.len(), 1, "{h:?}"); }
            self.l.forward(vs.pop().unwrap())
        };
        h
    }
}

#[test]
fn loops_helpers_nested_regions_and_branches() {
    let dev = Cpu::seed_from_u64(0);
    let net: Net<6, f32, Cpu> = BuildModule::build(&dev);
    let x: T2<6> = dev.sample_normal_like(&(4usize, Const));
    same("net", &net, x.clone(), net_plain, |m, x, g| m.forward_mut(x.trace(g)));
    assert_eq!(
        net.forward(x.clone()).as_vec(),
        {
            let mut n = net.clone();
            n.forward_mut(x.clone())
        }
        .as_vec()
    );
}

#[test]
fn several_inputs_a_child_and_expression_macros() {
    let dev = Cpu::seed_from_u64(0);
    let x: T2<6> = dev.sample_normal_like(&(4usize, Const));
    type Child = (modules::Linear<6, 6, f32, Cpu>, Tanh);
    let two: Two<Child, 6, f32, Cpu> = BuildModule::build(&dev);
    let y: T2<6> = dev.sample_normal_like(&(4usize, Const));
    let mask: Tensor<(usize, Const<6>), bool, Cpu> = x.gt(0.0);
    for mask in [None, Some(mask)] {
        for flag in [true, false] {
            let (mk, mk2) = (mask.clone(), mask.clone());
            same(
                "two",
                &two,
                (x.clone(), y.clone()),
                move |m, (x, y), g| {
                    let sh = SharedTape::<f32, Cpu>::open();
                    use ckpt_runtime::__private::call_mut as c;
                    let x = ckpt_runtime::__private::enter(x.trace(g), &sh);
                    let y = ckpt_runtime::__private::enter(y, &sh);
                    let h = c(&sh, &mut m.body, x).unwrap();
                    let g = c(&sh, &mut m.p, h).unwrap().relu();
                    let s = g.shape().0;
                    let g = g * m.scale.clone().broadcast_like(&(s, Const::<6>));
                    let h = match mk.clone() {
                        Some(m) => m.choose(g, y.clone()),
                        None => g + y.clone(),
                    };
                    let k = c(&sh, &mut m.q, h.clone() + y).unwrap();
                    let k = c(&sh, &mut m.p, k).unwrap();
                    let k = c(&sh, &mut m.q, k).unwrap();
                    let k = c(&sh, &mut m.p, k).unwrap();
                    let out = if !flag {
                        (k, h.mean())
                    } else {
                        let s = h.clone().mean();
                        let s = s + h.clone().sum();
                        let s = s + k.clone().sum();
                        (h + k, s)
                    };
                    ckpt_runtime::__private::leave(out, sh).unwrap()
                },
                move |m, (x, y), g| m.forward_mut((x.trace(g), y, mk2.clone(), flag)),
            );
            let a = two.forward((x.clone(), y.clone(), mask.clone(), flag));
            let b = two.forward((x.leaky_trace(), y.clone(), mask.clone(), flag));
            assert_eq!(a.0.as_vec(), b.0.as_vec());
        }
    }
}

#[test]
fn tokens_alone_carry_the_tape() {
    let dev = Cpu::seed_from_u64(0);
    let lm: Lm<10, 4, f32, Cpu> = BuildModule::build(&dev);
    let mut lm = lm;
    lm.drop.p = 0.0;
    let ids = dev.tensor_from_vec(vec![1usize, 2, 3, 4, 5, 9], (2usize, 3usize));
    same(
        "lm",
        &lm,
        ids.clone(),
        |m, ids, g| {
            let h = m.emb.forward_mut(ids.trace(g));
            m.l.forward_mut(h)
        },
        |m, ids, g| m.forward_mut(ids.trace(g)),
    );
}
