//! `#[checkpoint] fn`, `checkpoint!`, and `#[derive(Boundary)]`.

use ckpt_runtime::prelude::*;
use dfdx::nn::modules;
use tests::compare::{bits, policies, run_with};

use crate::same::{Forward, Traced, rows, trains_as};

/// A wide layer between two narrow ones, added to what went in.
#[checkpoint]
fn ffn<B: Dim, const M: usize, const H: usize, E: Dtype, D: Device<E>>(
    up: &modules::Linear<M, H, E, D>,
    norm: &mut modules::BatchNorm1D<H, E, D>,
    down: &modules::Linear<H, M, E, D>,
    x: Tensor<(B, Const<M>), E, D>,
    mask: Option<Tensor<(B, Const<M>), bool, D>>,
    flag: bool,
) -> Tensor<(B, Const<M>), E, D> {
    let wide = norm.forward(up.forward(x));
    let y = if flag { down.forward(wide.relu()) } else { down.forward(wide.tanh()) };
    match mask {
        Some(mask) => mask.choose(x, y),
        None => x + y,
    }
}

type Layers = (modules::Linear<4, 6, f32, Cpu>, modules::BatchNorm1D<6, f32, Cpu>, modules::Linear<6, 4, f32, Cpu>);

fn layers(dev: &Cpu) -> Layers {
    dev.build_module::<(Linear<4, 6>, BatchNorm1D<6>, Linear<6, 4>), f32>()
}

fn mask(dev: &Cpu) -> Tensor<(usize, Const<4>), bool, Cpu> {
    dev.tensor_from_vec((0..12).map(|i| i % 3 == 0).collect(), (3, Const))
}

fn ffn_by_hand(m: &mut Layers, x: Traced<4>, masked: bool, flag: bool) -> Forward<Traced<4>> {
    let dev = x.device().clone();
    let (x, tape) = x.split_tape();
    let wide = m.1.try_forward_mut(m.0.try_forward_mut(x.clone().put_tape(tape))?)?;
    let wide = if flag { wide.try_relu()? } else { wide.try_tanh()? };
    let (y, tape) = m.2.try_forward_mut(wide)?.split_tape();
    if masked { mask(&dev).try_choose(x.put_tape(tape), y) } else { x.put_tape(tape).try_add(y) }
}

#[test]
fn a_function_takes_modules_masks_and_flags() {
    for (masked, flag) in [(false, false), (false, true), (true, false), (true, true)] {
        let expected = run_with(7, layers, rows::<4, f32>, |m, x| ffn_by_hand(m, x, masked, flag));
        for (name, policy) in policies() {
            let run = run_with(7, layers, rows::<4, f32>, |m, x| {
                let mask = masked.then(|| mask(x.device()));
                let call = |x| try_ffn(&m.0, &mut m.1, &m.2, x, mask, flag);
                match policy.clone() {
                    Some(policy) => with_policy(policy, || call(x)),
                    None => call(x),
                }
            });
            run.assert_same(&expected, name);
        }
    }
}

#[test]
fn a_function_infers_from_shared_modules() {
    let dev = Cpu::seed_from_u64(1);
    let (m, x) = (layers(&dev), rows::<4, f32>(&dev));
    let y = ffn(&m.0, &m.1, &m.2, x.clone(), None, false);
    let expected = x.clone() + m.2.forward(m.1.forward(m.0.forward(x)).tanh());
    assert_eq!(bits(&y), bits(&expected));
}

// ---------------------------------------------------------------- in a checkpointed forward

#[checkpoint(name = "halved", verify)]
fn halved<B: Dim, E: Dtype, D: Device<E>>(
    layer: &modules::Linear<4, 4, E, D>,
    x: Tensor<(B, Const<4>), E, D>,
) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
    layer.try_forward(x)?.try_tanh()?.try_mul(E::from_f64(0.5).unwrap())
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Caller<E: Dtype, D: Device<E>> {
    a: modules::Linear<4, 4, E, D>,
    b: modules::Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Caller<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let y = halved(&self.a, x)?;
        let z = checkpoint!(self.b, y + x)?;
        #[checkpoint]
        let last = halved(&self.b, z)?;
        checkpoint_sequential!(segments = 2, last, self.a, self.b, self.a)
    }
}

#[test]
fn functions_and_expressions_inside_a_checkpointed_forward() {
    trains_as(
        |dev| dev.build_module::<CallerBuilder, f32>(),
        rows::<4, f32>,
        |m, x| {
            let half =
                |m: &mut modules::Linear<4, 4, f32, Cpu>, x: Traced<4>| m.try_forward_mut(x)?.try_tanh()?.try_mul(0.5);
            let (x, tape) = x.split_tape();
            let y = half(&mut m.a, x.clone().put_tape(tape))?;
            let z = m.b.try_forward_mut(y.try_add(x)?)?;
            let y = half(&mut m.b, z)?;
            let y = m.b.try_forward_mut(m.a.try_forward_mut(y)?)?;
            m.a.try_forward_mut(y)
        },
    );
}

// ---------------------------------------------------------------- checkpoint! outside of any other macro

#[derive(Clone, Debug)]
struct Hand<M> {
    attn: M,
}

impl Hand<modules::Linear<4, 4, f32, Cpu>> {
    fn by_reference(&self, x: Traced<4>) -> Forward<Traced<4>> {
        ckpt_runtime::checkpoint!(self.attn, x)
    }
    fn by_exclusive_reference(&mut self, x: Traced<4>) -> Forward<Traced<4>> {
        ckpt_runtime::checkpoint!(name = "attention", verify, &mut self.attn, x)
    }
}

#[test]
fn one_module_as_an_expression() {
    let build = |dev: &Cpu| dev.build_module::<Linear<4, 4>, f32>();
    let expected = run_with(7, build, rows::<4, f32>, |m, x| m.try_forward_mut(x));
    let run = run_with(7, build, rows::<4, f32>, |m, x| Hand { attn: m.clone() }.by_reference(x));
    run.assert_same(&expected, "by reference");
    let run = run_with(7, build, rows::<4, f32>, |m, x| Hand { attn: m.clone() }.by_exclusive_reference(x));
    run.assert_same(&expected, "by exclusive reference");
}

// ---------------------------------------------------------------- a struct of tensors

/// Queries and keys, and how sharp.
#[derive(Clone, Debug, Boundary)]
struct Pair<S: Shape, E: Dtype, D: Device<E>, T> {
    q: Tensor<S, E, D, T>,
    k: Tensor<S, E, D, T>,
    sharpness: f64,
}

#[checkpoint]
fn weigh<B: Dim, E: Dtype, D: Device<E>>(
    layer: &modules::Linear<4, 4, E, D>,
    x: Tensor<(B, Const<4>), E, D>,
    pair: Pair<(B, Const<4>), E, D, _>,
) -> Tensor<(B, Const<4>), E, D> {
    let sharp = E::from_f64(pair.sharpness).unwrap();
    layer.forward(x) * pair.q * sharp + pair.k
}

#[test]
fn a_struct_of_tensors_is_an_input() {
    let build = |dev: &Cpu| dev.build_module::<(Linear<4, 4>, Linear<4, 4>), f32>();
    let expected = run_with(7, build, rows::<4, f32>, |m, x| {
        let (q, tape) = m.0.try_forward(x)?.split_tape();
        let (k, tape) = q.clone().put_tape(tape).try_sin()?.split_tape();
        let (y, tape) = m.1.try_forward(q.clone().put_tape(tape))?.split_tape();
        y.put_tape(tape).try_mul(q)?.try_mul(1.5)?.try_add(k)
    });
    for (name, policy) in policies() {
        let run = run_with(7, build, rows::<4, f32>, |m, x| {
            let forward = |x: Traced<4>| {
                let (q, tape) = m.0.try_forward(x)?.split_tape();
                let (k, tape) = q.clone().put_tape(tape).try_sin()?.split_tape();
                let pair = Pair {
                    q: q.clone().put_tape(Default::default()),
                    k: k.put_tape(Default::default()),
                    sharpness: 1.5,
                };
                try_weigh(&m.1, q.put_tape(tape), pair)
            };
            match policy.clone() {
                Some(policy) => with_policy(policy, || forward(x)),
                None => forward(x),
            }
        });
        run.assert_same(&expected, name);
    }
}
