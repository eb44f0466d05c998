//! Checkpointed functions against the same steps by hand, to the bit, in every mode.
#![allow(clippy::float_cmp, clippy::type_complexity, clippy::needless_pass_by_value, clippy::many_single_char_names)]
use ckpt_runtime::prelude::*;
use dfdx::{
    nn::modules,
    tensor::{Merge, PutTape, SplitTape},
};

type Rows<const M: usize> = (usize, Const<M>);

/// A feed-forward layer.
#[checkpoint]
#[must_use]
pub fn ffn<B: Dim, const M: usize, const H: usize, E: Dtype, D: Device<E>>(
    l1: &modules::Linear<M, H, E, D>,
    bn: &mut modules::BatchNorm1D<M, E, D>,
    l2: &modules::Linear<H, M, E, D>,
    x: Tensor<(B, Const<M>), E, D>,
    mask: Option<Tensor<(B, Const<M>), bool, D>>,
    flag: bool,
) -> Tensor<(B, Const<M>), E, D> {
    let h = l1.forward(bn.forward(x)).relu();
    let y = l2.forward(h);
    let y = if flag { y + x } else { y };
    match mask {
        Some(m) => m.choose(y, y.negate()),
        None => y,
    }
}

fn plain_ffn<B: Dim, const M: usize, const H: usize, E: Real, D: Device<E>>(
    l1: &modules::Linear<M, H, E, D>,
    bn: &mut modules::BatchNorm1D<M, E, D>,
    l2: &modules::Linear<H, M, E, D>,
    x: Tensor<(B, Const<M>), E, D, OwnedTape<E, D>>,
    mask: Option<Tensor<(B, Const<M>), bool, D>>,
    flag: bool,
) -> Tensor<(B, Const<M>), E, D, OwnedTape<E, D>> {
    let x0 = x.with_empty_tape();
    let h = l1.forward(bn.forward_mut(x)).relu();
    let y = l2.forward(h);
    let y = if flag { y + x0 } else { y };
    match mask {
        Some(m) => {
            let y1 = y.with_empty_tape();
            m.choose(y, y1.negate())
        }
        None => y,
    }
}

type Built = (modules::Linear<4, 8, f32, Cpu>, modules::BatchNorm1D<4, f32, Cpu>, modules::Linear<8, 4, f32, Cpu>);
fn built(dev: &Cpu) -> Built {
    (
        dev.build_module::<Linear<4, 8>, f32>(),
        dev.build_module::<BatchNorm1D<4>, f32>(),
        dev.build_module::<Linear<8, 4>, f32>(),
    )
}

type Seen = (Vec<f32>, Vec<Vec<f32>>, Vec<f32>, Vec<f32>);
fn seen(m: &Built, x: &Tensor<Rows<4>, f32, Cpu>, y: Tensor<Rows<4>, f32, Cpu, OwnedTape<f32, Cpu>>) -> Seen {
    let out = y.as_vec();
    let g = y.square().mean().backward();
    let grads = vec![
        g.get(&m.0.weight).as_vec(),
        g.get(&m.0.bias).as_vec(),
        g.get(&m.1.scale).as_vec(),
        g.get(&m.1.bias).as_vec(),
        g.get(&m.2.weight).as_vec(),
        g.get(&m.2.bias).as_vec(),
        g.get(x).as_vec(),
    ];
    (out, grads, m.1.running_mean.as_vec(), m.1.running_var.as_vec())
}

fn policies() -> [Policy; 4] {
    [Policy::plain(), Policy::keep(), Policy::checkpoint(), Policy::checkpoint().verify(0.0)]
}

#[test]
fn equal_to_the_bit_in_every_mode() {
    let dev = Cpu::seed_from_u64(0);
    let start = built(&dev);
    let x: Tensor<Rows<4>, f32, _> = dev.sample_normal_like(&(5, Const));
    let m: Tensor<Rows<4>, bool, Cpu> = x.gt(0.0);
    for mask in [None, Some(m)] {
        for flag in [true, false] {
            let mut a = start.clone();
            let y = plain_ffn(&a.0, &mut a.1, &a.2, x.leaky_trace(), mask.clone(), flag);
            let expected = seen(&a, &x, y);
            for policy in policies() {
                let mut b = start.clone();
                let y = with_policy(policy, || ffn(&b.0, &mut b.1, &b.2, x.leaky_trace(), mask.clone(), flag));
                assert_eq!(seen(&b, &x, y), expected);
            }
        }
    }
    let y = ffn(&start.0, &start.1, &start.2, x.clone(), None, true);
    let t = try_ffn(&start.0, &start.1, &start.2, x.clone(), None, true).unwrap();
    let z = start.2.forward(start.0.forward(start.1.forward(x.clone())).relu()) + x;
    assert_eq!(y.as_vec(), z.as_vec());
    assert_eq!(t.as_vec(), z.as_vec());
}

/// A module whose clone panics.
#[derive(Debug)]
struct NoClone(modules::Linear<4, 4, f32, Cpu>);
impl Clone for NoClone {
    fn clone(&self) -> Self {
        panic!("cloned")
    }
}
impl ReplaySafe for NoClone {}
impl TensorCollection<f32, Cpu> for NoClone {
    type To<E2: Dtype, D2: Device<E2>> = modules::Linear<4, 4, E2, D2>;
    fn iter_tensors<V: ModuleVisitor<Self, f32, Cpu>>(
        visitor: &mut V,
    ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(Self::module("l", |s| &s.0, |s| &mut s.0), |l| l)
    }
}
impl<T: Tape<f32, Cpu>> Module<Tensor<Rows<4>, f32, Cpu, T>> for NoClone
where
    modules::Linear<4, 4, f32, Cpu>:
        Module<Tensor<Rows<4>, f32, Cpu, T>, Output = Tensor<Rows<4>, f32, Cpu, T>, Error = CpuError>,
{
    type Output = Tensor<Rows<4>, f32, Cpu, T>;
    type Error = CpuError;
    fn try_forward(&self, x: Tensor<Rows<4>, f32, Cpu, T>) -> Result<Self::Output, CpuError> {
        self.0.try_forward(x)
    }
}

/// Fixed dtype and device.
#[checkpoint]
fn fixed(
    l: &NoClone,
    bn: &mut modules::BatchNorm1D<4, f32, Cpu>,
    x: Tensor<Rows<4>, f32, Cpu>,
) -> Tensor<Rows<4>, f32, Cpu> {
    l.forward(bn.forward(x)) + x
}

#[test]
fn inference_clones_no_module() {
    let dev = Cpu::seed_from_u64(0);
    let l = NoClone(dev.build_module::<Linear<4, 4>, f32>());
    let bn = dev.build_module::<BatchNorm1D<4>, f32>();
    let x: Tensor<Rows<4>, f32, _> = dev.sample_normal_like(&(5, Const));
    let y = fixed(&l, &bn, x.clone());
    assert_eq!(y.as_vec(), (l.0.forward(bn.forward(x.clone())) + x).as_vec());
}

/// Several tensors, each on its own tape; a pattern, a mutable binding, an `impl Trait`, a `Result`.
#[checkpoint(name = "mixed", verify)]
fn mix<const M: usize, E: Dtype, D: Device<E>>(
    l: &modules::Linear<M, M, E, D>,
    mut x: Tensor<Rows<M>, E, D>,
    y: Tensor<Rows<M>, E, D>,
    (a, b): (Tensor<Rows<M>, E, D>, usize),
    f: impl Fn(usize) -> usize,
    [p, q]: [f64; 2],
) -> Result<(Tensor<Rows<M>, E, D>, Tensor<Rows<M>, E, D>), D::Err> {
    for _ in 0..f(b) {
        x = l.try_forward(x)?.try_tanh()?;
    }
    let z = x * y;
    let s = E::from_f64(p + q).unwrap();
    Ok((z.try_mul(s)?, z + a))
}

#[test]
fn several_tensors_on_any_tapes() {
    let dev = Cpu::seed_from_u64(0);
    let l = dev.build_module::<Linear<4, 4>, f32>();
    let t = |_| -> Tensor<Rows<4>, f32, Cpu> { dev.sample_normal_like(&(3, Const)) };
    let [x, y, a] = [0, 1, 2].map(t);
    let grads = |loss: Tensor<Rank0, f32, Cpu, OwnedTape<f32, Cpu>>| {
        let v = loss.array();
        let g = loss.backward();
        (v, g.get(&l.weight).array(), g.get(&x).as_vec(), g.get(&y).as_vec(), g.get(&a).as_vec())
    };
    let k = |n: usize| n + 1;
    let expected = {
        let h = l.forward(x.leaky_trace()).tanh();
        let h = l.forward(h).tanh();
        let z = h * y.clone();
        let z1 = z.with_empty_tape();
        grads(((z * 1.5f32) + (z1 + a.clone())).sum())
    };
    for policy in policies() {
        with_policy(policy, || {
            let go = |(u, v): (
                Tensor<Rows<4>, f32, Cpu, OwnedTape<f32, Cpu>>,
                Tensor<Rows<4>, f32, Cpu, OwnedTape<f32, Cpu>>,
            )| { grads((u + v).sum()) };
            let at = || a.clone().put_tape(OwnedTape::default());
            assert_eq!(go(mix(&l, x.leaky_trace(), y.clone(), (at(), 1), k, [1.0, 0.5]).unwrap()), expected);
            assert_eq!(go(try_mix(&l, x.leaky_trace(), y.leaky_trace(), (at(), 1), k, [1.0, 0.5]).unwrap()), expected);
        });
    }
    let (u, _) = mix(&l, x.clone(), y.clone(), (a.clone(), 1), k, [1.0, 0.5]).unwrap();
    assert_eq!(u.shape().0, 3);
}

/// Token-only.
#[checkpoint]
fn embed<const V: usize, const M: usize, E: Dtype, D: Device<E>>(
    table: &modules::Embedding<V, M, E, D>,
    tokens: Tensor<(usize,), usize, D>,
    others: Tensor<(usize,), usize, D>,
) -> Tensor<Rows<M>, E, D> {
    let a = table.forward(tokens);
    let b = table.forward(others);
    a + b
}

#[test]
fn tokens_carry_the_tape() {
    let dev = Cpu::seed_from_u64(0);
    let e = dev.build_module::<Embedding<10, 4>, f32>();
    let t = dev.tensor_from_vec(vec![1usize, 2, 2], (3,));
    let u = dev.tensor_from_vec(vec![0usize, 9, 2], (3,));
    let expected = {
        let y = e.forward(t.leaky_trace()) + e.forward(u.leaky_trace());
        y.square().sum().backward().get(&e.weight).array()
    };
    for policy in policies() {
        let y = with_policy(policy, || embed(&e, t.leaky_trace(), u.clone()));
        assert_eq!(y.square().sum().backward().get(&e.weight).array(), expected);
    }
    assert_eq!(
        embed(&e, t.clone(), u).as_vec(),
        (e.forward(t.clone()) + e.forward(dev.tensor_from_vec(vec![0usize, 9, 2], (3,)))).as_vec()
    );
}

/// Nested, over slices.
#[checkpoint]
fn inner<const M: usize, E: Dtype, D: Device<E>>(
    l: &modules::Linear<M, M, E, D>,
    bn: &mut modules::BatchNorm1D<M, E, D>,
    x: Tensor<Rows<M>, E, D>,
) -> Tensor<Rows<M>, E, D> {
    bn.forward(l.forward(x)).tanh()
}

#[checkpoint]
fn outer<'a, const M: usize, E: Dtype, D: Device<E>>(
    ls: &'a [modules::Linear<M, M, E, D>],
    bn: &mut modules::BatchNorm1D<M, E, D>,
    blocks: &mut [modules::BatchNorm1D<M, E, D>],
    x: Tensor<Rows<M>, E, D>,
) -> Vec<Tensor<Rows<M>, E, D>> {
    let mut x = x;
    let mut all = Vec::new();
    for l in ls {
        x = inner(l, &mut *bn, x);
        all.push(x);
    }
    for b in blocks {
        x = b.forward(x);
    }
    all.push(x);
    all
}

#[test]
fn nested_functions_and_slices() {
    let dev = Cpu::seed_from_u64(0);
    let ls: Vec<_> = (0..3).map(|_| dev.build_module::<Linear<4, 4>, f32>()).collect();
    let start: Vec<_> = (0..3).map(|_| dev.build_module::<BatchNorm1D<4>, f32>()).collect();
    let x: Tensor<Rows<4>, f32, Cpu> = dev.sample_normal_like(&(6, Const));
    let look = |bn: &[modules::BatchNorm1D<4, f32, Cpu>], loss: Tensor<Rank0, f32, Cpu, OwnedTape<f32, Cpu>>| {
        let v = loss.array();
        let g = loss.backward();
        (
            v,
            ls.iter().map(|l| g.get(&l.weight).array()).collect::<Vec<_>>(),
            bn.iter()
                .map(|b| (g.get(&b.scale).array(), b.running_mean.array(), b.running_var.array()))
                .collect::<Vec<_>>(),
            g.get(&x).as_vec(),
        )
    };
    let expected = {
        let mut bn = start.clone();
        let mut h = x.leaky_trace();
        let mut sums = Vec::new();
        for l in &ls {
            h = bn[0].forward_mut(l.forward(h)).tanh();
            sums.push(h.with_empty_tape());
        }
        for b in &mut bn[1..] {
            h = b.forward_mut(h);
        }
        let mut total = h.with_empty_tape() * 0.0f32;
        sums.push(h.with_empty_tape());
        for s in sums {
            total = total + s;
        }
        // all tapes joined
        let (h, tape) = h.split_tape();
        drop(h);
        let (t, own) = total.split_tape();
        let total = t.put_tape(own.merge(tape));
        look(&bn, total.square().sum())
    };
    for policy in policies() {
        let mut bn = start.clone();
        let (first, rest) = bn.split_at_mut(1);
        let all = with_policy(policy, || outer(&ls, &mut first[0], rest, x.leaky_trace()));
        let last = all.len() - 1;
        let mut total = all[last].with_empty_tape() * 0.0f32;
        for s in all {
            total = total + s;
        }
        assert_eq!(look(&bn, total.square().sum()), expected);
    }
    let all = outer(&ls, &start[0], &start[1..], x.clone());
    assert_eq!(all.len(), 4);
}

/// A struct of tensors as input and output, the tape written `_`.
#[derive(Boundary, Clone, Debug)]
struct Qkv<E: Dtype, D: Device<E>, T> {
    q: Tensor<Rows<4>, E, D, T>,
    k: Tensor<Rows<4>, E, D, T>,
}
#[derive(Boundary, Clone, Copy, Debug)]
enum Act {
    Tanh,
    Relu,
}
#[derive(Clone, Debug)]
struct Cfg(f64);

#[checkpoint]
fn project<E: Dtype, D: Device<E>>(
    l: &modules::Linear<4, 4, E, D>,
    qkv: Qkv<E, D, _>,
    act: Act,
    cfg: Cfg,
) -> Qkv<E, D, _> {
    let Qkv { q, k } = qkv;
    let q = l.forward(q);
    let q = match act {
        Act::Tanh => q.tanh(),
        Act::Relu => q.relu(),
    };
    Qkv { q, k: k * E::from_f64(cfg.0).unwrap() }
}

#[test]
fn structs_cross_with_their_tape() {
    let dev = Cpu::seed_from_u64(0);
    let l = dev.build_module::<Linear<4, 4>, f32>();
    let q: Tensor<Rows<4>, f32, Cpu> = dev.sample_normal_like(&(3, Const));
    let k: Tensor<Rows<4>, f32, Cpu> = dev.sample_normal_like(&(3, Const));
    let expected = {
        let y = l.forward(q.leaky_trace()).tanh() + k.leaky_trace() * 2.0f32;
        let g = y.square().sum().backward();
        (g.get(&q).as_vec(), g.get(&k).as_vec(), g.get(&l.weight).array())
    };
    for policy in policies() {
        let input = Qkv { q: q.leaky_trace(), k: k.leaky_trace() };
        let out = with_policy(policy, || project(&l, input, Act::Tanh, Cfg(2.0)));
        let g = (out.q + out.k).square().sum().backward();
        assert_eq!((g.get(&q).as_vec(), g.get(&k).as_vec(), g.get(&l.weight).array()), expected);
    }
    let out = project(&l, Qkv { q: q.clone(), k }, Act::Relu, Cfg(1.0));
    assert_eq!(out.q.as_vec(), l.forward(q).relu().as_vec());
}

/// `checkpoint!` in hand-written code.
#[derive(Clone, Debug)]
struct Hand {
    a: modules::Linear<4, 4, f32, Cpu>,
    b: modules::BatchNorm1D<4, f32, Cpu>,
}
impl Hand {
    fn run(
        &mut self,
        x: Tensor<Rows<4>, f32, Cpu, OwnedTape<f32, Cpu>>,
    ) -> Result<Tensor<Rows<4>, f32, Cpu, OwnedTape<f32, Cpu>>, CpuError> {
        let h = ckpt_runtime::checkpoint!(self.a, x)?;
        ckpt_runtime::checkpoint!(name = "bn", verify, &mut self.b, h)
    }
    fn infer(&self, x: Tensor<Rows<4>, f32, Cpu>) -> Result<Tensor<Rows<4>, f32, Cpu>, CpuError> {
        use ckpt_runtime::checkpoint;
        let h = checkpoint!(&self.a, x)?;
        checkpoint!(keep, self.b, h)
    }
}

#[test]
fn one_module_calls() {
    let dev = Cpu::seed_from_u64(0);
    let start = Hand { a: dev.build_module::<Linear<4, 4>, f32>(), b: dev.build_module::<BatchNorm1D<4>, f32>() };
    let x: Tensor<Rows<4>, f32, Cpu> = dev.sample_normal_like(&(3, Const));
    let look = |m: &Hand, y: Tensor<Rows<4>, f32, Cpu, OwnedTape<f32, Cpu>>| {
        let g = y.square().sum().backward();
        (g.get(&m.a.weight).array(), g.get(&m.b.scale).array(), m.b.running_var.array(), g.get(&x).as_vec())
    };
    let mut m = start.clone();
    let y = m.b.forward_mut(m.a.forward(x.leaky_trace()));
    let expected = look(&m, y);
    for policy in policies() {
        let mut m = start.clone();
        let y = with_policy(policy, || m.run(x.leaky_trace())).unwrap();
        assert_eq!(look(&m, y), expected);
    }
    assert_eq!(start.infer(x.clone()).unwrap().as_vec(), start.b.forward(start.a.forward(x.clone())).as_vec());
}
