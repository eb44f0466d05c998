//! Values of derived boundary types cross as their parts do.
#![allow(clippy::float_cmp, clippy::items_after_statements)]
use ckpt_runtime::prelude::*;
use ckpt_runtime::{Edge, Retape, Site, region};

#[derive(Boundary, Clone, Debug)]
pub struct Qkv<S: Shape, E: Dtype, D: Device<E>, T> {
    pub q: Tensor<S, E, D, T>,
    k: Tensor<S, E, D, T>,
    v: Option<Tensor<S, E, D, T>>,
    mask: Tensor<S, bool, D>,
    #[boundary(plain)]
    config: Config,
    scale: f64,
}
#[derive(Clone, Debug, PartialEq)]
struct Config {
    heads: usize,
}
#[derive(Boundary, Clone, Copy, Debug)]
pub struct Flags {
    pub a: bool,
    n: usize,
    inner: Inner,
}
#[derive(Boundary, Clone, Copy, Debug)]
struct Inner(u8);
#[derive(Boundary, Clone, Debug)]
pub struct Unit;
#[derive(Boundary, Clone, Debug)]
pub enum Never {}
#[derive(Boundary, Clone, Debug)]
pub struct Fixed(pub Tensor<Rank1<3>, f32, Cpu>, pub usize);
#[derive(Boundary, Debug)]
pub enum Value<S, E, D, T = NoneTape>
where
    S: Shape,
    E: Dtype,
    D: Device<E>,
{
    Dense(Tensor<S, E, D, T>),
    Pair { left: Tensor<S, E, D, T>, right: Tensor<S, E, D, T> },
    Flags(Flags),
    Nothing,
}
#[derive(Boundary, Debug)]
pub struct Wrapped<A, const N: usize> {
    pub items: [A; N],
    #[boundary(plain)]
    pub names: Vec<String>,
}
#[derive(Boundary, Debug)]
#[boundary(dtype = f32, device = Cpu)]
pub struct Nested {
    pub fixed: Fixed,
}
#[derive(Boundary, Debug)]
#[boundary(tape = T)]
pub struct Deep<S: Shape, E: Dtype, D: Device<E>, T> {
    pub inner: Value<S, E, D, T>,
    pub r#type: usize,
}
#[derive(Boundary, Debug)]
pub struct OnDevice<D: Device<f32>>(pub Tensor<Rank1<3>, usize, D>);

fn is<B: Boundary<f32, Cpu> + Retape<f32, Cpu>>() {}
fn edge<T, B: Edge<Tape = T>>() {}
type O = OwnedTape<f32, Cpu>;

#[test]
fn all_cross() {
    is::<Qkv<Rank1<3>, f32, Cpu, O>>();
    is::<Qkv<Rank1<3>, f32, Cpu, SharedTape<f32, Cpu>>>();
    is::<Flags>();
    is::<Unit>();
    is::<Never>();
    is::<Fixed>();
    is::<Nested>();
    is::<Value<(usize,), f32, Cpu, NoneTape>>();
    is::<Wrapped<Tensor<Rank1<3>, f32, Cpu, O>, 2>>();
    is::<Deep<Rank1<3>, f32, Cpu, O>>();
    is::<OnDevice<Cpu>>();
    edge::<O, Deep<Rank1<3>, f32, Cpu, O>>();
    edge::<NoneTape, Flags>();
}

#[test]
fn an_enum_crosses_a_region() {
    static SITE: Site = Site::new("enum");
    let dev = Cpu::seed_from_u64(3);
    let w = dev.build_module::<Linear<3, 3>, f32>();
    let a: Tensor<Rank1<3>, f32, Cpu> = dev.sample_normal();
    let b: Tensor<Rank1<3>, f32, Cpu> = dev.sample_normal();
    let run = |plain: bool| {
        let tape = SharedTape::<f32, Cpu>::floating();
        let left = ckpt_runtime::__private::enter(a.leaky_trace(), &tape);
        let value = Value::Pair { left, right: b.clone().put_tape(tape.clone()) };
        let out = with_policy(if plain { Policy::plain() } else { Policy::checkpoint() }, || {
            region(&SITE, &tape, ckpt_runtime::__private::lend!(f32, Cpu, &w), value, |tape, w, value| {
                let Value::Pair { left, right } = value else { unreachable!() };
                let h = ckpt_runtime::__private::call_ref(tape, w, left * right.clone())?;
                Ok(Value::Pair { left: h.square(), right })
            })
        })
        .unwrap();
        let Value::Pair { left, right } = out else { unreachable!() };
        let loss = (left + right).sum();
        let loss = ckpt_runtime::__private::leave(loss, tape).unwrap();
        let value = loss.array();
        let g = loss.backward();
        (value, g.get(&a).array(), g.get(&b).array(), g.get(&w.weight).array())
    };
    assert_eq!(run(true), run(false));
    assert_ne!(run(true).2, [0.0; 3]);
}

#[test]
fn different_variants_differ() {
    let tape = SharedTape::<f32, Cpu>::open();
    type V = Value<Rank1<3>, f32, Cpu, NoneTape>;
    let a = V::Nothing.store(&tape);
    let b = V::Flags(Flags { a: true, n: 1, inner: Inner(2) }).store(&tape);
    let d = <V as Boundary<f32, Cpu>>::compare(&a, &b, 0.0).unwrap();
    assert_eq!((d.first, d.again), (3.0, 2.0));
    assert_eq!(<V as Boundary<f32, Cpu>>::compare(&a, &a.clone(), 0.0), None);
    let f = V::load(b, &tape);
    assert!(matches!(f, Value::Flags(Flags { a: true, n: 1, inner: Inner(2) })));
}
