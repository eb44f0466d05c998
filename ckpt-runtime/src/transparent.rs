//! Wrappers that add nothing to tensor names: what is saved from `(A, B)` loads into
//! `(A, Checkpoint<B>)`.

use std::marker::PhantomData;

/// Presents what the wrapper `W` wraps to a visitor of `W`, so that names gain nothing.
pub struct Through<'a, V, W>(pub(crate) &'a mut V, pub(crate) PhantomData<W>);

/// Implements building, saving and moving for a wrapper `struct Wrapper<M>(pub M)`.
macro_rules! transparent {
    ($Wrapper:ident) => {
        impl<M: dfdx::nn::TensorCollection<E, D>, E: dfdx::shapes::Dtype, D: dfdx::tensor_ops::Device<E>>
            dfdx::nn::TensorCollection<E, D> for $Wrapper<M>
        {
            type To<E2: dfdx::shapes::Dtype, D2: dfdx::tensor_ops::Device<E2>> = $Wrapper<M::To<E2, D2>>;
            fn iter_tensors<V: dfdx::nn::ModuleVisitor<Self, E, D>>(
                visitor: &mut V,
            ) -> Result<Option<Self::To<V::E2, V::D2>>, V::Err> {
                Ok(M::iter_tensors(&mut $crate::transparent::Through(visitor, std::marker::PhantomData::<Self>))?
                    .map($Wrapper))
            }
        }
        impl<D: dfdx::tensor_ops::Device<E>, E: dfdx::shapes::Dtype, M: dfdx::nn::BuildOnDevice<D, E>>
            dfdx::nn::BuildOnDevice<D, E> for $Wrapper<M>
        {
            type Built = $Wrapper<M::Built>;
        }
        impl<M, E: dfdx::shapes::Dtype, D: dfdx::tensor_ops::Device<E>, V> dfdx::nn::ModuleVisitor<M, E, D>
            for $crate::transparent::Through<'_, V, $Wrapper<M>>
        where
            M: dfdx::nn::TensorCollection<E, D>,
            V: dfdx::nn::ModuleVisitor<$Wrapper<M>, E, D>,
        {
            type Err = V::Err;
            type E2 = V::E2;
            type D2 = V::D2;

            fn visit_module<Field, R, Mu>(
                &mut self,
                name: &str,
                mut get_ref: R,
                mut get_mut: Mu,
            ) -> Result<Option<Field::To<V::E2, V::D2>>, V::Err>
            where
                R: FnMut(&M) -> &Field,
                Mu: FnMut(&mut M) -> &mut Field,
                Field: dfdx::nn::TensorCollection<E, D>,
            {
                self.0.visit_module(name, |w: &$Wrapper<M>| get_ref(&w.0), |w: &mut $Wrapper<M>| get_mut(&mut w.0))
            }

            fn visit_tensor<S: dfdx::shapes::Shape, R, Mu>(
                &mut self,
                name: &str,
                mut get_ref: R,
                mut get_mut: Mu,
                options: dfdx::nn::TensorOptions<S, E, D>,
            ) -> Result<Option<dfdx::tensor::Tensor<S, V::E2, V::D2>>, V::Err>
            where
                R: FnMut(&M) -> &dfdx::tensor::Tensor<S, E, D>,
                Mu: FnMut(&mut M) -> &mut dfdx::tensor::Tensor<S, E, D>,
            {
                self.0.visit_tensor(
                    name,
                    |w: &$Wrapper<M>| get_ref(&w.0),
                    |w: &mut $Wrapper<M>| get_mut(&mut w.0),
                    options,
                )
            }

            fn visit_scalar<N: num_traits::NumCast, R, Mu>(
                &mut self,
                name: &str,
                mut get_ref: R,
                mut get_mut: Mu,
                options: dfdx::nn::ScalarOptions<N>,
            ) -> Result<Option<N>, V::Err>
            where
                R: FnMut(&M) -> &N,
                Mu: FnMut(&mut M) -> &mut N,
            {
                self.0.visit_scalar(
                    name,
                    |w: &$Wrapper<M>| get_ref(&w.0),
                    |w: &mut $Wrapper<M>| get_mut(&mut w.0),
                    options,
                )
            }

            fn visit_fields<F: dfdx::nn::ModuleFields<M, E, D>>(
                &mut self,
                fields: F,
                build: impl FnOnce(F::Output<V::E2, V::D2>) -> M::To<V::E2, V::D2>,
            ) -> Result<Option<M::To<V::E2, V::D2>>, V::Err> {
                let options = fields.visit_fields(self)?;
                Ok(F::handle_options(options).map(build))
            }
        }
    };
}
