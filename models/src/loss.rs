//! Losses that dfdx lacks: targets as class indices.

use dfdx::prelude::*;

/// The mean negative log-likelihood of the target tokens, as PyTorch's `cross_entropy` with its
/// default reduction over `logits.view(-1, VOCAB)` and `targets.view(-1)`.
///
/// Picks the targets out of the log-probabilities instead of multiplying by one-hot vectors, so
/// nothing of the logits' size is made beside the log-softmax.
///
/// # Shapes
/// `logits` is `[batch, seq, vocab]`, `targets` `[batch, seq]`, each below `vocab`.
///
/// # Errors
/// The device's.
pub fn try_token_cross_entropy<B: Dim, S: Dim, V: Dim, E: Dtype, D: Device<E>, T: Tape<E, D>>(
    logits: Tensor<(B, S, V), E, D, T>,
    targets: Tensor<(B, S), usize, D>,
) -> Result<Tensor<Rank0, E, D, T>, D::Err> {
    let log_probabilities = logits.try_log_softmax::<Axis<2>>()?;
    log_probabilities.try_select(targets)?.try_mean()?.try_negate()
}

/// [`try_token_cross_entropy`], which see.
///
/// # Panics
/// On a device error.
pub fn token_cross_entropy<B: Dim, S: Dim, V: Dim, E: Dtype, D: Device<E>, T: Tape<E, D>>(
    logits: Tensor<(B, S, V), E, D, T>,
    targets: Tensor<(B, S), usize, D>,
) -> Tensor<Rank0, E, D, T> {
    try_token_cross_entropy(logits, targets).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_loss_over_one_hot_targets() {
        let dev = Cpu::seed_from_u64(3);
        let logits: Tensor<Rank3<2, 3, 5>, f64, _> = dev.sample_normal();
        let labels = [[4, 0, 2], [1, 1, 3]];
        let targets = dev.tensor(labels);
        let mut one_hot = [[[0.0; 5]; 3]; 2];
        for (row, labels) in one_hot.iter_mut().zip(labels) {
            for (cell, label) in row.iter_mut().zip(labels) {
                cell[label] = 1.0;
            }
        }

        let ours = token_cross_entropy(logits.leaky_trace(), targets);
        let dfdx = cross_entropy_with_logits_loss(logits.leaky_trace(), dev.tensor(one_hot));
        assert!((ours.array() - dfdx.array()).abs() < 1e-14);
        let (ours, dfdx) = (ours.backward(), dfdx.backward());
        for (a, b) in ours.get(&logits).as_vec().iter().zip(dfdx.get(&logits).as_vec()) {
            assert!((a - b).abs() < 1e-14);
        }
    }
}
