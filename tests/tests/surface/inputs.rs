//! What may go into a forward and come out: several tensors, masks, tokens, flags, tuples.

use ckpt_runtime::prelude::*;
use dfdx::nn::modules;
use dfdx::tensor::Merge;
use tests::compare::BothTaped;

use crate::same::{Rows, rows, trains_as};

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Two<E: Dtype, D: Device<E>> {
    a: modules::Linear<4, 3, E, D>,
    b: modules::Linear<5, 3, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Two<E, D> {
    fn forward<B: Dim>(
        &self,
        x: Tensor<(B, Const<4>), E, D>,
        y: Tensor<(B, Const<5>), E, D>,
    ) -> (Tensor<(B, Const<3>), E, D>, Tensor<(B, Const<3>), E, D>) {
        #[checkpoint]
        let (p, q) = {
            let p = self.a.forward(x);
            (p.tanh(), self.b.forward(y) + p)
        };
        (q, p)
    }
}

fn two(dev: &Cpu) -> Two<f32, Cpu> {
    dev.build_module::<TwoBuilder, f32>()
}

#[test]
fn two_tensors_in_two_out() {
    type T<const N: usize> = Tensor<(usize, Const<N>), f32, Cpu, OwnedTape<f32, Cpu>>;
    fn by_hand(m: &mut Two<f32, Cpu>, x: T<4>, y: Rows<5>) -> Result<(T<3>, T<3>), dfdx::tensor::CpuError> {
        let (p, tape) = m.a.try_forward_mut(x)?.split_tape();
        let (t, tape) = p.clone().put_tape(tape).try_tanh()?.split_tape();
        let b = m.b.try_forward_mut(y.put_tape(tape))?;
        Ok((b.try_add(p)?, t.put_tape(Default::default())))
    }
    trains_as(two, |dev| (rows::<4, f32>(dev), rows::<5, f32>(dev)), |m, (x, y)| by_hand(m, x, y));
    trains_as(
        two,
        |dev| BothTaped(rows::<4, f32>(dev), rows::<5, f32>(dev)),
        |m, (x, y)| {
            let (y, tape) = y.split_tape();
            let (x, first) = x.split_tape();
            by_hand(m, x.put_tape(first.merge(tape)), y)
        },
    );
}

/// From tokens alone: the tape comes in on the indices.
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Tokens<E: Dtype, D: Device<E>> {
    words: modules::Embedding<7, 4, E, D>,
    places: modules::Embedding<5, 4, E, D>,
    ff: modules::Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Tokens<E, D> {
    fn forward<B: Dim>(
        &self,
        words: Tensor<(B,), usize, D>,
        places: Tensor<(B,), usize, D>,
    ) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint]
        let x = self.words.forward(words) + self.places.forward(places);
        #[checkpoint]
        let y = self.ff.forward(x).tanh() + self.words.forward(words);
        y
    }
}

#[test]
fn tokens_alone() {
    trains_as(
        |dev| dev.build_module::<TokensBuilder, f32>(),
        |dev| (dev.tensor_from_vec(vec![1, 6, 1], (3,)), dev.tensor_from_vec(vec![0, 1, 4], (3,))),
        |m, (words, places): (Tensor<(usize,), usize, Cpu, OwnedTape<f32, Cpu>>, Tensor<(usize,), usize, Cpu>)| {
            let (words, tape) = words.split_tape();
            let (w, tape) = m.words.try_forward_mut(words.clone().put_tape(tape))?.split_tape();
            let (p, tape) = m.places.try_forward_mut(places.put_tape(tape))?.split_tape();
            let x = w.put_tape(tape).try_add(p)?;
            let (y, tape) = m.ff.try_forward_mut(x)?.try_tanh()?.split_tape();
            let (w, tape) = m.words.try_forward_mut(words.put_tape(tape))?.split_tape();
            y.put_tape(tape).try_add(w)
        },
    );
}
