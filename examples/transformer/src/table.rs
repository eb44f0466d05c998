//! What each mode costs: the same few steps from the same weights, measured.

use std::time::Instant;

use ckpt_runtime::{
    memory::{self, Bytes},
    with_policy,
};
use models::mode::RunMode;

use crate::model::{Model, validation_loss};
use crate::text::Corpus;
use crate::train::Trainer;

/// Steps whose cost is not counted: they allocate the optimizer's state and warm caches.
const WARM_UP: usize = 2;
/// Steps that are.
const COUNTED: usize = 7;

/// One mode's costs.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The mode.
    pub mode: RunMode,
    /// The most heap bytes that a step added to what was live before it.
    pub peak_bytes: usize,
    /// Median seconds a step.
    pub step_s: f64,
    /// After the steps.
    pub validation_loss: f32,
}

/// Trains `model` for a few steps in `mode`.
///
/// # Errors
/// The device's.
pub fn measure(mode: RunMode, mut model: Model, corpus: &Corpus, mut trainer: Trainer<'_>) -> Result<Row, String> {
    with_policy(mode.policy(), || {
        let mut peak_bytes = 0;
        let mut seconds = Vec::new();
        for step in 0..WARM_UP + COUNTED {
            memory::reset_peak();
            let before = memory::live_bytes();
            let start = Instant::now();
            trainer.step(&mut model)?;
            if step >= WARM_UP {
                seconds.push(start.elapsed().as_secs_f64());
                peak_bytes = peak_bytes.max(memory::peak_bytes() - before);
            }
        }
        seconds.sort_by(f64::total_cmp);
        Ok(Row { mode, peak_bytes, step_s: seconds[COUNTED / 2], validation_loss: validation_loss(&model, corpus)? })
    })
}

/// The table as text, with what the losses say.
pub fn render(rows: &[Row]) -> String {
    let mut text = format!("{:<14} {:>12} {:>14} {:>16}\n", "mode", "peak memory", "s/iteration", "validation loss");
    for row in rows {
        text += &format!(
            "{:<14} {:>12} {:>14.3} {:>16.6}\n",
            row.mode,
            Bytes(row.peak_bytes),
            row.step_s,
            row.validation_loss
        );
    }
    if rows.len() > 1 {
        text += if losses_agree(rows) {
            "The losses are equal to the bit: no mode changes what is learned.\n"
        } else {
            "The losses DIFFER: a mode changed what is learned.\n"
        };
    }
    text
}

/// Whether every mode learned the same to the bit.
pub fn losses_agree(rows: &[Row]) -> bool {
    rows.windows(2).all(|pair| pair[0].validation_loss.to_bits() == pair[1].validation_loss.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(mode: RunMode, validation_loss: f32) -> Row {
        Row { mode, peak_bytes: 12_345_678, step_s: 0.25, validation_loss }
    }

    #[test]
    fn the_table_says_whether_the_losses_agree() {
        let same = [row(RunMode::Plain, 2.5), row(RunMode::Sequential(3), 2.5)];
        let text = render(&same);
        assert!(text.contains("sequential:3        12.3 MB          0.250         2.500000"), "{text}");
        assert!(text.ends_with("equal to the bit: no mode changes what is learned.\n"));
        let other = [row(RunMode::Plain, 2.5), row(RunMode::Keep, 2.5_f32.next_up())];
        assert!(render(&other).contains("DIFFER"));
    }
}
