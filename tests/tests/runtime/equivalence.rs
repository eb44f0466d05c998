//! Every layer of dfdx that builds on stable, and our dropout, under every combinator and policy:
//! equal to the bare layer to the bit.

use ckpt_runtime::{
    __private::segments_mut, Checkpoint, Concat, Policy, Real, Scoped, Segments, Sequential, Site, nn, with_policy,
};
use dfdx::prelude::*;
use tests::compare::{BothTaped, Trains, noise, policies, run_with};

const SEED: u64 = 7;

/// Holds `$B` in every combinator against `$B` bare.
macro_rules! holds {
    ($E:ty, $B:ty, $input:expr) => {{
        let input = $input;
        let plain = <$B as Trains<$E, _>>::run(SEED, None, &input);
        for (name, policy) in policies() {
            let run = <Checkpoint<$B> as Trains<$E, _>>::run(SEED, policy, &input);
            plain.assert_same(&run, &format!("Checkpoint, {name}, {}", stringify!($B)));
        }
        holds!(@in plain, input, $E: Scoped<$B>, Checkpoint<Checkpoint<$B>>, Checkpoint<Scoped<$B>>,
            Scoped<Checkpoint<$B>>);
    }};
    (@in $plain:ident, $input:ident, $E:ty: $($Wrapped:ty),+ $(,)?) => { $(
        for (name, policy) in [("no policy", None), ("keep", Some(Policy::keep()))] {
            let run = <$Wrapped as Trains<$E, _>>::run(SEED, policy, &$input);
            $plain.assert_same(&run, &format!("{}, {name}", stringify!($Wrapped)));
        }
    )+ };
}

/// A test of one layer in f32 and f64.
macro_rules! layers {
    ($($name:ident: $B:ty, $input:ident;)*) => { $(
        #[test]
        fn $name() {
            holds!(f32, $B, $input::<f32>);
            holds!(f64, $B, $input::<f64>);
        }
    )* };
}

fn rows<E: Real>(dev: &Cpu) -> Tensor<Rank2<3, 4>, E, Cpu>
where
    Cpu: Device<E>,
{
    noise(dev, Default::default(), -1.0, 1.0)
}

fn positive<E: Real>(dev: &Cpu) -> Tensor<Rank2<3, 4>, E, Cpu>
where
    Cpu: Device<E>,
{
    noise(dev, Default::default(), 0.5, 1.5)
}

fn sequences<E: Real>(dev: &Cpu) -> Tensor<Rank3<2, 3, 4>, E, Cpu>
where
    Cpu: Device<E>,
{
    noise(dev, Default::default(), -1.0, 1.0)
}

fn dynamic<E: Real>(dev: &Cpu) -> Tensor<(usize, Const<4>), E, Cpu>
where
    Cpu: Device<E>,
{
    noise(dev, (5, Const), -1.0, 1.0)
}

fn images<E: Real>(dev: &Cpu) -> Tensor<Rank4<2, 3, 2, 2>, E, Cpu>
where
    Cpu: Device<E>,
{
    noise(dev, Default::default(), -1.0, 1.0)
}

fn indices<E: Real>(dev: &Cpu) -> Tensor<Rank2<2, 3>, usize, Cpu> {
    // One twice, so that its gradient is a sum.
    dev.tensor([[0, 3, 3], [2, 1, 3]])
}

fn cross<E: Real>(
    dev: &Cpu,
) -> (Tensor<Rank3<2, 3, 4>, E, Cpu>, Tensor<Rank3<2, 5, 4>, E, Cpu>, Tensor<Rank3<2, 5, 4>, E, Cpu>)
where
    Cpu: Device<E>,
{
    (
        noise(dev, Default::default(), -1.0, 1.0),
        noise(dev, Default::default(), -1.0, 1.0),
        noise(dev, Default::default(), -1.0, 1.0),
    )
}

layers! {
    linear: Linear<4, 3>, rows;
    linear_of_dynamic_batch: Linear<4, 3>, dynamic;
    unbiased_linear: UnbiasedLinear<4, 3>, rows;
    layer_norm: LayerNorm1D<4>, sequences;
    batch_norm_1d: BatchNorm1D<4>, rows;
    batch_norm_1d_of_sequences: BatchNorm1D<3>, sequences;
    batch_norm_2d: BatchNorm2D<3>, images;
    bias_2d: Bias2D<3>, images;
    embedding: Embedding<4, 3>, indices;
    embedding_and_more: (Embedding<4, 4>, Linear<4, 4>, nn::DropoutOneIn<3>, TransformerEncoderBlock<4, 2, 8>), indices;
    self_attention: MultiHeadAttention<4, 2>, sequences;
    transformer_block: TransformerEncoderBlock<4, 2, 8>, sequences;
    prelu: (PReLU, Linear<4, 4>, PReLU1D<Const<4>>), rows;
    residual: Residual<(Linear<4, 4>, ReLU, BatchNorm1D<4>)>, rows;
    generalized_residual: GeneralizedResidual<(Linear<4, 3>, Tanh), Linear<4, 3>>, rows;
    split_into: SplitInto<(Linear<4, 3>, (Linear<4, 2>, Tanh))>, rows;
    add_into: AddInto<(Linear<4, 3>, Linear<4, 3>)>, both;
    repeated: Repeated<(Linear<4, 4>, Tanh, BatchNorm1D<4>), 3>, rows;
    average_pool: AvgPoolGlobal, images;
    max_pool: MaxPoolGlobal, images;
    min_pool: MinPoolGlobal, images;
    activations: (Tanh, Sin, Cos, FastGeLU, AccurateGeLU, Sigmoid), rows;
    more_activations: (ReLU, Square, Exp, Softmax, LogSoftmax, Abs), rows;
    activations_of_positive: (Sqrt, Ln), positive;
    reshape: (Linear<4, 3>, Reshape<Rank2<1, 9>>), rows;
    dropout: (Linear<4, 4>, nn::Dropout, Tanh, nn::DropoutOneIn<4>, Linear<4, 4>), rows;
    dropout_of_permuted: (nn::Dropout, Residual<(BatchNorm1D<3>, nn::Dropout)>), sequences;
    nested_in_layers: (
        Residual<Checkpoint<(Linear<4, 4>, Scoped<(nn::DropoutOneIn<3>, Checkpoint<(BatchNorm1D<4>, Tanh)>)>)>>,
        Linear<4, 4>,
        Repeated<Checkpoint<Residual<(Linear<4, 4>, Tanh)>>, 2>,
    ), rows;
}

fn both<E: Real>(dev: &Cpu) -> BothTaped<Tensor<Rank2<3, 4>, E, Cpu>, Tensor<Rank2<3, 4>, E, Cpu>>
where
    Cpu: Device<E>,
{
    BothTaped(noise(dev, Default::default(), -1.0, 1.0), noise(dev, Default::default(), -1.0, 1.0))
}

/// Queries are taped, keys and values are leaves.
#[test]
fn cross_attention() {
    holds!(f32, MultiHeadAttention<4, 2>, cross::<f32>);
    holds!(f64, MultiHeadAttention<4, 2>, cross::<f64>);
}

#[test]
fn leaky_relu() {
    holds!(f32, (Linear<4, 4>, LeakyReLU<f32>), rows::<f32>);
    holds!(f64, (Linear<4, 4>, LeakyReLU<f64>), rows::<f64>);
}

#[cfg(feature = "f16")]
#[test]
fn half_and_mixed_precision() {
    use dfdx::dtypes::{AMP, f16};
    type Model = (Linear<4, 4>, Tanh, BatchNorm1D<4>, nn::DropoutOneIn<3>, Residual<(LayerNorm1D<4>, Linear<4, 4>)>);
    holds!(f16, Model, rows::<f16>);
    holds!(AMP<f16>, Model, rows::<AMP<f16>>);
}

type Layers = (Linear<4, 5>, Tanh, BatchNorm1D<5>, Residual<(nn::DropoutOneIn<3>, Linear<5, 5>)>, ReLU, Linear<5, 2>);
type Grouped = Concat<
    (Linear<4, 5>, Tanh),
    Concat<(BatchNorm1D<5>, Residual<(nn::DropoutOneIn<3>, Linear<5, 5>)>, ReLU), (Linear<5, 2>,)>,
>;

fn with_counts(policies: Vec<(&'static str, Option<Policy>)>) -> Vec<(&'static str, Option<Policy>)> {
    policies.into_iter().chain([("2", Some(Policy::segments(2))), ("6", Some(Policy::segments(6)))]).collect()
}

macro_rules! sequences_equal_the_tuple {
    ($E:ty: $($Sequence:ty),+ $(,)?) => {{
        let plain = <Layers as Trains<$E, _>>::run(SEED, None, rows::<$E>);
        $( for (name, policy) in with_counts(policies()) {
            let run = <$Sequence as Trains<$E, _>>::run(SEED, policy, rows::<$E>);
            plain.assert_same(&run, &format!("{}, {name}", stringify!($Sequence)));
        } )+
    }};
}

#[test]
fn sequences_of_every_segmentation() {
    sequences_equal_the_tuple!(f32:
        Sequential<0, Layers>, Sequential<1, Layers>, Sequential<4, Layers>, Sequential<6, Layers>,
        Sequential<3, Grouped>, Checkpoint<Sequential<3, Grouped>>);
    sequences_equal_the_tuple!(f64: Sequential<3, Layers>, Sequential<0, Grouped>);
}

type Cut = Repeated<(Residual<Linear<4, 4>>, Tanh, BatchNorm1D<4>, nn::DropoutOneIn<5>), 5>;

/// A field marked `segments` or `each`, as the macros call it.
macro_rules! cut_field {
    ($E:ty) => {{
        const SITE: &Site = {
            const SITE: Site = Site::new("Model.blocks");
            &SITE
        };
        let plain = <Cut as Trains<$E, _>>::run(SEED, None, rows::<$E>);
        for segments in [Segments::Each, Segments::Count(1), Segments::Count(2), Segments::Count(5)] {
            for (name, policy) in policies() {
                let run = run_with::<$E, _, _, _>(
                    SEED,
                    |dev| dev.build_module::<Cut, $E>(),
                    rows::<$E>,
                    |m, x| with_policy(policy.clone().unwrap_or_default(), || segments_mut(SITE, segments, m, x)),
                );
                plain.assert_same(&run, &format!("{segments:?}, {name}"));
            }
        }
    }};
}

#[test]
fn field_of_equal_blocks_in_segments() {
    cut_field!(f32);
    cut_field!(f64);
}

/// What the comparisons above take for granted: the mask of the backward pass is the forward's.
#[test]
fn dropout_is_one_mask_both_ways() {
    let dev = Cpu::seed_from_u64(SEED);
    let x: Tensor<Rank2<301, 67>, f64, Cpu> = dev.ones();
    for p in [0.0, 0.25, 0.5, 1.0] {
        let mut dropout = Checkpoint(nn::Dropout { p });
        let y = dropout.forward_mut(x.leaky_trace());
        let factors = y.as_vec();
        assert_eq!(y.sum().backward().get(&x).as_vec(), factors, "p = {p}");
        let kept = factors.iter().filter(|f| **f != 0.0).count() as f64 / factors.len() as f64;
        assert!((kept - (1.0 - p)).abs() < 0.02, "p = {p}: {kept} kept");
        assert!(factors.iter().all(|f| *f == 0.0 || *f == 1.0 / (1.0 - p)), "p = {p}");
        assert_eq!(dropout.forward(x.clone()).as_vec(), x.as_vec(), "inference hands through");
    }
}
