//! A model's gradients by tensor name, for comparisons that say which tensor differs.

use std::collections::BTreeMap;
use std::convert::Infallible;

use dfdx::prelude::*;

struct Collector<'a, E: Dtype, D: Device<E>> {
    gradients: &'a Gradients<E, D>,
    by_name: BTreeMap<String, Vec<E>>,
}

impl<E: Dtype, D: Device<E>> TensorVisitor<E, D> for Collector<'_, E, D> {
    type Viewer = (ViewTensorRef, ViewTensorName);
    type Err = Infallible;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        (tensor, name): (&Tensor<S, E, D>, String),
    ) -> Result<Option<Tensor<S, E, D>>, Infallible> {
        if options.do_gradient_update {
            self.by_name.insert(name, self.gradients.get(tensor).as_vec());
        }
        Ok(None)
    }
}

/// Every trained tensor's gradient, row-major, by its name in saved files.
///
/// # Panics
/// When a trained tensor has no gradient.
pub fn by_name<E: Dtype, D: Device<E>, M: TensorCollection<E, D>>(
    model: &M,
    gradients: &Gradients<E, D>,
) -> BTreeMap<String, Vec<E>> {
    let mut collector = Collector { gradients, by_name: BTreeMap::new() };
    let walked = M::iter_tensors(&mut RecursiveWalker { m: (model, String::new()), f: &mut collector });
    match walked {
        Ok(_) => collector.by_name,
        Err(never) => match never {},
    }
}
