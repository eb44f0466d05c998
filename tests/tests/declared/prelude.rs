//! What the declarations are written with: one input type, one erased form of a model, so that
//! little is compiled more than once.

use std::convert::Infallible;

pub use ckpt_runtime::prelude::*;
pub use dfdx::nn::{builders, modules::Repeated};
use dfdx::tensor::CpuError;

/// Some rows of four.
pub type Rows = Tensor<(usize, Const<4>), f32, Cpu>;
/// [`Rows`] in training.
pub type Traced = Tensor<(usize, Const<4>), f32, Cpu, OwnedTape<f32, Cpu>>;
/// What a forward gives.
pub type Forward = Result<Traced, CpuError>;
/// What a builder builds here.
pub type Built<B> = <B as BuildOnDevice<Cpu, f32>>::Built;

/// A declaration.
pub struct Case {
    pub name: &'static str,
    /// Whether training and inference are the same function of the weights.
    pub stateless: bool,
    pub build: fn(&Cpu) -> Box<dyn Model>,
}

/// A declared model beside its plain form.
pub trait Model {
    fn forward(&mut self, x: Traced) -> Forward;
    fn plain(&mut self, x: Traced) -> Forward;
    fn infer(&self, x: Rows) -> Result<Rows, CpuError>;
    fn visit(&mut self, visitor: &mut Visitor<'_>);
    fn fresh_gradients(&self) -> Gradients<f32, Cpu>;
}

struct Of<M>(M, fn(&mut M, Traced) -> Forward);

/// Builds a declaration.
pub fn of<B: BuildOnDevice<Cpu, f32>>(dev: &Cpu, plain: fn(&mut B::Built, Traced) -> Forward) -> Box<dyn Model>
where
    B::Built: ModuleMut<Traced, Output = Traced, Error = CpuError>
        + Module<Rows, Output = Rows, Error = CpuError>
        + TensorCollection<f32, Cpu>
        + 'static,
{
    Box::new(Of(B::build_on_device(dev), plain))
}

impl<M> Model for Of<M>
where
    M: ModuleMut<Traced, Output = Traced, Error = CpuError>
        + Module<Rows, Output = Rows, Error = CpuError>
        + TensorCollection<f32, Cpu>,
{
    fn forward(&mut self, x: Traced) -> Forward {
        self.0.try_forward_mut(x)
    }
    fn plain(&mut self, x: Traced) -> Forward {
        self.1(&mut self.0, x)
    }
    fn infer(&self, x: Rows) -> Result<Rows, CpuError> {
        self.0.try_forward(x)
    }
    fn visit(&mut self, visitor: &mut Visitor<'_>) {
        let walked = M::iter_tensors(&mut RecursiveWalker { m: (&mut self.0, String::new()), f: visitor });
        if let Err(never) = walked {
            match never {}
        }
    }
    fn fresh_gradients(&self) -> Gradients<f32, Cpu> {
        self.0.alloc_grads()
    }
}

/// Reads and changes tensors of any shape: `visit(name, whether it learns, values, gradient)`.
pub struct Visitor<'a> {
    pub gradients: Option<&'a mut Gradients<f32, Cpu>>,
    pub visit: &'a mut dyn FnMut(&str, bool, &mut Vec<f32>, Option<Vec<f32>>),
}

impl TensorVisitor<f32, Cpu> for Visitor<'_> {
    type Viewer = (ViewTensorMut, ViewTensorName);
    type Err = Infallible;
    type E2 = f32;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, f32, Cpu>,
        (tensor, name): (&mut Tensor<S, f32, Cpu>, String),
    ) -> Result<Option<Tensor<S, f32, Cpu>>, Infallible> {
        let before = tensor.as_vec();
        let mut values = before.clone();
        let learns = options.do_gradient_update;
        let gradient = self.gradients.as_mut().filter(|_| learns).map(|g| {
            // Nothing may have reached it.
            g.try_alloc_for(&*tensor).expect("memory");
            g.get(&*tensor).as_vec()
        });
        (self.visit)(&name, learns, &mut values, gradient);
        if values != before {
            tensor.copy_from(&values);
        }
        Ok(None)
    }
}

/// Runs repeated declarations by their plain form.
pub fn many<M, const N: usize>(
    blocks: &mut Repeated<M, N>,
    mut x: Traced,
    plain: fn(&mut M, Traced) -> Forward,
) -> Forward {
    for block in &mut blocks.modules {
        x = plain(block, x)?;
    }
    Ok(x)
}

/// A parameter's first values.
pub fn small<S: ConstShape, E: Real, D: Device<E>>(t: &mut Tensor<S, E, D>) -> Result<(), D::Err> {
    t.try_fill_with_distr(rand_distr::Uniform::new(E::from_f64(0.1).unwrap(), E::from_f64(0.5).unwrap()))
}
