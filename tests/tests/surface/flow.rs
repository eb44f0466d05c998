//! A forward written as ordinary Rust on a `#[checkpointed] impl`.
//!
//! The plain side threads one `OwnedTape` through dfdx's operations by hand: it is what the macro
//! takes off its user.

use ckpt_runtime::prelude::*;
use dfdx::{nn::modules, tensor::CpuError};
use tests::compare::{bits, noise};

use crate::same::{Forward, Rows, Traced, one_function, rows, trains_as, trains_by_reference};

// ---------------------------------------------------------------- the README's block

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
pub struct Block<const M: usize, const F: usize, E: Dtype, D: Device<E>> {
    norm1: modules::LayerNorm1D<M, E, D>,
    mix: modules::Linear<M, M, E, D>,
    norm2: modules::LayerNorm1D<M, E, D>,
    ff: (modules::Linear<M, F, E, D>, ReLU, modules::Linear<F, M, E, D>),
}

#[checkpointed]
impl<const M: usize, const F: usize, E: Dtype, D: Device<E>> Block<M, F, E, D> {
    fn forward<B: Dim, S: Dim>(&self, x: Tensor<(B, S, Const<M>), E, D>) -> Tensor<(B, S, Const<M>), E, D> {
        #[checkpoint]
        let h = x + self.mix.forward(self.norm1.forward(x));
        #[checkpoint]
        let y = h + self.ff.forward(self.norm2.forward(h));
        y
    }
}

type Sentences<E, T = NoneTape> = Tensor<(usize, usize, Const<4>), E, Cpu, T>;

fn sentences<E: Real>(dev: &Cpu) -> Sentences<E>
where
    Cpu: Device<E>,
{
    noise(dev, (2, 3, Const), -1.0, 1.0)
}

macro_rules! block_by_hand {
    ($E:ty) => {
        |m: &mut Block<4, 8, $E, Cpu>, x: Sentences<$E, OwnedTape<$E, Cpu>>| {
            let (x, tape) = x.split_tape();
            let a = m.mix.try_forward_mut(m.norm1.try_forward_mut(x.clone().put_tape(tape))?)?;
            let (a, tape) = a.split_tape();
            let (h, tape) = x.put_tape(tape).try_add(a)?.split_tape();
            let (b, tape) = m.ff.try_forward_mut(m.norm2.try_forward_mut(h.clone().put_tape(tape))?)?.split_tape();
            h.put_tape(tape).try_add(b)
        }
    };
}

#[test]
fn residuals_written_bare() {
    trains_as(|dev| dev.build_module::<BlockBuilder<4, 8>, f32>(), sentences::<f32>, block_by_hand!(f32));
    trains_as(|dev| dev.build_module::<BlockBuilder<4, 8>, f64>(), sentences::<f64>, block_by_hand!(f64));
    one_function(|dev| dev.build_module::<BlockBuilder<4, 8>, f32>(), sentences::<f32>, |y| bits(&y), |y| bits(&y));
    trains_by_reference(|dev| dev.build_module::<BlockBuilder<4, 8>, f32>(), sentences::<f32>);
}

// ---------------------------------------------------------------- every kind of field

fn small<S: ConstShape, E: Real, D: Device<E>>(t: &mut Tensor<S, E, D>) -> Result<(), D::Err> {
    t.try_fill_with_distr(rand_distr::Uniform::new(E::from_f64(0.1).unwrap(), E::from_f64(0.5).unwrap()))
}

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Kinds<const W: usize, E: Dtype, D: Device<E>> {
    #[param(init = ones)]
    scale: Tensor<Rank1<W>, E, D>,
    #[param(init = zeros)]
    shift: Tensor<(Const<W>,), E, D>,
    #[param(init = small)]
    gate: Tensor<Rank1<W>, E, D>,
    #[buffer]
    zero: Tensor<Rank1<W>, E, D>,
    #[buffer(init = |t| t.try_fill_with_ones())]
    one: Tensor<Rank1<W>, E, D>,
    #[scalar(default = 0.5)]
    half: f64,
    #[skip]
    twice: bool,
    #[policy]
    policy: Policy,
    r#fn: modules::Linear<W, W, E, D>,
    norm: modules::BatchNorm1D<W, E, D>,
    drop: nn::Dropout,
}

#[checkpointed]
impl<const W: usize, E: Dtype, D: Device<E>> Kinds<W, E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<W>), E, D>) -> Tensor<(B, Const<W>), E, D> {
        let shape = *x.shape();
        let half = E::from_f64(self.half).unwrap();
        #[checkpoint(verify)]
        let x = {
            let x = x * self.scale.clone().broadcast_like(&shape);
            let x = x + self.shift.clone().broadcast_like(&shape);
            self.norm.forward(x) * half
        };
        #[checkpoint]
        let y = self.drop.forward(self.r#fn.forward(x)) * self.gate.clone().broadcast_like(&shape);
        let y = if self.twice { self.r#fn.forward(y) } else { y };
        y + self.zero.clone().broadcast_like(&shape) - self.one.clone().broadcast_like(&shape)
    }
}

#[test]
fn parameters_buffers_scalars_and_skipped_fields() {
    for twice in [false, true] {
        trains_as(
            |dev| {
                let mut model = dev.build_module::<KindsBuilder<4>, f32>();
                assert_eq!(model.scale.array(), [1.0; 4]);
                assert_eq!(model.shift.array(), [0.0; 4]);
                assert!(model.gate.array().iter().all(|g| (0.1..0.5).contains(g)));
                assert_eq!((model.zero.array(), model.one.array()), ([0.0; 4], [1.0; 4]));
                assert_eq!((model.half, model.twice), (0.5, false));
                assert_eq!(model.num_trainable_params(), 3 * 4 + 20 + 8);
                model.twice = twice;
                model
            },
            rows::<4, f32>,
            |m, x| {
                let shape = *x.shape();
                let x = x.try_mul(m.scale.clone().broadcast_like(&shape))?;
                let x = x.try_add(m.shift.clone().broadcast_like(&shape))?;
                let x = m.norm.try_forward_mut(x)?.try_mul(0.5)?;
                let y = m.drop.try_forward_mut(m.r#fn.try_forward_mut(x)?)?;
                let mut y = y.try_mul(m.gate.clone().broadcast_like(&shape))?;
                if m.twice {
                    y = m.r#fn.try_forward_mut(y)?;
                }
                y.try_add(m.zero.clone().broadcast_like(&shape))?.try_sub(m.one.clone().broadcast_like(&shape))
            },
        );
    }
}

// ---------------------------------------------------------------- loops

type Layer<E, D> = (modules::Linear<4, 4, E, D>, Tanh);

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Loops<E: Dtype, D: Device<E>> {
    #[skip]
    rounds: usize,
    each: Repeated<Layer<E, D>, 3>,
    cut: Repeated<Layer<E, D>, 5>,
    bare: Repeated<Layer<E, D>, 2>,
    shared: modules::Linear<4, 4, E, D>,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Loops<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let mut h = x;
        #[checkpoint(each)]
        for block in &self.each {
            h = block.forward(h) + x;
        }
        #[checkpoint(segments = 2)]
        for block in &self.cut {
            h = h + block.forward(h);
        }
        for block in &self.bare {
            h = block.forward(h);
        }
        for _ in 0..self.rounds {
            #[checkpoint]
            let next = self.shared.forward(h).tanh();
            h = next;
        }
        h
    }
}

#[test]
fn loops_over_blocks_and_over_numbers() {
    trains_as(
        |dev| {
            let mut model = dev.build_module::<LoopsBuilder, f32>();
            model.rounds = 3;
            model
        },
        rows::<4, f32>,
        |m, x| {
            let (x, mut tape) = x.split_tape();
            let mut h = x.clone();
            for block in &mut m.each.modules {
                let y = block.try_forward_mut(h.put_tape(tape))?;
                (h, tape) = y.try_add(x.clone())?.split_tape();
            }
            for block in &mut m.cut.modules {
                let (y, t) = block.try_forward_mut(h.clone().put_tape(tape))?.split_tape();
                (h, tape) = h.put_tape(t).try_add(y)?.split_tape();
            }
            let mut h = m.bare.try_forward_mut(h.put_tape(tape))?;
            for _ in 0..m.rounds {
                h = m.shared.try_forward_mut(h)?.try_tanh()?;
            }
            Ok(h)
        },
    );
}

// ---------------------------------------------------------------- branches, blocks, several outputs, nesting

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Shapes<E: Dtype, D: Device<E>> {
    a: modules::Linear<4, 4, E, D>,
    b: modules::Linear<4, 4, E, D>,
    c: modules::Linear<4, 4, E, D>,
    #[skip]
    flag: bool,
}

#[checkpointed]
impl<E: Dtype, D: Device<E>> Shapes<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        #[checkpoint(name = "pair")]
        let (left, right) = {
            let both = self.a.forward(x).tanh();
            (both * x, self.b.forward(both))
        };
        let mut y = left;
        #[checkpoint]
        {
            let _unused = self.c.forward(right);
            y = y + self.c.forward(right).sin();
        }
        #[checkpoint]
        let z = match self.flag {
            true => {
                #[checkpoint(name = "inner")]
                let inner = self.a.forward(y).square();
                inner + right
            }
            false => y - right,
        };
        #[checkpoint(keep)]
        let z = self.b.forward(z).tanh();
        #[checkpoint(plain)]
        let z = z + x;
        z
    }
}

fn shapes_by_hand(m: &mut Shapes<f32, Cpu>, x: Traced<4>) -> Forward<Traced<4>> {
    let (x, tape) = x.split_tape();
    let (both, tape) = m.a.try_forward_mut(x.clone().put_tape(tape))?.try_tanh()?.split_tape();
    let (left, tape) = both.clone().put_tape(tape).try_mul(x.clone())?.split_tape();
    let (right, tape) = m.b.try_forward_mut(both.put_tape(tape))?.split_tape();
    let (c, tape) = m.c.try_forward_mut(right.clone().put_tape(tape))?.try_sin()?.split_tape();
    let (y, tape) = left.put_tape(tape).try_add(c)?.split_tape();
    let (z, tape) = if m.flag {
        m.a.try_forward_mut(y.put_tape(tape))?.try_square()?.try_add(right)?.split_tape()
    } else {
        y.put_tape(tape).try_sub(right)?.split_tape()
    };
    m.b.try_forward_mut(z.put_tape(tape))?.try_tanh()?.try_add(x)
}

#[test]
fn branches_blocks_several_outputs_and_regions_in_regions() {
    for flag in [false, true] {
        trains_as(
            |dev| {
                let mut model = dev.build_module::<ShapesBuilder, f32>();
                model.flag = flag;
                model
            },
            rows::<4, f32>,
            shapes_by_hand,
        );
    }
}

// ---------------------------------------------------------------- helpers, children, results

#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Helped<F, E: Dtype, D: Device<E>> {
    child: F,
    a: modules::Linear<4, 4, E, D>,
    b: modules::Linear<4, 4, E, D>,
}

#[checkpointed]
impl<F, E: Dtype, D: Device<E>> Helped<F, E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err>
    where
        F: Module<Tensor<(B, Const<4>), E, D>, Output = Tensor<(B, Const<4>), E, D>>,
    {
        #[checkpoint]
        let x = self.twice(x)?;
        let x = self.child.try_forward(x)?;
        #[checkpoint]
        let y = self.b.try_forward(x)?.try_mul(Self::factor())?;
        Ok(y)
    }

    /// Used twice a forward.
    fn twice<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Result<Tensor<(B, Const<4>), E, D>, D::Err> {
        let once = self.a.try_forward(x)?;
        self.a.try_forward(once)?.try_tanh()
    }

    fn factor() -> E {
        E::from_f64(1.5).unwrap()
    }
}

#[test]
fn helpers_generic_children_and_results() {
    trains_as(
        |dev| dev.build_module::<HelpedBuilder<BlockRows>, f32>(),
        rows::<4, f32>,
        |m, x| {
            let x = m.a.try_forward_mut(x)?;
            let x = m.a.try_forward_mut(x)?.try_tanh()?;
            let x = m.child.0.try_forward_mut(x)?;
            m.b.try_forward_mut(x)?.try_mul(1.5)
        },
    );
}

type BlockRows = (Linear<4, 4>,);

/// The call that runs a field and the one that runs it by name are one.
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Called<E: Dtype, D: Device<E>>(modules::Linear<4, 4, E, D>, Layer<E, D>);

#[checkpointed]
impl<E: Dtype, D: Device<E>> Called<E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
        let x = checkpoint!(self.0, x).unwrap();
        #[checkpoint]
        let x = x + self.1.0.forward(x);
        self.1.1.forward(x)
    }
}

#[test]
fn fields_by_number_and_parts_of_fields() {
    trains_as(
        |dev| dev.build_module::<CalledBuilder, f32>(),
        rows::<4, f32>,
        |m, x| {
            let (x, tape) = m.0.try_forward_mut(x)?.split_tape();
            let (y, tape) = m.1.0.try_forward_mut(x.clone().put_tape(tape))?.split_tape();
            x.put_tape(tape).try_add(y)?.try_tanh()
        },
    );
}

// ---------------------------------------------------------------- in a function, in a region of others

#[test]
fn declared_inside_a_function_and_nested_in_others() {
    #[checkpointed(forward = custom)]
    #[derive(Clone, Debug)]
    struct Inner<E: Dtype, D: Device<E>> {
        a: modules::Linear<4, 4, E, D>,
        norm: modules::BatchNorm1D<4, E, D>,
    }

    #[checkpointed]
    impl<E: Dtype, D: Device<E>> Inner<E, D> {
        fn forward<B: Dim>(&self, x: Tensor<(B, Const<4>), E, D>) -> Tensor<(B, Const<4>), E, D> {
            #[checkpoint]
            let y = self.norm.forward(self.a.forward(x));
            y + x
        }
    }

    fn inner(m: &mut Inner<f32, Cpu>, x: Traced<4>) -> Result<Traced<4>, CpuError> {
        let (x, tape) = x.split_tape();
        m.norm.try_forward_mut(m.a.try_forward_mut(x.clone().put_tape(tape))?)?.try_add(x)
    }

    #[checkpointed]
    #[derive(Clone, Debug)]
    struct Outer<E: Dtype, D: Device<E>> {
        #[checkpoint]
        one: Inner<E, D>,
        #[checkpoint(segments = 2)]
        many: Repeated<Inner<E, D>, 3>,
        last: Inner<E, D>,
    }

    trains_as(
        |dev| dev.build_module::<OuterBuilder, f32>(),
        rows::<4, f32>,
        |m, mut x| {
            for block in std::iter::once(&mut m.one).chain(&mut m.many.modules).chain([&mut m.last]) {
                x = inner(block, x)?;
            }
            Ok(x)
        },
    );
    let _: fn(&Cpu) -> Rows<4> = rows::<4, f32>;
}

/// Operations on a parameter before it meets the input are on the tape too.
#[checkpointed(forward = custom)]
#[derive(Clone, Debug)]
struct Gated<const W: usize, E: Dtype, D: Device<E>> {
    #[param(init = small)]
    gate: Tensor<Rank1<W>, E, D>,
    #[param(init = small)]
    matrix: Tensor<Rank2<W, W>, E, D>,
    #[param(init = small)]
    plain: Tensor<Rank1<W>, E, D>,
}

#[checkpointed]
impl<const W: usize, E: Dtype, D: Device<E>> Gated<W, E, D> {
    fn forward<B: Dim>(&self, x: Tensor<(B, Const<W>), E, D>) -> Tensor<(B, Const<W>), E, D> {
        #[checkpoint]
        let x = x * self.gate.clone().sigmoid().broadcast_like(x.shape());
        let matrix = self.matrix.clone().permute::<_, Axes2<1, 0>>().tanh();
        let x = x.matmul(matrix);
        let plain = self.plain.clone().exp();
        x + plain.broadcast_like(x.shape())
    }
}

#[test]
fn a_parameter_learns_through_what_is_made_of_it() {
    trains_as(
        |dev| dev.build_module::<GatedBuilder<4>, f32>(),
        rows::<4, f32>,
        |m, x| {
            let shape = *x.shape();
            let (x, tape) = x.split_tape();
            let (gate, tape) = m.gate.clone().put_tape(tape).try_sigmoid()?.split_tape();
            let x = x.put_tape(tape).try_mul(gate.broadcast_like(&shape))?;
            let (x, tape) = x.split_tape();
            let matrix = m.matrix.clone().put_tape(tape).try_permute::<_, Axes2<1, 0>>()?.try_tanh()?;
            let (matrix, tape) = matrix.split_tape();
            let (x, tape) = x.put_tape(tape).try_matmul(matrix)?.split_tape();
            let (plain, tape) = m.plain.clone().put_tape(tape).try_exp()?.split_tape();
            x.put_tape(tape).try_add(plain.broadcast_like(&shape))
        },
    );
}
