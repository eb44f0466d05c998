//! Holding a declared model against its own layers, called in order on dfdx's plain tape.

use ckpt_runtime::{Policy, Real, with_policy};
use dfdx::{prelude::*, tensor::CpuError};
use tests::compare::{Input, Output, Run, noise, policies, run_with};

/// A batch of `N` rows of `W`.
pub type Rows<const W: usize, E = f32> = Tensor<(usize, Const<W>), E, Cpu>;

/// [`Rows`] in training.
pub type Traced<const W: usize, E = f32> = Tensor<(usize, Const<W>), E, Cpu, OwnedTape<E, Cpu>>;

/// What a forward of the tests gives.
pub type Forward<T> = Result<T, CpuError>;

/// Three rows of noise.
pub fn rows<const W: usize, E: Real>(dev: &Cpu) -> Rows<W, E>
where
    Cpu: Device<E>,
{
    noise(dev, (3, Const), -1.0, 1.0)
}

/// Trains the model by `plain` and, under every policy, by its own `forward_mut`: all outputs,
/// losses, gradients, running statistics and random draws must be equal to the bit.
#[track_caller]
pub fn trains_as<E: Real, M, X: Input<E>, Y: Output<E>>(
    build: impl Fn(&Cpu) -> M,
    input: impl Fn(&Cpu) -> X,
    plain: impl Fn(&mut M, X::Taped) -> Forward<Y>,
) where
    Cpu: Device<E>,
    M: TensorCollection<E, Cpu> + ModuleMut<X::Taped, Output = Y, Error = CpuError>,
{
    let expected = run_with(7, &build, &input, plain);
    for (name, policy) in policies() {
        under(policy, &build, &input).assert_same(&expected, name);
    }
}

/// A run of the model's own `forward_mut`.
pub fn under<E: Real, M, X: Input<E>, Y: Output<E>>(
    policy: Option<Policy>,
    build: impl Fn(&Cpu) -> M,
    input: impl Fn(&Cpu) -> X,
) -> Run
where
    Cpu: Device<E>,
    M: TensorCollection<E, Cpu> + ModuleMut<X::Taped, Output = Y, Error = CpuError>,
{
    run_with(7, build, input, |model, x| match policy.clone() {
        Some(policy) => with_policy(policy, || model.try_forward_mut(x)),
        None => model.try_forward_mut(x),
    })
}

/// `forward` on an untaped input, `forward` on a traced one and `forward_mut` are one function of
/// the weights where no layer has a state.
pub fn one_function<E: Real, M, X: Input<E>, Y: Output<E>, I>(
    build: impl Fn(&Cpu) -> M,
    input: impl Fn(&Cpu) -> X,
    bits: impl Fn(I) -> Vec<u64>,
    traced_bits: impl Fn(Y) -> Vec<u64>,
) where
    Cpu: Device<E>,
    M: TensorCollection<E, Cpu>
        + ModuleMut<X::Taped, Output = Y, Error = CpuError>
        + Module<X::Taped, Output = Y, Error = CpuError>
        + ModuleMut<X, Output = I, Error = CpuError>
        + Module<X, Output = I, Error = CpuError>,
{
    let dev = Cpu::seed_from_u64(3);
    let mut model = build(&dev);
    let x = input(&dev);
    let expected = traced_bits(model.forward_mut(x.clone().taped(Gradients::leaky())));
    assert_eq!(traced_bits(model.forward(x.clone().taped(Gradients::leaky()))), expected, "forward, traced");
    assert_eq!(bits(model.forward(x.clone())), expected, "forward");
    assert_eq!(bits(model.forward_mut(x)), expected, "forward_mut, untraced");
}

/// Trains through `&self`, under every policy, as through `forward_mut`.
pub fn trains_by_reference<E: Real, M, X: Input<E>, Y: Output<E>>(build: impl Fn(&Cpu) -> M, input: impl Fn(&Cpu) -> X)
where
    Cpu: Device<E>,
    M: TensorCollection<E, Cpu>
        + ModuleMut<X::Taped, Output = Y, Error = CpuError>
        + Module<X::Taped, Output = Y, Error = CpuError>,
{
    let expected = under(None, &build, &input);
    for (name, policy) in policies() {
        let run = run_with(7, &build, &input, |model, x| match policy.clone() {
            Some(policy) => with_policy(policy, || model.try_forward(x)),
            None => model.try_forward(x),
        });
        run.assert_same(&expected, &format!("through &self, {name}"));
    }
}
