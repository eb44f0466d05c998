//! Training runs written down to the bit, and compared.
//!
//! A run holds what training can be told by: outputs, losses, the gradient of every parameter, of
//! the input and of untaped float leaves, every tensor of the model afterwards (running statistics
//! too) and the position of the device's random stream. Two runs are the same when all bits are;
//! of a large tensor a hash of them is kept, so that a run does not grow with its model.

use std::convert::Infallible;

use ckpt_runtime::{Policy, Real, with_policy};
use dfdx::{
    prelude::*,
    tensor::{CpuError, RandomU64},
};

/// A training run, record by record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    records: Vec<(String, Vec<u64>)>,
}

impl Run {
    /// Writes a tensor's elements down, or of a large one a hash.
    pub fn record<S: Shape, E: Real, T>(&mut self, name: impl Into<String>, tensor: &Tensor<S, E, Cpu, T>)
    where
        Cpu: Device<E>,
    {
        let bits = bits(tensor);
        let words = if bits.len() > LARGE { vec![bits.len() as u64, hash(&bits)] } else { bits };
        self.records.push((name.into(), words));
    }

    /// Writes words down.
    pub fn words(&mut self, name: impl Into<String>, words: Vec<u64>) {
        self.records.push((name.into(), words));
    }

    /// Every trained tensor's gradient, under its name.
    pub fn gradients<E: Real, M: TensorCollection<E, Cpu>>(&mut self, when: &str, model: &M, from: &Gradients<E, Cpu>)
    where
        Cpu: Device<E>,
    {
        self.visit(model, &format!("{when}: gradient of "), Some(from));
    }

    /// Every tensor, trained or not, under its name.
    pub fn tensors<E: Real, M: TensorCollection<E, Cpu>>(&mut self, when: &str, model: &M)
    where
        Cpu: Device<E>,
    {
        self.visit::<E, M>(model, &format!("{when}: "), None);
    }

    fn visit<E: Real, M: TensorCollection<E, Cpu>>(
        &mut self,
        model: &M,
        prefix: &str,
        gradients: Option<&Gradients<E, Cpu>>,
    ) where
        Cpu: Device<E>,
    {
        let mut visitor = Visitor { run: self, prefix, gradients };
        let walked = M::iter_tensors(&mut RecursiveWalker { m: (model, String::new()), f: &mut visitor });
        if let Err(never) = walked {
            match never {}
        }
    }

    /// The same with numbers for names, to compare models that name the same tensors otherwise.
    #[must_use]
    pub fn unnamed(mut self) -> Self {
        for (n, (name, _)) in self.records.iter_mut().enumerate() {
            *name = n.to_string();
        }
        self
    }

    /// The number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// What differs first, in words.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        for ((name, a), (other_name, b)) in self.records.iter().zip(&other.records) {
            if name != other_name {
                return Some(format!("`{name}` against `{other_name}`"));
            }
            if a.len() != b.len() {
                return Some(format!("`{name}`: {} elements against {}", a.len(), b.len()));
            }
            if let Some(i) = a.iter().zip(b).position(|(a, b)| a != b) {
                let wrong = a.iter().zip(b).filter(|(a, b)| a != b).count();
                return Some(format!("`{name}`[{i}]: {:#x} against {:#x} ({wrong} of {} differ)", a[i], b[i], a.len()));
            }
        }
        (self.len() != other.len()).then(|| format!("{} records against {}", self.len(), other.len()))
    }

    /// Panics, saying what differs first, unless `other` is the same to the bit.
    #[track_caller]
    pub fn assert_same(&self, other: &Self, what: &str) {
        assert!(!self.is_empty(), "{what}: nothing was recorded");
        if let Some(difference) = self.difference(other) {
            panic!("{what}: {difference}");
        }
    }
}

/// Elements up to which a tensor is written down in full.
const LARGE: usize = 1 << 14;

/// FNV-1a, a word at a time.
fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |state: u64, word| {
        // The rotation carries high bits to low ones, which multiplication alone does not.
        (state ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    })
}

/// A tensor's elements as bits, row-major.
pub fn bits<S: Shape, E: Real, T>(tensor: &Tensor<S, E, Cpu, T>) -> Vec<u64>
where
    Cpu: Device<E>,
{
    tensor.as_vec().into_iter().map(Real::bits).collect()
}

struct Visitor<'a, E: Real>
where
    Cpu: Device<E>,
{
    run: &'a mut Run,
    prefix: &'a str,
    gradients: Option<&'a Gradients<E, Cpu>>,
}

impl<E: Real> TensorVisitor<E, Cpu> for Visitor<'_, E>
where
    Cpu: Device<E>,
{
    type Viewer = (ViewTensorRef, ViewTensorName);
    type Err = Infallible;
    type E2 = E;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, Cpu>,
        (tensor, name): (&Tensor<S, E, Cpu>, String),
    ) -> Result<Option<Tensor<S, E, Cpu>>, Infallible> {
        let name = format!("{}{name}", self.prefix);
        match self.gradients {
            Some(gradients) if options.do_gradient_update => self.run.record(name, &gradients.get(tensor)),
            Some(_) => {}
            None => self.run.record(name, tensor),
        }
        Ok(None)
    }
}

/// What a model can be fed with.
pub trait Input<E: Real>: Clone
where
    Cpu: Device<E>,
{
    /// The same with a tape, on the first tensor.
    type Taped;
    /// Puts a tape on it that continues `gradients`.
    fn taped(self, gradients: Gradients<E, Cpu>) -> Self::Taped;
    /// Records the gradients of all float tensors.
    fn record(&self, name: &str, gradients: &Gradients<E, Cpu>, run: &mut Run);
}

macro_rules! float_inputs {
    ($($E:ty),*) => { $(
        impl<S: Shape> Input<$E> for Tensor<S, $E, Cpu> {
            type Taped = Tensor<S, $E, Cpu, OwnedTape<$E, Cpu>>;
            fn taped(self, gradients: Gradients<$E, Cpu>) -> Self::Taped {
                self.traced(gradients)
            }
            fn record(&self, name: &str, gradients: &Gradients<$E, Cpu>, run: &mut Run) {
                run.record(name, &gradients.get(self));
            }
        }
    )* };
}
float_inputs!(f32, f64);
#[cfg(feature = "f16")]
float_inputs!(dfdx::dtypes::f16, dfdx::dtypes::AMP<dfdx::dtypes::f16>);

impl<S: Shape, E: Real> Input<E> for Tensor<S, usize, Cpu>
where
    Cpu: Device<E>,
{
    type Taped = Tensor<S, usize, Cpu, OwnedTape<E, Cpu>>;
    fn taped(self, gradients: Gradients<E, Cpu>) -> Self::Taped {
        self.traced(gradients)
    }
    fn record(&self, _: &str, _: &Gradients<E, Cpu>, _: &mut Run) {}
}

/// The first is taped; the others are leaves, whose gradients count too.
impl<E: Real, A: Input<E>, B: Input<E>> Input<E> for (A, B)
where
    Cpu: Device<E>,
{
    type Taped = (A::Taped, B);
    fn taped(self, gradients: Gradients<E, Cpu>) -> Self::Taped {
        (self.0.taped(gradients), self.1)
    }
    fn record(&self, name: &str, gradients: &Gradients<E, Cpu>, run: &mut Run) {
        self.0.record(name, gradients, run);
        self.1.record(&format!("{name}, leaf 1"), gradients, run);
    }
}

impl<E: Real, A: Input<E>, B: Input<E>, C: Input<E>> Input<E> for (A, B, C)
where
    Cpu: Device<E>,
{
    type Taped = (A::Taped, B, C);
    fn taped(self, gradients: Gradients<E, Cpu>) -> Self::Taped {
        (self.0.taped(gradients), self.1, self.2)
    }
    fn record(&self, name: &str, gradients: &Gradients<E, Cpu>, run: &mut Run) {
        self.0.record(name, gradients, run);
        self.1.record(&format!("{name}, leaf 1"), gradients, run);
        self.2.record(&format!("{name}, leaf 2"), gradients, run);
    }
}

/// Two inputs that both come with a tape.
#[derive(Clone, Debug)]
pub struct BothTaped<A, B>(pub A, pub B);

impl<E: Real, A: Input<E>, B: Input<E>> Input<E> for BothTaped<A, B>
where
    Cpu: Device<E>,
{
    type Taped = (A::Taped, B::Taped);
    fn taped(self, gradients: Gradients<E, Cpu>) -> Self::Taped {
        (self.0.taped(gradients), self.1.taped(Gradients::leaky()))
    }
    fn record(&self, name: &str, gradients: &Gradients<E, Cpu>, run: &mut Run) {
        self.0.record(name, gradients, run);
        self.1.record(&format!("{name}, second"), gradients, run);
    }
}

/// What a model can give in training.
pub trait Output<E: Real>
where
    Cpu: Device<E>,
{
    /// Writes it down.
    fn record(&self, name: &str, run: &mut Run);
    /// A scalar on which all of it has an influence, unequal for all elements, and whose gradient is
    /// bounded: no step of any model may run away, on no processor.
    fn loss(self) -> Tensor<Rank0, E, Cpu, OwnedTape<E, Cpu>>;
}

impl<S: Shape, E: Real> Output<E> for Tensor<S, E, Cpu, OwnedTape<E, Cpu>>
where
    Cpu: Device<E>,
    S: ReduceShapeTo<(), S::AllAxes>,
{
    fn record(&self, name: &str, run: &mut Run) {
        run.record(name, self);
    }
    fn loss(self) -> Tensor<Rank0, E, Cpu, OwnedTape<E, Cpu>> {
        self.sin().mean()
    }
}

impl<E: Real, A: Output<E>, B: Output<E>> Output<E> for (A, B)
where
    Cpu: Device<E>,
{
    fn record(&self, name: &str, run: &mut Run) {
        self.0.record(name, run);
        self.1.record(&format!("{name}, second"), run);
    }
    fn loss(self) -> Tensor<Rank0, E, Cpu, OwnedTape<E, Cpu>> {
        self.0.loss() + self.1.loss().square()
    }
}

/// Uniform noise in `[from, to)`.
pub fn noise<S: Shape, E: Real>(dev: &Cpu, shape: S, from: f64, to: f64) -> Tensor<S, E, Cpu>
where
    Cpu: Device<E>,
{
    let (from, to) = (E::from_f64(from).expect("a float"), E::from_f64(to).expect("a float"));
    dev.sample_like(&shape, rand_distr::Uniform::new(from, to))
}

/// Moves every trained tensor against its gradient, as `Sgd` does.
///
/// (The trait bound of dfdx's own optimizers cannot be named for a generic dtype.)
pub fn descend<E: Real, M: TensorCollection<E, Cpu>>(model: &mut M, gradients: &Gradients<E, Cpu>, rate: f64)
where
    Cpu: Device<E>,
{
    let walked = M::iter_tensors(&mut RecursiveWalker { m: model, f: &mut Descent { gradients, rate } });
    walked.expect("in-place updates of the Cpu do not fail");
}

struct Descent<'a, E: Real>
where
    Cpu: Device<E>,
{
    gradients: &'a Gradients<E, Cpu>,
    rate: f64,
}

impl<E: Real> TensorVisitor<E, Cpu> for Descent<'_, E>
where
    Cpu: Device<E>,
{
    type Viewer = ViewTensorMut;
    type Err = CpuError;
    type E2 = E;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, Cpu>,
        tensor: &mut Tensor<S, E, Cpu>,
    ) -> Result<Option<Tensor<S, E, Cpu>>, CpuError> {
        if options.do_gradient_update {
            let gradient = self.gradients.get(&*tensor);
            tensor.try_axpy(1.0, &gradient, -self.rate)?;
        }
        Ok(None)
    }
}

/// Trains the model that `build` makes, called by `forward`, with every habit there is: a step that
/// keeps all gradients, two that accumulate, an update of the weights *between* forward and
/// backward, and a step after it.
///
/// # Panics
/// When a step fails.
pub fn run_with<E: Real, M: TensorCollection<E, Cpu>, X: Input<E>, Y: Output<E>>(
    seed: u64,
    build: impl FnOnce(&Cpu) -> M,
    input: impl Fn(&Cpu) -> X,
    mut forward: impl FnMut(&mut M, X::Taped) -> Result<Y, CpuError>,
) -> Run
where
    Cpu: Device<E>,
{
    let mut run = Run::default();
    let dev = Cpu::seed_from_u64(seed);
    let mut model = build(&dev);
    run.tensors("as built", &model);

    let mut step = |model: &mut M, run: &mut Run, when: &str, gradients, between: Option<&Gradients<E, Cpu>>| {
        let x = input(&dev);
        let y = forward(model, x.clone().taped(gradients)).unwrap_or_else(|e| failed(when, "forward", &e));
        y.record(&format!("{when}: output"), run);
        let loss = y.loss();
        run.record(format!("{when}: loss"), &loss);
        // Where nothing is a number any more, all bits are the same.
        assert!(loss.as_vec()[0].is_finite(), "{when}: the loss is {:?}", loss.as_vec());
        run.tensors(&format!("{when}, before backward"), model);
        if let Some(gradients) = between {
            descend(model, gradients, 0.05);
        }
        let gradients = loss.try_backward().unwrap_or_else(|e| failed(when, "backward", &e));
        run.gradients(when, model, &gradients);
        (x, gradients)
    };

    let (x, gradients) = step(&mut model, &mut run, "leaky", Gradients::leaky(), None);
    x.record("leaky: gradient of the input", &gradients, &mut run);
    let fresh = model.alloc_grads();
    let (_, gradients) = step(&mut model, &mut run, "first", fresh, None);
    let (_, gradients) = step(&mut model, &mut run, "accumulated", gradients, None);
    let fresh = model.alloc_grads();
    let (_, _) = step(&mut model, &mut run, "updated between", fresh, Some(&gradients));
    let (x, gradients) = step(&mut model, &mut run, "after the update", Gradients::leaky(), None);
    x.record("after the update: gradient of the input", &gradients, &mut run);

    run.tensors("at the end", &model);
    run.words("the random stream's next word", vec![dev.random_u64()]);
    run
}

fn failed(when: &str, what: &str, error: &CpuError) -> ! {
    match ckpt_runtime::last_failure() {
        Some(failure) => panic!("{when}: {what}: {error}: {failure}"),
        None => panic!("{when}: {what}: {error}"),
    }
}

/// A builder whose module trains on `X`.
pub trait Trains<E: Real, X: Input<E>>:
    BuildOnDevice<Cpu, E, Built: ModuleMut<X::Taped, Output: Output<E>, Error = CpuError>>
where
    Cpu: Device<E>,
{
    /// [`run_with`] of the built module, under a policy.
    fn run(seed: u64, policy: Option<Policy>, input: impl Fn(&Cpu) -> X) -> Run {
        run_with(
            seed,
            |dev| Self::build_on_device(dev),
            input,
            |model, x| match policy.clone() {
                Some(policy) => with_policy(policy, || model.try_forward_mut(x)),
                None => model.try_forward_mut(x),
            },
        )
    }
}

impl<E: Real, X: Input<E>, B> Trains<E, X> for B
where
    Cpu: Device<E>,
    B: BuildOnDevice<Cpu, E, Built: ModuleMut<X::Taped, Output: Output<E>, Error = CpuError>>,
{
}

/// Every policy that a model may be run under, by name.
#[must_use]
pub fn policies() -> Vec<(&'static str, Option<Policy>)> {
    vec![
        ("no policy", None),
        ("plain", Some(Policy::plain())),
        ("keep", Some(Policy::keep())),
        ("checkpoint", Some(Policy::checkpoint())),
        ("verify", Some(Policy::checkpoint().verify(0.0))),
        ("segments", Some(Policy::segments(1))),
        ("each", Some(Policy::each())),
    ]
}
