//! The edges of a region: what goes in and comes out in unusual ways.
//!
//! Each test is a forward on a shared tape with a region in it, run in every mode, and the same
//! forward as dfdx would have it written: one `OwnedTape` that one use of each value carries.

use ckpt_runtime::{
    __private::{call_mut, enter, leave, lend},
    Boundary, Real, SharedTape, Site, region,
};
use dfdx::{
    prelude::*,
    tensor::{CpuError, PutTape},
};
use tests::compare::{BothTaped, Run, noise, run_with};

type E = f64;
type Rows = Rank2<3, 4>;
type Bare<S = Rows> = Tensor<S, E, Cpu>;
type Owned<S = Rows> = Tensor<S, E, Cpu, OwnedTape<E, Cpu>>;
type Shared<S = Rows> = Tensor<S, E, Cpu, Tape>;
type Tape = SharedTape<E, Cpu>;
type Layers = (Linear<4, 4>, BatchNorm1D<4>);
type Model = <Layers as BuildOnDevice<Cpu, E>>::Built;

static PLAIN: Site = Site::new("Edge.plain").plain();
static KEEP: Site = Site::new("Edge.keep").keep();
static CHECKPOINT: Site = Site::new("Edge.checkpoint");
static VERIFY: Site = Site::new("Edge.verify").verify(0.0);

fn build(dev: &Cpu) -> Model {
    dev.build_module::<Layers, E>()
}

fn inputs(dev: &Cpu) -> BothTaped<Bare, Bare> {
    BothTaped(noise(dev, Rows::default(), -1.0, 1.0), noise(dev, Rows::default(), -1.0, 1.0))
}

/// Holds `regions` in every mode against `plain`.
fn same_of(
    build: fn(&Cpu) -> Model,
    plain: fn(&mut Model, Owned, Owned) -> Result<Owned, CpuError>,
    regions: fn(&'static Site, &Tape, &mut Model, Shared, Shared) -> Result<Shared, CpuError>,
) {
    let expected = run_with(1, build, inputs, |m, (x, y)| plain(m, x, y));
    for site in [&PLAIN, &KEEP, &CHECKPOINT, &VERIFY] {
        let run: Run = run_with(1, build, inputs, |m, (x, y)| {
            let tape = SharedTape::open();
            let (x, y) = (enter(x, &tape), enter(y, &tape));
            let out = regions(site, &tape, m, x, y)?;
            leave::<E, Cpu, _>(out, tape)
        });
        expected.assert_same(&run, &format!("{site:?}"));
    }
}

fn same(
    plain: fn(&mut Model, Owned, Owned) -> Result<Owned, CpuError>,
    regions: fn(&'static Site, &Tape, &mut Model, Shared, Shared) -> Result<Shared, CpuError>,
) {
    same_of(build, plain, regions);
}

/// The whole model as a region.
fn through(site: &'static Site, tape: &Tape, m: &mut Model, x: Shared) -> Result<Shared, CpuError> {
    region(site, tape, (lend!(E, Cpu, &mut *m),), (x,), |tape, (m,), (x,)| call_mut(tape, m, x))
}

#[test]
fn two_taped_inputs_used_inside_and_after() {
    same(
        |m, x, y| {
            let (x2, y2) = (x.with_empty_tape(), y.with_empty_tape());
            let h = m.try_forward_mut(x.try_add(y)?)?;
            Ok(h * x2.try_square()? + y2)
        },
        |site, tape, m, x, y| {
            let inputs = (x.clone(), y.clone());
            let h = region(site, tape, (lend!(E, Cpu, &mut *m),), inputs, |tape, (m,), (x, y)| {
                call_mut(tape, m, x.try_add(y)?)
            })?;
            Ok(h * x.try_square()? + y)
        },
    );
}

#[test]
fn aliased_outputs() {
    same(
        |m, x, y| {
            let h = m.try_forward_mut(x)?;
            let (a, b) = (h.with_empty_tape(), h.with_empty_tape());
            Ok(h * a.try_square()? * b + y)
        },
        |site, tape, m, x, y| {
            let (h, a, b) = region(site, tape, (lend!(E, Cpu, &mut *m),), (x,), |tape, (m,), (x,)| {
                let h = call_mut(tape, m, x)?;
                Ok((h.clone(), h.clone(), h))
            })?;
            Ok(h * a.try_square()? * b + y)
        },
    );
}

#[test]
fn outputs_dropped_and_outputs_that_no_loss_sees() {
    same(
        |m, x, y| {
            // Plain dfdx loses the operations of a value that is dropped with its tape.
            drop(y.with_empty_tape() * x.with_empty_tape());
            Ok(m.try_forward_mut(x)? + y)
        },
        |site, tape, m, x, y| {
            let outputs = region(site, tape, (lend!(E, Cpu, &mut *m),), (x, y.clone()), |tape, (m,), (x, y)| {
                drop(x.clone().try_exp()?);
                let unused = x.clone() * y;
                Ok((unused, call_mut(tape, m, x)?))
            })?;
            Ok(outputs.1 + y)
        },
    );
}

#[test]
fn inputs_handed_through_and_swapped() {
    same(
        |m, x, y| Ok(m.try_forward_mut(y)? * x),
        |site, tape, m, x, y| {
            let same = region(site, tape, (), (x,), |_, (), (x,)| Ok(x))?;
            let (y, x) = region(site, tape, (), (same, y), |_, (), (x, y)| Ok((y, x)))?;
            Ok(call_mut(tape, m, y)? * x)
        },
    );
}

/// dfdx keeps a tensor's identity when it permutes or reshapes it.
#[test]
fn inputs_permuted_and_reshaped() {
    same(
        |m, x, y| {
            let x = x.try_permute::<Rank2<4, 3>, _>()?.try_permute::<Rows, _>()?;
            let y: Owned<Rank1<12>> = y.try_reshape()?;
            let y: Owned<Rows> = y.try_square()?.try_reshape()?;
            Ok(m.try_forward_mut(x)? * y)
        },
        |site, tape, m, x, y| {
            let (x, y) = region(site, tape, (), (x, y), |_, (), (x, y)| {
                let y: Shared<Rank1<12>> = y.try_reshape()?;
                Ok((x.try_permute::<Rank2<4, 3>, _>()?, y))
            })?;
            let x: Shared = region(site, tape, (), (x,), |_, (), (x,)| x.try_permute::<Rows, _>())?;
            let y: Shared<Rank1<12>> = y.try_square()?;
            let y: Shared = region(site, tape, (), (y,), |_, (), (y,)| y.try_reshape())?;
            Ok(call_mut(tape, m, x)? * y)
        },
    );
}

#[test]
fn a_broadcast_input() {
    same(
        |m, x, y| {
            let mean: Owned<Rank1<4>> = y.try_mean()?;
            Ok(m.try_forward_mut(x)? * mean.try_broadcast_like(&Rows::default())?.try_square()?)
        },
        |site, tape, m, x, y| {
            let h = call_mut(tape, m, x)?;
            let mean: Shared<Rank1<4>> = y.try_mean()?;
            let wide = mean.try_broadcast_like(&Rows::default())?;
            region(site, tape, (), (h, wide), |_, (), (h, wide)| Ok(h * wide.try_square()?))
        },
    );
}

#[test]
fn one_tensor_as_three_inputs() {
    same(
        |m, x, y| {
            let x = m.try_forward_mut(x)?;
            let (k, v) = (x.with_empty_tape(), x.with_empty_tape());
            let (k, v) = (k.try_sin()?, v.try_square()?);
            let scores: Owned<Rank2<3, 3>> = x.try_matmul(k.try_permute::<Rank2<4, 3>, _>()?)?;
            Ok(scores.try_softmax::<Axis<1>>()?.try_matmul(v)? + y)
        },
        |site, tape, m, x, y| {
            let x = call_mut(tape, m, x)?;
            let attended = region(site, tape, (), (x.clone(), x.clone(), x), |_, (), (q, k, v)| {
                // As projections do: dfdx multiplies no tensor by itself.
                let (k, v) = (k.try_sin()?, v.try_square()?);
                let scores: Shared<Rank2<3, 3>> = q.try_matmul(k.try_permute::<Rank2<4, 3>, _>()?)?;
                scores.try_softmax::<Axis<1>>()?.try_matmul(v)
            })?;
            Ok(attended + y)
        },
    );
}

/// The weight is a parameter, an input, and a parameter again.
#[test]
fn one_tensor_as_input_and_parameter() {
    same(
        |m, x, y| {
            let (w, w2) = (m.0.weight.clone(), m.0.weight.clone());
            let h = m.try_forward_mut(x)?;
            Ok(h.try_matmul(w)?.try_matmul(w2)? + y)
        },
        |site, tape, m, x, y| {
            let again = m.0.weight.clone();
            let weights = (m.0.weight.clone(), m.0.weight.clone().put_tape(tape.clone()));
            let h = region(
                site,
                tape,
                (lend!(E, Cpu, &mut m.0), lend!(E, Cpu, &mut m.1), lend!(E, Cpu, &again)),
                (x, weights),
                |tape, (linear, norm, _again), (x, (w, w2))| {
                    let h = call_mut(tape, norm, call_mut(tape, linear, x)?)?;
                    h.try_matmul(w)?.try_matmul(w2)
                },
            )?;
            Ok(h + y)
        },
    );
}

/// A parameter handed out as an output: a table of positions is one.
#[test]
fn a_parameter_as_output() {
    same(
        |m, x, y| {
            let bias = m.0.bias.clone();
            let h = m.try_forward_mut(x)?;
            let bias = bias.retaped::<OwnedTape<E, Cpu>>().try_broadcast_like(&Rows::default())?;
            Ok(h * bias + y)
        },
        |site, tape, m, x, y| {
            let h = through(site, tape, m, x)?;
            let bias = region(site, tape, (lend!(E, Cpu, &mut m.0),), (), |_, (linear,), ()| {
                Ok(linear.bias.retaped::<Tape>())
            })?;
            Ok(h * bias.try_broadcast_like(&Rows::default())? + y)
        },
    );
}

#[test]
fn tied_weights() {
    type Tied = (modules::Linear<4, 4, E, Cpu>, modules::Linear<4, 4, E, Cpu>);
    fn build(dev: &Cpu) -> Tied {
        let mut m = dev.build_module::<(Linear<4, 4>, Linear<4, 4>), E>();
        m.1.weight = m.0.weight.clone();
        m
    }
    let expected = run_with(1, build, inputs, |m, (x, y)| Ok(m.try_forward_mut(x)? * y));
    for site in [&PLAIN, &KEEP, &CHECKPOINT, &VERIFY] {
        let run = run_with(1, build, inputs, |m, (x, y)| {
            let tape = SharedTape::open();
            let (x, y): (Shared, Shared) = (enter(x, &tape), enter(y, &tape));
            let h =
                region(site, &tape, (lend!(E, Cpu, &mut m.0), lend!(E, Cpu, &mut m.1)), (x,), |tape, (a, b), (x,)| {
                    call_mut(tape, b, call_mut(tape, a, x)?)
                })?;
            leave::<E, Cpu, _>(h * y, tape)
        });
        expected.assert_same(&run, &format!("one region, {site:?}"));
        let run = run_with(1, build, inputs, |m, (x, y)| {
            let tape = SharedTape::open();
            let (x, y): (Shared, Shared) = (enter(x, &tape), enter(y, &tape));
            let h = region(site, &tape, (lend!(E, Cpu, &mut m.0),), (x,), |tape, (m,), (x,)| call_mut(tape, m, x))?;
            let h = region(site, &tape, (lend!(E, Cpu, &mut m.1),), (h,), |tape, (m,), (x,)| call_mut(tape, m, x))?;
            leave::<E, Cpu, _>(h * y, tape)
        });
        expected.assert_same(&run, &format!("two regions, {site:?}"));
    }
}

#[test]
fn one_module_in_three_regions_and_outside() {
    same(
        |m, x, y| {
            let x = m.try_forward_mut(x)?;
            let x = m.try_forward_mut(x)?;
            let x = m.try_forward_mut(x)?;
            m.try_forward_mut(x + y)
        },
        |site, tape, m, x, y| {
            let x = through(site, tape, m, x)?;
            let x = through(site, tape, m, x)?;
            let x = call_mut(tape, m, x)?;
            through(site, tape, m, x + y)
        },
    );
}

/// An outer region of two inner ones, and an untaped leaf made inside.
#[test]
fn regions_in_regions() {
    same(
        |m, x, y| {
            let x = m.try_forward_mut(x)?;
            let x2 = x.with_empty_tape();
            let h = m.try_forward_mut(x)?.try_tanh()?;
            Ok(h * x2 + y)
        },
        |site, tape, m, x, y| {
            let h = nested(site, tape, m, x)?;
            Ok(h + y)
        },
    );
}

fn nested(site: &'static Site, tape: &Tape, m: &mut Model, x: Shared) -> Result<Shared, CpuError> {
    region(site, tape, (lend!(E, Cpu, &mut *m),), (x,), |tape, (m,), (x,)| {
        let x = through(&CHECKPOINT, tape, m, x)?;
        let x2 = x.clone();
        let (h, x2) = region(&KEEP, tape, (lend!(E, Cpu, &mut *m),), (x, x2), |tape, (m,), (x, x2)| {
            let h = through(&VERIFY, tape, m, x)?;
            Ok((h.try_tanh()?, x2))
        })?;
        Ok(h * x2)
    })
}

/// Leaves without a tape, one of them in two regions.
#[test]
fn untaped_leaves_among_the_inputs() {
    let dev = Cpu::seed_from_u64(2);
    let (x, a, b): (Bare, Bare, Bare) = (
        noise(&dev, Rows::default(), -1.0, 1.0),
        noise(&dev, Rows::default(), -1.0, 1.0),
        noise(&dev, Rows::default(), -1.0, 1.0),
    );
    let record = |gradients: Gradients<E, Cpu>| {
        let mut run = Run::default();
        for (name, t) in [("x", &x), ("a", &a), ("b", &b)] {
            run.record(name, &gradients.get(t));
        }
        run
    };
    let plain = (x.leaky_trace() * a.clone() + b.clone()) * a.clone();
    let plain = record(plain.exp().mean().backward());
    for site in [&KEEP, &CHECKPOINT] {
        let tape = SharedTape::open();
        let h: Shared = enter(x.leaky_trace(), &tape);
        let h = region(site, &tape, (), (h, (a.clone(), b.clone())), |_, (), (h, (a, b))| Ok(h * a + b)).unwrap();
        let h = region(site, &tape, (), (h, [a.clone()]), |_, (), (h, [a])| Ok(h * a)).unwrap();
        let h = leave::<E, Cpu, _>(h, tape).unwrap();
        plain.assert_same(&record(h.exp().mean().backward()), &format!("{site:?}"));
    }
}

/// Every kind of value crosses, in order.
#[test]
fn values_of_every_kind_cross() {
    type Kinds = (
        Option<Bare>,
        Option<Shared>,
        Vec<Shared>,
        [Bare; 2],
        (Tensor<Rows, bool, Cpu>, Tensor<Rank1<2>, usize, Cpu>),
        (bool, usize, f32, String, ()),
    );
    fn crosses<B: Boundary<f64, Cpu>>(_: &B) {}
    fn mix(
        x: Shared,
        (none, some, many, pair, (mask, index), (flag, n, scale, text, ())): Kinds,
    ) -> Result<Shared, CpuError> {
        assert!(none.is_none());
        assert_eq!((n, text.as_str(), many.len()), (2, "text", 2));
        let mut x = x * some.expect("some");
        for m in many {
            x = x + m;
        }
        let [a, b] = pair;
        x = if flag { x * a } else { x * b };
        x = mask.choose(x.clone(), x.try_square()? * f64::from(scale));
        let picked: Shared<Rank2<2, 4>> = x.clone().try_gather(index)?;
        let picked: Shared<Rank1<4>> = picked.try_sum()?;
        Ok(x + picked.try_broadcast_like(&Rows::default())?)
    }
    let dev = Cpu::seed_from_u64(2);
    let x: Bare = noise(&dev, Rows::default(), -1.0, 1.0);
    let leaves: [Bare; 4] = std::array::from_fn(|_| noise(&dev, Rows::default(), -1.0, 1.0));
    let mask = x.lt(0.0);
    let index = dev.tensor([2usize, 0]);
    let mut runs = Vec::new();
    for site in [&PLAIN, &KEEP, &CHECKPOINT, &VERIFY] {
        let tape = SharedTape::open();
        let h: Shared = enter(x.leaky_trace(), &tape);
        let shared = |i: usize| leaves[i].clone().put_tape(tape.clone());
        let kinds: Kinds = (
            None,
            Some(shared(0)),
            vec![shared(1), h.clone()],
            [leaves[2].clone(), leaves[3].clone()],
            (mask.clone(), index.clone()),
            (true, 2, 0.5, "text".to_owned(), ()),
        );
        crosses(&kinds);
        let h = region(site, &tape, (), (h, kinds), |_, (), (x, kinds)| mix(x, kinds)).unwrap();
        let h = leave::<E, Cpu, _>(h, tape).unwrap();
        let mut run = Run::default();
        run.record("output", &h);
        let gradients = h.exp().mean().backward();
        for (name, t) in [("x", &x), ("0", &leaves[0]), ("1", &leaves[1]), ("2", &leaves[2])] {
            run.record(name, &gradients.get(t));
        }
        runs.push((run, site));
    }
    for (run, site) in &runs {
        runs[0].0.assert_same(run, &format!("{site:?}"));
    }
}

/// A tape that was never opened: what is recorded goes with the output.
#[test]
fn a_default_tape() {
    let dev = Cpu::seed_from_u64(2);
    let x: Bare = noise(&dev, Rows::default(), -1.0, 1.0);
    let plain = x.leaky_trace().square().exp().mean().backward().get(&x);
    for site in [&PLAIN, &KEEP, &CHECKPOINT] {
        let y = region(site, &Tape::default(), (), x.leaky_trace(), |_, (), x| x.try_square()).unwrap();
        let gradients = y.exp().mean().backward();
        assert_eq!(gradients.get(&x).as_vec(), plain.as_vec(), "{site:?}");
    }
}

#[test]
fn a_region_without_tensors() {
    let tape = SharedTape::<f64, Cpu>::open();
    let n = region(&CHECKPOINT, &tape, (), (2usize, "two"), |_, (), (n, name)| Ok(n + name.len())).unwrap();
    assert_eq!(n, 5);
}

/// dfdx's cache hands freed buffers out again: nothing may look at one after it was freed.
#[test]
fn with_the_cache_on() {
    fn cached(dev: &Cpu) -> Model {
        dev.enable_cache();
        build(dev)
    }
    same_of(
        cached,
        |m, x, y| {
            let h = m.try_forward_mut(x)?;
            Ok(m.try_forward_mut(h)? * y)
        },
        |site, tape, m, x, y| {
            let h = through(site, tape, m, x)?;
            Ok(through(site, tape, m, h)? * y)
        },
    );
}

/// One forward and backward a thread, at the same time, under different policies.
#[test]
fn two_threads() {
    let train = |site: &'static Site| {
        run_with(1, build, inputs, |m, (x, y)| {
            let tape = SharedTape::open();
            let (x, y): (Shared, Shared) = (enter(x, &tape), enter(y, &tape));
            let h = through(site, &tape, m, x)?;
            leave::<E, Cpu, _>(h * y, tape)
        })
    };
    let expected = train(&PLAIN);
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|i| scope.spawn(move || train(if i % 2 == 0 { &CHECKPOINT } else { &KEEP }))).collect();
        for thread in threads {
            expected.assert_same(&thread.join().unwrap(), "on a thread of its own");
        }
    });
}

/// A value that only its bits tell from another is still a [`Real`].
#[test]
fn bits_tell_values_apart() {
    assert_ne!(0.0_f32.bits(), (-0.0_f32).bits());
    assert_eq!(f64::NAN.bits(), f64::NAN.bits());
}
