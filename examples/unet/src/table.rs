//! What each mode costs: the same few steps from the same weights, measured.

use std::time::Instant;

use ckpt_runtime::{
    memory::{self, Bytes},
    with_policy,
};
use examples_shared::losses;
use models::mode::Selectable;

use crate::model::{self, Model};
use crate::train::{Plan, Trainer};

/// Steps whose cost is not counted: they allocate the optimizer's state and warm caches.
const WARM_UP: usize = 2;

/// One mode's costs.
#[derive(Clone, Debug)]
pub struct Row {
    /// The mode.
    pub mode: Selectable,
    /// The most heap bytes that a step added to what was live before it.
    pub peak_bytes: usize,
    /// Median seconds a step.
    pub step_s: f64,
    /// The test scenes' mean overlap after the steps.
    pub overlap: f64,
    /// Of every step.
    pub losses: Vec<f32>,
}

/// Trains `model` for a few steps in `mode`, and judges it by `scenes` test scenes.
///
/// # Errors
/// The device's.
pub fn measure(mode: Selectable, mut model: Model, plan: Plan, scenes: usize) -> Result<Row, String> {
    with_policy(mode.policy(model::selective), || {
        let mut trainer = Trainer::new(&model, Plan { steps: WARM_UP + plan.steps, ..plan });
        let (mut peak_bytes, mut seconds, mut losses) = (0, Vec::new(), Vec::new());
        for step in 0..WARM_UP + plan.steps {
            memory::reset_peak();
            let before = memory::live_bytes();
            let start = Instant::now();
            losses.push(trainer.step(&mut model)?);
            if step >= WARM_UP {
                seconds.push(start.elapsed().as_secs_f64());
                peak_bytes = peak_bytes.max(memory::peak_bytes().saturating_sub(before));
            }
        }
        seconds.sort_by(f64::total_cmp);
        let overlap = model::judge(&model, scenes)?.mean_overlap();
        Ok(Row { mode, peak_bytes, step_s: seconds[seconds.len() / 2], overlap, losses })
    })
}

/// The table as text, with what the losses say.
pub fn render(rows: &[Row]) -> String {
    let mut text = format!("{:<14} {:>12} {:>14} {:>14}\n", "mode", "peak memory", "s/iteration", "mean overlap");
    for row in rows {
        text += &format!(
            "{:<14} {:>12} {:>14.4} {:>14}\n",
            row.mode,
            Bytes(row.peak_bytes),
            row.step_s,
            percent(row.overlap)
        );
    }
    if rows.len() > 1 {
        text += &losses::verdict(rows[0].losses.len(), first_difference(rows).as_deref());
    }
    text
}

/// Where two modes' losses part, in words.
pub fn first_difference(rows: &[Row]) -> Option<String> {
    let curves: Vec<_> = rows.iter().map(|row| (row.mode, &*row.losses)).collect();
    losses::first_difference(&curves)
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::mode::RunMode;

    fn row(mode: Selectable, last: f32) -> Row {
        Row { mode, peak_bytes: 12_345_678, step_s: 0.25, overlap: 0.8125, losses: vec![2.5, last] }
    }

    #[test]
    fn the_table_says_whether_the_losses_agree() {
        let plain = row(Selectable::All(RunMode::Plain), 1.5);
        let text = render(&[plain.clone(), row(Selectable::Selective, 1.5)]);
        assert!(text.contains("selective           12.3 MB         0.2500         81.2 %"), "{text}");
        assert!(text.ends_with("all 2 steps are equal to the bit: no mode changes what is learned.\n"), "{text}");
        let other = [plain, row(Selectable::Selective, 1.5_f32.next_up())];
        assert!(render(&other).contains("DIFFER: in step 1 plain has 1.5 and selective has 1.5000001"));
    }
}
