//! A call that would lose its modules' gradients is refused, not silent.
use ckpt_runtime::{Cause, prelude::*};

#[checkpoint]
fn embed<S: Dim, const V: usize, const M: usize, E: Dtype, D: Device<E>>(
    table: &modules::Embedding<V, M, E, D>,
    tokens: Tensor<(S,), usize, D>,
) -> Tensor<(S, Const<M>), E, D> {
    table.forward(tokens)
}

/// Embeds its tokens by a function, which sees no tape on them.
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct ByFunction<E: Dtype, D: Device<E>> {
    table: modules::Embedding<5, 3, E, D>,
    head: modules::Linear<3, 2, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> ByFunction<E, D> {
    fn forward<S: Dim>(&self, tokens: Tensor<(S,), usize, D>) -> Tensor<(S, Const<2>), E, D> {
        let lost = embed(&self.table, tokens);
        #[checkpoint]
        let y = self.head.forward(self.table.forward(tokens));
        let _ = lost;
        y
    }
}

#[test]
fn an_untaped_call_in_a_training_forward_is_refused() {
    let dev = Cpu::seed_from_u64(0);
    let mut model = dev.build_module::<ByFunctionBuilder, f32>();
    let tokens: Tensor<(usize,), usize, _> = dev.tensor_from_vec(vec![0, 3], (2,));
    assert_eq!(model.forward(tokens.clone()).shape().0, 2, "inference is inference");
    let message = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = model.try_forward_mut(tokens.trace(model.alloc_grads()));
    }));
    assert!(message.is_err(), "`embed` is the infallible form");
    let failure = last_failure().expect("the panic's cause");
    assert_eq!((failure.region.as_str(), &failure.cause), ("embed", &Cause::Untracked));
    // Nothing stays behind: the same function outside of a training forward is inference.
    let table = dev.build_module::<Embedding<5, 3>, f32>();
    assert!(try_embed(&table, tokens.clone()).is_ok());
    assert!(try_embed(&table, tokens.trace(table.alloc_grads())).is_ok());
}
