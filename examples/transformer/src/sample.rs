//! Text from the model.

use dfdx::prelude::*;
use rand::Rng;

use crate::model::{Model, SEQ, VOCAB, device_error};

/// Continues `prompt` by `length` tokens. The model sees the last [`SEQ`] of them.
///
/// # Errors
/// The device's.
pub fn continue_from(
    model: &Model,
    prompt: &[usize],
    length: usize,
    temperature: f64,
    rng: &mut impl Rng,
) -> Result<Vec<usize>, String> {
    let dev = model.pos.weight.device().clone();
    let mut tokens = prompt.to_vec();
    for _ in 0..length {
        let seen = &tokens[tokens.len().saturating_sub(SEQ)..];
        // No position sees a later one, so what fills the window behind the text does not matter.
        let mut window = seen.to_vec();
        window.resize(SEQ, 0);
        let window = dev.tensor_from_vec(window, (1, Const));
        let logits = model.try_forward(window).map_err(device_error)?.as_vec();
        let last = (seen.len() - 1) * VOCAB;
        tokens.push(draw(&logits[last..last + VOCAB], temperature, rng.r#gen()));
    }
    Ok(tokens.split_off(prompt.len()))
}

/// The token at `point`, between 0 and 1, of the distribution `softmax(logits / temperature)`.
fn draw(logits: &[f32], temperature: f64, point: f64) -> usize {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weight = |logit: &f32| (f64::from(logit - largest) / temperature).exp();
    let mut left = point * logits.iter().map(weight).sum::<f64>();
    for (token, logit) in logits.iter().enumerate() {
        left -= weight(logit);
        if left < 0.0 {
            return token;
        }
    }
    logits.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cold_draw_takes_the_likeliest() {
        for point in [0.0, 0.5, 0.999_999] {
            assert_eq!(draw(&[1.0, 3.0, 2.0], 1e-3, point), 1);
        }
    }

    #[test]
    fn draws_follow_the_distribution() {
        let logits = [0.0, 2.0_f32.ln(), 5.0_f32.ln()];
        let mut counts = [0; 3];
        for i in 0..800 {
            counts[draw(&logits, 1.0, (f64::from(i) + 0.5) / 800.0)] += 1;
        }
        assert_eq!(counts, [100, 200, 500]);
    }
}
