//! A run of layers beside a shortcut, as one operation.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleMut, ModuleVisitor, TensorCollection},
    shapes::{Dtype, HasShape},
    tensor::{Gradients, NoneTape, OwnedTape, Tensor},
    tensor_ops::Device,
};

use super::{
    link::Through,
    operation::{Operation, extent_of, operate},
    run::Run,
    step::{Buffer, Moments, Phase, Steps},
};
use crate::{
    Real, ReplaySafe, Stateless,
    kernels::{Activation, Extent, ImageBuffers, JoinKernel},
    nn::{ActivationFn, Identity, Relu},
};

/// `A(f(x) + short(x))`, as one operation: the block of a residual network (He et al.,
/// arXiv 1512.03385), with [`Identity`] for a shortcut that is the input itself.
///
/// Keeps what the two runs keep (see [`Fused`](super::Fused)), and of the sum one bit an element where
/// `A` is [`Relu`].
///
/// # Shapes
/// As [`Fused`](super::Fused); `f` and `short` give the same channels.
///
/// # Panics
/// Where an input does not fit a layer, or the two give images of different sizes.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// type Block = nn::ResidualAct<(nn::Conv2d<8, 8, 3, 1, 1>, nn::BatchNorm2d<8>, nn::Relu, nn::Conv2d<8, 8, 3, 1, 1>)>;
/// let dev: Cpu = Default::default();
/// let mut block = dev.build_module::<Block, f32>();
/// let x: Tensor<Rank4<2, 8, 5, 5>, f32, _> = dev.sample_normal();
/// let y = block.forward_mut(x.leaky_trace());
/// assert_eq!(y.shape(), &(Const::<2>, Const::<8>, 5, 5));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ResidualAct<F, S = Identity, A = Relu> {
    /// The layers.
    pub f: F,
    /// The layers of the shortcut.
    pub short: S,
    /// The function of the sum.
    pub activation: A,
}

impl<F: ReplaySafe, S: ReplaySafe, A> ReplaySafe for ResidualAct<F, S, A> {}
impl<F: Stateless, S: Stateless, A> Stateless for ResidualAct<F, S, A> {}

impl<E: Dtype, D: Device<E>, F: BuildOnDevice<D, E>, S: BuildOnDevice<D, E>, A: ActivationFn> BuildOnDevice<D, E>
    for ResidualAct<F, S, A>
{
    type Built = ResidualAct<F::Built, S::Built, A>;
}

impl<E: Dtype, D: Device<E>, F: TensorCollection<E, D>, S: TensorCollection<E, D>, A: ActivationFn>
    TensorCollection<E, D> for ResidualAct<F, S, A>
{
    type To<E2: Dtype, D2: Device<E2>> = ResidualAct<F::To<E2, D2>, S::To<E2, D2>, A>;

    fn iter_tensors<V: ModuleVisitor<Self, E, D>>(visitor: &mut V) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
        visitor.visit_fields(
            (Self::module("f", |s| &s.f, |s| &mut s.f), Self::module("short", |s| &s.short, |s| &mut s.short)),
            |(f, short)| ResidualAct { f, short, activation: A::default() },
        )
    }
}

/// The two runs.
struct Residual<E: Real, D: JoinKernel<E>> {
    body: Run<E, D>,
    /// No operation where the shortcut is the input itself.
    short: Run<E, D>,
    function: Activation,
    kept: Option<D::Kept>,
}

impl<E: Real, D: JoinKernel<E>> Residual<E, D> {
    fn new<S: Through<F, E, D> + Through<R, E, D>, F, R, A: ActivationFn>(
        f: &F,
        short: &R,
        phase: Phase,
        input: Extent,
    ) -> Self {
        let (mut body, mut beside) = (Steps::new(), Steps::new());
        <S as Through<F, E, D>>::steps(f, phase, &mut body);
        <S as Through<R, E, D>>::steps(short, phase, &mut beside);
        let (body, short) = (Run::new(body, input), Run::new(beside, input));
        assert!(
            body.output() == short.output(),
            "ResidualAct cannot add {:?} of its layers to {:?} of its shortcut",
            body.output(),
            short.output(),
        );
        Self { body, short, function: A::FUNCTION, kept: None }
    }
}

impl<E: Real, D: JoinKernel<E>> Operation<E, D> for Residual<E, D> {
    fn output(&self) -> Extent {
        self.body.output()
    }

    fn needs_input(&self) -> bool {
        self.body.needs_input() || self.short.needs_input()
    }

    fn forward(&mut self, device: &D, x: &Buffer<E, D>, keep: bool) -> Result<Buffer<E, D>, D::Err> {
        let mut y = self.body.forward(device, x, keep)?;
        self.kept = if self.short.is_empty() {
            device.join(self.function, &mut y, x, keep)?
        } else {
            let beside = self.short.forward(device, x, keep)?;
            device.join(self.function, &mut y, &beside, keep)?
        };
        Ok(y)
    }

    fn backward(
        &mut self,
        device: &D,
        x: Option<&Buffer<E, D>>,
        mut dy: Buffer<E, D>,
        sum: Option<Buffer<E, D>>,
        grads: &mut Gradients<E, D>,
    ) -> Result<Buffer<E, D>, D::Err> {
        if let Some(kept) = self.kept.take() {
            device.times_kept_slopes(self.function, kept, &mut dy);
        }
        // The shortcut first: it takes the gradient as it is, and the layers may write theirs over it.
        let beside = match sum {
            Some(mut dx) if self.short.is_empty() => {
                device.add_to(&mut dx, &dy);
                dx
            }
            sum => self.short.backward(device, x, device.copied(&dy)?, sum, grads)?,
        };
        self.body.backward(device, x, dy, Some(beside), grads)
    }

    fn moments(&mut self) -> Vec<Moments> {
        let mut moments = self.body.moments();
        moments.extend(self.short.moments());
        moments
    }
}

impl<S, E: Real, D, F, R, A> Module<Tensor<S, E, D, NoneTape>> for ResidualAct<F, R, A>
where
    D: JoinKernel<E> + ImageBuffers<E>,
    S: Through<F, E, D> + Through<R, E, D, Out = <S as Through<F, E, D>>::Out>,
    A: ActivationFn,
{
    type Output = Tensor<S::With<<S as Through<F, E, D>>::Out>, E, D>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<S, E, D, NoneTape>) -> Result<Self::Output, D::Err> {
        let extent = extent_of("ResidualAct", x.shape());
        let operation = Residual::new::<S, F, R, A>(&self.f, &self.short, Phase::Inference, extent);
        Ok(operate("ResidualAct", operation, x)?.0)
    }
}

impl<S, E: Real, D, F, R, A> Module<Tensor<S, E, D, OwnedTape<E, D>>> for ResidualAct<F, R, A>
where
    D: JoinKernel<E> + ImageBuffers<E>,
    S: Through<F, E, D> + Through<R, E, D, Out = <S as Through<F, E, D>>::Out>,
    F: Stateless,
    R: Stateless,
    A: ActivationFn,
{
    type Output = Tensor<S::With<<S as Through<F, E, D>>::Out>, E, D, OwnedTape<E, D>>;
    type Error = D::Err;

    fn try_forward(&self, x: Tensor<S, E, D, OwnedTape<E, D>>) -> Result<Self::Output, D::Err> {
        let extent = extent_of("ResidualAct", x.shape());
        let operation = Residual::new::<S, F, R, A>(&self.f, &self.short, Phase::Training, extent);
        Ok(operate("ResidualAct", operation, x)?.0)
    }
}

impl<S, E: Real, D, F, R, A> ModuleMut<Tensor<S, E, D, OwnedTape<E, D>>> for ResidualAct<F, R, A>
where
    D: JoinKernel<E> + ImageBuffers<E>,
    S: Through<F, E, D> + Through<R, E, D, Out = <S as Through<F, E, D>>::Out>,
    A: ActivationFn,
{
    type Output = Tensor<S::With<<S as Through<F, E, D>>::Out>, E, D, OwnedTape<E, D>>;
    type Error = D::Err;

    fn try_forward_mut(&mut self, x: Tensor<S, E, D, OwnedTape<E, D>>) -> Result<Self::Output, D::Err> {
        let extent = extent_of("ResidualAct", x.shape());
        let operation = Residual::new::<S, F, R, A>(&self.f, &self.short, Phase::Training, extent);
        let (y, moments) = operate("ResidualAct", operation, x)?;
        let mut moments = moments.into_iter();
        <S as Through<F, E, D>>::learn(&mut self.f, &mut moments)?;
        <S as Through<R, E, D>>::learn(&mut self.short, &mut moments)?;
        Ok(y)
    }
}
