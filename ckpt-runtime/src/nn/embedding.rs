//! Embeddings: rows of a table by their indices.

use dfdx::{
    nn::{BuildOnDevice, Module, ModuleVisitor, NonMutableModule, TensorCollection, TensorOptions},
    shapes::{Const, Dim, Dtype, HasShape, Rank2, Shape},
    tensor::{Cpu, PutTape, SplitTape, Storage, Tape, Tensor},
    tensor_ops::{Device, GatherTo, ReshapeTo},
};
use rand_distr::{Distribution, StandardNormal};

use crate::{GradientHandle, Real, ReplaySafe, Stateless, kernels::EmbeddingKernel};

/// The row of a table for each index: `torch.nn.Embedding`, with its initial values (standard
/// normal).
///
/// Keeps the indices alone.
///
/// # Shapes
/// Indices `[..]` of one to three dimensions to `[.., M]`; `weight` is `[V, M]`.
///
/// # Panics
/// On an index that is not below `V`, and where there is none.
///
/// ```
/// use ckpt_runtime::{nn, prelude::*};
/// let dev: Cpu = Default::default();
/// let layer = dev.build_module::<nn::Embedding<7, 2>, f32>();
/// let tokens: Tensor<(usize, Const<3>), usize, _> = dev.zeros_like(&(5, Const));
/// let y: Tensor<(usize, Const<3>, Const<2>), f32, _> = layer.forward(tokens);
/// # let _ = y;
/// ```
#[derive(Clone, Debug)]
pub struct Embedding<const V: usize, const M: usize, E: Dtype = f32, D: Storage<E> = Cpu> {
    /// A row an index.
    pub weight: Tensor<Rank2<V, M>, E, D>,
}

impl<const V: usize, const M: usize, E: Dtype, D: Storage<E>> ReplaySafe for Embedding<V, M, E, D> {}
impl<const V: usize, const M: usize, E: Dtype, D: Storage<E>> Stateless for Embedding<V, M, E, D> {}
impl<const V: usize, const M: usize, E: Dtype, D: Storage<E>> NonMutableModule for Embedding<V, M, E, D> {}

impl<const V: usize, const M: usize, E: Real, D: Device<E>> BuildOnDevice<D, E> for Embedding<V, M> {
    type Built = Embedding<V, M, E, D>;
}

impl<const V: usize, const M: usize, E: Real, D: Device<E>> TensorCollection<E, D> for Embedding<V, M, E, D> {
    type To<E2: Dtype, D2: Device<E2>> = Embedding<V, M, E2, D2>;

    fn iter_tensors<W: ModuleVisitor<Self, E, D>>(visitor: &mut W) -> Result<Option<Self::To<W::E2, W::D2>>, W::Err> {
        visitor.visit_fields(
            Self::tensor("weight", |s| &s.weight, |s| &mut s.weight, TensorOptions::reset_with(fill_normal)),
            |weight| Embedding { weight },
        )
    }
}

/// Fills with values of the standard normal distribution.
fn fill_normal<S: Shape, E: Real, D: Device<E>>(t: &mut Tensor<S, E, D>) -> Result<(), D::Err> {
    let normal = Distribution::<f64>::map(StandardNormal, |v| E::from_f64(v).expect("a finite number"));
    t.try_fill_with_distr(normal)
}

/// A shape of one to three dimensions, to which an embedding adds one.
pub trait Indices: Shape {
    /// The shape with `M` features behind.
    type Of<const M: usize>: Shape;
    /// The shape with `M` features behind.
    fn of<const M: usize>(&self) -> Self::Of<M>;
}

macro_rules! indices {
    ($($($Dim:ident $i:tt),*;)*) => { $(
        impl<$($Dim: Dim),*> Indices for ($($Dim,)*) {
            type Of<const M: usize> = ($($Dim,)* Const<M>,);
            fn of<const M: usize>(&self) -> Self::Of<M> {
                ($(self.$i,)* Const,)
            }
        }
    )* };
}
indices! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
}

impl<const V: usize, const M: usize, S: Indices, E: Real, D: Device<E>, T: Tape<E, D>> Module<Tensor<S, usize, D, T>>
    for Embedding<V, M, E, D>
{
    type Output = Tensor<S::Of<M>, E, D, T>;
    type Error = D::Err;

    fn try_forward(&self, indices: Tensor<S, usize, D, T>) -> Result<Self::Output, D::Err> {
        let (indices, mut tape) = indices.split_tape();
        let (count, to) = (indices.shape().num_elements(), indices.shape().of::<M>());
        let dims: Vec<usize> = indices.shape().concrete().into_iter().collect();
        assert!(count > 0 && V > 0 && M > 0, "Embedding cannot run on nothing: its input is {dims:?}");
        // dfdx cannot reshape indices of an unnamed device.
        let indices = self.weight.device().try_tensor_from_vec(indices.as_vec(), (count,))?;
        let table = self.weight.clone().try_reshape_like(&(V, M))?;
        let Some(kernel) = <dyn EmbeddingKernel<E, D>>::find() else {
            return table.put_tape(tape).try_gather::<(usize, usize), _>(indices)?.try_reshape_like(&to);
        };
        let y = kernel.forward(&table, &indices)?;
        if T::OWNS_TAPE {
            let gradient = GradientHandle::of(&y);
            tape.add_backward_op(move |grads| {
                let dy = gradient.take(grads)?;
                kernel.backward(&indices, &dy, grads.get_or_alloc_mut(&table)?)
            });
        }
        Ok(y.try_reshape_like(&to)?.put_tape(tape))
    }
}

#[cfg(test)]
mod tests {
    use dfdx::prelude::*;

    use crate::nn::{self, checks::*};

    #[test]
    fn agrees_with_dfdx_for_small_and_large_tables() {
        let dev = Cpu::seed_from_u64(1);
        let layer = dev.build_module::<nn::Embedding<9, 4>, f64>();
        for tokens in [vec![3, 8, 3, 0, 3, 1], vec![2, 2]] {
            let tokens = dev.tensor_from_vec(tokens.clone(), (tokens.len(),));
            let ours = layer.forward(tokens.clone().put_tape(OwnedTape::<f64, Cpu>::default()));
            let theirs = layer.weight.leaky_trace().gather::<(usize, Const<4>), _>(tokens);
            assert_eq!(ours.as_vec(), theirs.as_vec());
            let (ours, theirs) = (ours.square().sum().backward(), theirs.square().sum().backward());
            near(&ours.get(&layer.weight).as_vec(), &theirs.get(&layer.weight).as_vec(), 1e-15);
        }
    }

    #[test]
    fn shapes_and_errors() {
        let dev = Cpu::default();
        let layer = dev.build_module::<nn::Embedding<9, 4>, f32>();
        let _: Tensor<Rank4<2, 3, 1, 4>, f32, _> = layer.forward(dev.zeros::<Rank3<2, 3, 1>>());
        let _: Tensor<(usize, usize, Const<4>), f32, _> = layer.forward(dev.zeros_like(&(2, 3)));
        assert_eq!(panic_of(|| layer.forward(dev.tensor([1, 9]))), "Embedding: index 9 with 9 entries");
        let message = panic_of(|| layer.forward(dev.zeros_like(&(0, Const::<2>))));
        assert_eq!(message, "Embedding cannot run on nothing: its input is [0, 2]");
    }

    #[test]
    fn starts_standard_normal() {
        let dev = Cpu::seed_from_u64(2);
        let w = dev.build_module::<nn::Embedding<100, 40>, f32>().weight.as_vec();
        let (n, sum) = (w.len() as f32, w.iter().sum::<f32>());
        let square = w.iter().map(|v| v * v).sum::<f32>() / n;
        assert!((sum / n).abs() < 0.05 && (square - 1.0).abs() < 0.1, "{} {square}", sum / n);
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let dev = Cpu::seed_from_u64(3);
        let layer = dev.build_module::<nn::Embedding<50, 24>, f32>();
        let tokens = dev.tensor_from_vec((0..700).map(|i| (i * 31) % 47).collect(), (700,));
        same_bits_for_any_threads(|| {
            let y = layer.forward(tokens.clone().put_tape(OwnedTape::<f32, Cpu>::default()));
            vec![y.as_vec(), y.powf(3.0).mean().backward().get(&layer.weight).as_vec()]
        });
    }
}
