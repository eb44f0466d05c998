//! Random chains of layers with regions drawn over them, against the same chain without regions.
//!
//! `CKPT_CASES=5000 cargo test -p tests --test runtime random` draws that many; a failing case is
//! shrunk to the smallest model that fails.

use ckpt_runtime::{
    __private::{call_mut, chain, enter, layer_mut, leave, lend, segmented_loop},
    Plain, Policy, Real, Segments, SharedTape, Site, nn, region, with_policy,
};
use dfdx::{
    prelude::*,
    tensor::{CpuError, RandomU64},
};
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_oneof, proptest};
use tests::compare::{Run, descend, noise};

/// The longest chain.
const LONGEST: usize = 10;
const BATCH: usize = 4;

type Value<E, T> = Tensor<(usize, usize), E, Cpu, T>;
type Owned<E> = Value<E, OwnedTape<E, Cpu>>;
type Shared<E> = Value<E, SharedTape<E, Cpu>>;

/// What a layer does.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Linear {
        to: usize,
    },
    Normalize,
    BatchNorm,
    Dropout(f64),
    Tanh,
    Relu,
    Gelu,
    /// `x + tanh(x W + b)`.
    Residual,
}

/// A layer of any kind: what a kind needs lies in corners of the tensors here, so that one type,
/// and its region code, serves all.
#[derive(Clone, Debug)]
struct Layer<E: Real>
where
    Cpu: Device<E>,
{
    kind: Kind,
    weight: Tensor<Rank2<5, 5>, E, Cpu>,
    bias: Tensor<Rank1<5>, E, Cpu>,
    norm2: modules::BatchNorm1D<2, E, Cpu>,
    norm3: modules::BatchNorm1D<3, E, Cpu>,
    norm5: modules::BatchNorm1D<5, E, Cpu>,
}

impl<E: Real> ckpt_runtime::ReplaySafe for Layer<E> where Cpu: Device<E> {}

impl<E: Real> Layer<E>
where
    Cpu: Device<E>,
{
    fn new(dev: &Cpu, kind: Kind) -> Self {
        Self {
            kind,
            weight: noise(dev, Default::default(), -0.7, 0.7),
            bias: noise(dev, Default::default(), -0.7, 0.7),
            norm2: dev.build_module::<BatchNorm1D<2>, E>(),
            norm3: dev.build_module::<BatchNorm1D<3>, E>(),
            norm5: dev.build_module::<BatchNorm1D<5>, E>(),
        }
    }

    fn linear(&self, x: Owned<E>, to: usize) -> Result<Owned<E>, CpuError> {
        let from = x.shape().1;
        let weight = self.weight.retaped::<OwnedTape<E, Cpu>>().try_slice((0..from, 0..to))?;
        let bias = self.bias.retaped::<OwnedTape<E, Cpu>>().try_slice((0..to,))?;
        let y: Owned<E> = x.try_matmul(weight)?;
        let bias = bias.try_broadcast_like::<_, Axis<0>>(y.shape())?;
        y.try_add(bias)
    }
}

impl<E: Real> ModuleMut<Owned<E>> for Layer<E>
where
    Cpu: Device<E>,
{
    type Output = Owned<E>;
    type Error = CpuError;
    fn try_forward_mut(&mut self, x: Owned<E>) -> Result<Owned<E>, CpuError> {
        let width = x.shape().1;
        match self.kind {
            Kind::Linear { to } => self.linear(x, to),
            Kind::Normalize => x.try_normalize::<Axis<1>>(1e-5),
            Kind::BatchNorm => Ok(match width {
                2 => self.norm2.try_forward_mut(x.realize::<(usize, Const<2>)>())?.realize(),
                3 => self.norm3.try_forward_mut(x.realize::<(usize, Const<3>)>())?.realize(),
                _ => self.norm5.try_forward_mut(x.realize::<(usize, Const<5>)>())?.realize(),
            }),
            Kind::Dropout(p) => nn::Dropout { p }.try_forward_mut(x),
            Kind::Tanh => x.try_tanh(),
            Kind::Relu => x.try_relu(),
            Kind::Gelu => x.try_fast_gelu(),
            Kind::Residual => {
                let handed_on = x.with_empty_tape();
                self.linear(x, width)?.try_tanh()?.try_add(handed_on)
            }
        }
    }
}

impl<E: Real> TensorCollection<E, Cpu> for Layer<E>
where
    Cpu: Device<E>,
{
    type To<E2: Dtype, D2: Device<E2>> = ();
    fn iter_tensors<V: ModuleVisitor<Self, E, Cpu>>(visitor: &mut V) -> Result<Option<()>, V::Err> {
        visitor.visit_fields(
            (
                Self::module("weight", |s| &s.weight, |s| &mut s.weight),
                Self::module("bias", |s| &s.bias, |s| &mut s.bias),
                Self::module("norm2", |s| &s.norm2, |s| &mut s.norm2),
                Self::module("norm3", |s| &s.norm3, |s| &mut s.norm3),
                Self::module("norm5", |s| &s.norm5, |s| &mut s.norm5),
            ),
            |_| (),
        )
    }
}

static CHECKPOINT: Site = Site::new("Random.checkpoint");
static KEEP: Site = Site::new("Random.keep").keep();
static VERIFY: Site = Site::new("Random.verify").verify(0.0);
static PLAIN: Site = Site::new("Random.plain").plain();

/// How a region is written.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// On `OwnedTape`s, as a field or a combinator.
    Owned,
    /// On a shared tape, as in a custom forward.
    Shared,
    /// A loop over blocks, cut; a share of its layers as segments, or each.
    Loop(Option<f64>),
    /// A table of different layers, cut.
    Chain(Option<f64>),
}

/// A piece of a model.
#[derive(Clone, Debug)]
enum Piece {
    Layer,
    Region(&'static Site, Form, Vec<Piece>),
}

impl Piece {
    fn layers(&self) -> usize {
        match self {
            Self::Layer => 1,
            Self::Region(.., inner) => count(inner),
        }
    }
}

fn count(pieces: &[Piece]) -> usize {
    pieces.iter().map(Piece::layers).sum()
}

fn segments(share: Option<f64>, layers: usize) -> Segments {
    share.map_or(Segments::Each, |s| Segments::Count(((s * layers as f64) as usize).clamp(1, layers)))
}

/// Runs pieces on an `OwnedTape`.
fn run<E: Real>(pieces: &[Piece], mut layers: &mut [Layer<E>], mut x: Owned<E>) -> Result<Owned<E>, CpuError>
where
    Cpu: Device<E>,
{
    for piece in pieces {
        let (ours, rest) = std::mem::take(&mut layers).split_at_mut(piece.layers());
        layers = rest;
        x = match piece {
            Piece::Layer => ours[0].try_forward_mut(x)?,
            Piece::Region(site, Form::Owned, inner) => {
                let parameters = (lend!(E, Cpu, ours),);
                region(
                    site,
                    &SharedTape::open(),
                    parameters,
                    (x, Plain(inner.clone())),
                    |_, (layers,), (x, Plain(inner))| run(&inner, layers, x),
                )?
            }
            Piece::Region(site, Form::Chain(share), _) => {
                let segments = segments(*share, ours.len());
                let mut table: Vec<_> = ours.iter_mut().map(layer_mut::<Layer<E>, (), Owned<E>, E, Cpu>).collect();
                let mut table: Vec<_> =
                    table.iter_mut().map(|l| l as &mut dyn ckpt_runtime::__private::DynLayer<E, Cpu>).collect();
                chain(site, segments, &mut table, x)?
            }
            Piece::Region(..) => {
                let tape = SharedTape::open();
                let x = enter(x, &tape);
                let y = run_shared(std::slice::from_ref(piece), ours, &tape, x)?;
                leave(y, tape)?
            }
        };
    }
    Ok(x)
}

/// Runs pieces on a shared tape.
fn run_shared<E: Real>(
    pieces: &[Piece],
    mut layers: &mut [Layer<E>],
    tape: &SharedTape<E, Cpu>,
    mut x: Shared<E>,
) -> Result<Shared<E>, CpuError>
where
    Cpu: Device<E>,
{
    for piece in pieces {
        let (ours, rest) = std::mem::take(&mut layers).split_at_mut(piece.layers());
        layers = rest;
        x = match piece {
            Piece::Layer => call_mut(tape, &mut ours[0], x)?,
            Piece::Region(site, Form::Loop(share) | Form::Chain(share), _) => {
                let segments = segments(*share, ours.len());
                segmented_loop(site, segments, tape, ours, (), x, (), |tape, blocks, (), mut x, ()| {
                    for block in blocks {
                        x = call_mut(tape, block, x)?;
                    }
                    Ok(x)
                })?
            }
            Piece::Region(site, _, inner) => {
                let parameters = (lend!(E, Cpu, ours),);
                region(site, tape, parameters, (x, Plain(inner.clone())), |tape, (layers,), (x, Plain(inner))| {
                    run_shared(&inner, layers, tape, x)
                })?
            }
        };
    }
    Ok(x)
}

/// A model and how it is trained.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    width: usize,
    kinds: Vec<Kind>,
    /// A layer that shares the weight of an earlier one.
    tied: Option<(usize, usize)>,
    pieces: Vec<Piece>,
    policy: Option<Policy>,
}

impl Case {
    fn trained<E: Real>(&self, pieces: &[Piece]) -> Run
    where
        Cpu: Device<E>,
    {
        let dev = Cpu::seed_from_u64(self.seed);
        let kind = |i| self.kinds.get(i).copied().unwrap_or(Kind::Tanh);
        let mut model = Repeated::<_, LONGEST> { modules: (0..LONGEST).map(|i| Layer::new(&dev, kind(i))).collect() };
        if let Some((from, to)) = self.tied {
            model.modules[to].weight = model.modules[from].weight.clone();
        }
        let mut run = Run::default();
        let mut gradients = model.alloc_grads();
        for step in 0..3 {
            let x: Value<E, NoneTape> = noise(&dev, (BATCH, self.width), -1.0, 1.0);
            let input = x.trace(gradients);
            let y = with_policy(self.policy.clone().unwrap_or_default(), || {
                self::run(pieces, &mut model.modules[..self.kinds.len()], input)
            });
            let y = y.unwrap_or_else(|e| panic!("{e}: {:?}", ckpt_runtime::last_failure()));
            run.record(format!("{step}: output"), &y);
            let loss = y.exp().mean();
            run.record(format!("{step}: loss"), &loss);
            // The input is a leaf like any parameter.
            let (loss, tape) = loss.split_tape();
            let mut watched = Gradients::leaky();
            watched.try_alloc_for(&x).unwrap();
            let (_, keep) = loss.clone().traced(watched).split_tape();
            gradients = loss
                .put_tape(tape.merge(keep))
                .try_backward()
                .unwrap_or_else(|e| panic!("{e}: {:?}", ckpt_runtime::last_failure()));
            run.gradients(&format!("{step}"), &model, &gradients);
            if step == 1 {
                descend(&mut model, &gradients, 0.05);
                gradients = model.alloc_grads();
            }
        }
        run.tensors("at the end", &model);
        run.words("the random stream's next word", vec![dev.random_u64()]);
        run
    }

    /// What differs from the chain without regions.
    fn difference<E: Real>(&self) -> Option<String>
    where
        Cpu: Device<E>,
    {
        let mut plain = self.clone();
        plain.policy = None;
        let expected = plain.trained::<E>(&vec![Piece::Layer; self.kinds.len()]);
        expected.difference(&self.trained::<E>(&self.pieces))
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Tanh),
        Just(Kind::Relu),
        Just(Kind::Gelu),
        Just(Kind::Normalize),
        prop::sample::select(vec![2usize, 3, 5]).prop_map(|to| Kind::Linear { to }),
        Just(Kind::Residual),
        Just(Kind::BatchNorm),
        (0.0..0.9f64).prop_map(Kind::Dropout),
    ]
}

fn form() -> impl Strategy<Value = Form> {
    let share = || prop::option::of(0.0..1.2f64);
    prop_oneof![
        3 => Just(Form::Owned),
        3 => Just(Form::Shared),
        2 => share().prop_map(Form::Loop),
        2 => share().prop_map(Form::Chain),
    ]
}

fn site() -> impl Strategy<Value = &'static Site> {
    prop_oneof![4 => Just(&CHECKPOINT), 2 => Just(&KEEP), 2 => Just(&VERIFY), 1 => Just(&PLAIN)]
}

fn policy() -> impl Strategy<Value = Option<Policy>> {
    prop_oneof![
        3 => Just(None),
        1 => Just(Some(Policy::keep())),
        1 => Just(Some(Policy::plain())),
        1 => Just(Some(Policy::checkpoint().verify(0.0))),
        1 => Just(Some(Policy::segments(1))),
        1 => Just(Some(Policy::each())),
        1 => Just(Some(Policy::checkpoint().region("Random.checkpoint", ckpt_runtime::Mode::Keep))),
    ]
}

/// A layer, the regions that open before it, and how many close after it.
fn mark() -> impl Strategy<Value = (Kind, Vec<(&'static Site, Form)>, usize)> {
    (kind(), prop::collection::vec((site(), form()), 0..=2), 0..=2usize)
}

/// Brackets around layers as a tree.
fn tree(marks: &[(Kind, Vec<(&'static Site, Form)>, usize)]) -> Vec<Piece> {
    fn close(open: &mut Vec<(&'static Site, Form, Vec<Piece>)>, top: &mut Vec<Piece>) {
        if let Some((site, form, inner)) = open.pop() {
            open.last_mut().map_or(top, |o| &mut o.2).push(Piece::Region(site, form, inner));
        }
    }
    let (mut top, mut open) = (Vec::new(), Vec::new());
    for (_, opens, closes) in marks {
        open.extend(opens.iter().map(|(site, form)| (*site, *form, Vec::new())));
        open.last_mut().map_or(&mut top, |o| &mut o.2).push(Piece::Layer);
        for _ in 0..*closes {
            close(&mut open, &mut top);
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut top);
    }
    top
}

fn case() -> impl Strategy<Value = Case> {
    let marks = prop::collection::vec(mark(), 1..=LONGEST);
    let width = prop::sample::select(vec![2usize, 3, 5]);
    let tied = prop::option::of((0..LONGEST, 0..LONGEST));
    (any::<u64>(), width, marks, tied, policy()).prop_map(|(seed, width, marks, tied, policy)| Case {
        seed,
        width,
        kinds: marks.iter().map(|m| m.0).collect(),
        tied,
        pieces: tree(&marks),
        policy,
    })
}

fn cases() -> u32 {
    std::env::var("CKPT_CASES").ok().map_or(64, |n| n.parse().expect("CKPT_CASES is a number"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_random_model_equals_the_one_without_regions(case in case(), double: bool) {
        let difference = if double { case.difference::<f64>() } else { case.difference::<f32>() };
        prop_assert!(difference.is_none(), "{}", difference.unwrap());
    }
}
