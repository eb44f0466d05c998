//! Layers that misbehave on demand.

use std::{cell::Cell, rc::Rc};

use ckpt_runtime::ReplaySafe;
use dfdx::{
    prelude::*,
    tensor::{CpuError, PutTape, SplitTape},
};

/// What a [`Probe`] does in one of its calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Does {
    /// Hands its input through.
    Pass,
    /// Returns the device's error.
    Fail,
    /// Panics.
    Panic,
    /// Hands its input through; its operation in the backward pass returns the device's error.
    FailInBackward,
    /// Adds this to every element.
    Add(f64),
    /// Negates every element.
    Negate,
}

/// A layer that does in its n-th call what the n-th entry says, and passes afterwards. Clones share
/// the count.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    plan: Rc<[Does]>,
    calls: Rc<Cell<usize>>,
}

impl Probe {
    /// Follows `plan`, a call an entry.
    #[must_use]
    pub fn new(plan: &[Does]) -> Self {
        Self { plan: plan.into(), calls: Rc::default() }
    }

    /// Passes `calls` times, then does `then` once.
    #[must_use]
    pub fn after(calls: usize, then: Does) -> Self {
        let mut plan = vec![Does::Pass; calls];
        plan.push(then);
        Self::new(&plan)
    }

    /// How often it was called, clones included.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.get()
    }
}

impl ReplaySafe for Probe {}
impl NonMutableModule for Probe {}

impl<E: Dtype, D: Device<E>> TensorCollection<E, D> for Probe {
    type To<E2: Dtype, D2: Device<E2>> = Self;
    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self>, V::Err> {
        visitor.visit_fields((), |()| Self::default())
    }
}

impl<D: Device<E>, E: Dtype> BuildOnDevice<D, E> for Probe {
    type Built = Self;
}

impl<S: Shape, E: Dtype, T: Tape<E, Cpu>> Module<Tensor<S, E, Cpu, T>> for Probe
where
    Cpu: Device<E>,
{
    type Output = Tensor<S, E, Cpu, T>;
    type Error = CpuError;
    fn try_forward(&self, x: Tensor<S, E, Cpu, T>) -> Result<Self::Output, CpuError> {
        let call = self.calls.replace(self.calls.get() + 1);
        match self.plan.get(call).copied().unwrap_or(Does::Pass) {
            Does::Pass => Ok(x),
            Does::Fail => Err(CpuError::OutOfMemory),
            Does::Panic => panic!("the probe's call {call}"),
            Does::FailInBackward => {
                let (x, mut tape) = x.split_tape();
                tape.add_backward_op(|_| Err(CpuError::OutOfMemory));
                Ok(x.put_tape(tape))
            }
            Does::Add(value) => x.try_add(E::from_f64(value).unwrap()),
            Does::Negate => x.try_negate(),
        }
    }
}

/// Multiplies by the number of its calls, which it counts in itself, as batch norm keeps its
/// statistics: its output depends on its state.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    /// How often it was called.
    pub calls: usize,
}

impl ReplaySafe for Growing {}

impl<E: Dtype, D: Device<E>> TensorCollection<E, D> for Growing {
    type To<E2: Dtype, D2: Device<E2>> = Self;
    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self>, V::Err> {
        visitor.visit_fields((), |()| Self::default())
    }
}

impl<S: Shape, E: Dtype, T: Tape<E, Cpu>> ModuleMut<Tensor<S, E, Cpu, T>> for Growing
where
    Cpu: Device<E>,
{
    type Output = Tensor<S, E, Cpu, T>;
    type Error = CpuError;
    fn try_forward_mut(&mut self, x: Tensor<S, E, Cpu, T>) -> Result<Self::Output, CpuError> {
        self.calls += 1;
        x.try_mul(E::from_usize(self.calls).expect("a small number"))
    }
}

/// A module that must not be cloned.
#[derive(Debug)]
pub struct NoClone<M>(pub M);

impl<M> Clone for NoClone<M> {
    fn clone(&self) -> Self {
        panic!("a module was cloned");
    }
}

impl<M: ReplaySafe> ReplaySafe for NoClone<M> {}

impl<E: Dtype, D: Device<E>, M: TensorCollection<E, D>> TensorCollection<E, D> for NoClone<M> {
    type To<E2: Dtype, D2: Device<E2>> = NoClone<M::To<E2, D2>>;
    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(Self::module("0", |s| &s.0, |s| &mut s.0), NoClone)
    }
}

impl<X, M: Module<X>> Module<X> for NoClone<M> {
    type Output = M::Output;
    type Error = M::Error;
    fn try_forward(&self, x: X) -> Result<M::Output, M::Error> {
        self.0.try_forward(x)
    }
}

impl<X, M: ModuleMut<X>> ModuleMut<X> for NoClone<M> {
    type Output = M::Output;
    type Error = M::Error;
    fn try_forward_mut(&mut self, x: X) -> Result<M::Output, M::Error> {
        self.0.try_forward_mut(x)
    }
}
