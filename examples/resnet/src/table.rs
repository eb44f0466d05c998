//! What each mode costs: the same epochs from the same weights, measured.

use std::time::Instant;

use ckpt_runtime::memory::{self, Bytes, HeapMeter};
use ckpt_runtime::with_policy;
use examples_shared::losses;
use models::mode::Selectable;

use crate::chart::Curve;
use crate::images::DataSet;
use crate::model::{self, Model};
use crate::timeline;
use crate::train::{Plan, Trainer};

/// One mode's costs.
#[derive(Clone, Debug)]
pub struct Row {
    /// The mode.
    pub mode: Selectable,
    /// The most heap bytes that a step added to what was live before the first.
    pub peak_bytes: usize,
    /// Mean seconds of an epoch.
    pub epoch_s: f64,
    /// Of the test images, after the epochs.
    pub accuracy: f64,
    /// Of every step.
    pub losses: Vec<f32>,
}

/// Trains `model` in `mode`, and watches the memory of one more step.
///
/// # Errors
/// The device's.
pub fn measure(mode: Selectable, mut model: Model, set: &DataSet, plan: Plan) -> Result<(Row, Curve), String> {
    with_policy(mode.policy(model::selective), || {
        let mut trainer = Trainer::new(&model, set, plan);
        // Gradients and the optimizer's state stay between steps: they are no step's.
        warm_up(&mut model, &mut trainer, set, plan)?;
        let (model, trainer) = (&mut model, &mut trainer);

        let mut peak_bytes = 0;
        let start = Instant::now();
        for _ in 0..plan.epochs {
            memory::reset_peak();
            let before = memory::live_bytes();
            trainer.epoch(model, |_| {
                peak_bytes = peak_bytes.max(memory::peak_bytes().saturating_sub(before));
            })?;
        }
        let epoch_s = start.elapsed().as_secs_f64() / plan.epochs as f64;
        let accuracy = model::accuracy(model, set)?;
        let losses = trainer.losses().to_vec();
        let batch = first_batch(set, plan);
        let (step, timeline) = timeline::watch(&HeapMeter, || trainer.step(model, batch))?;
        step?;
        Ok((Row { mode, peak_bytes, epoch_s, accuracy, losses }, Curve { name: mode.to_string(), timeline }))
    })
}

/// One step, which makes gradients and the optimizer's state.
fn warm_up(model: &mut Model, trainer: &mut Trainer<'_>, set: &DataSet, plan: Plan) -> Result<(), String> {
    trainer.step(model, first_batch(set, plan)).map(|_| ())
}

fn first_batch(set: &DataSet, plan: Plan) -> crate::images::Batch {
    use rand::SeedableRng;
    let mut rng = rand::rngs::StdRng::seed_from_u64(plan.seed);
    set.epoch(plan.batch, &mut rng).next().expect("there are images to train on")
}

/// The table as text, with what the losses say.
pub fn render(rows: &[Row]) -> String {
    let mut text = format!("{:<14} {:>12} {:>14} {:>14}\n", "mode", "peak memory", "s/epoch", "test accuracy");
    for row in rows {
        text += &format!(
            "{:<14} {:>12} {:>14.2} {:>14}\n",
            row.mode,
            Bytes(row.peak_bytes),
            row.epoch_s,
            percent(row.accuracy)
        );
    }
    if rows.len() > 1 {
        text += &losses::verdict(rows[0].losses.len(), first_difference(rows).as_deref());
    }
    text
}

/// Where two modes' runs part, in words.
pub fn first_difference(rows: &[Row]) -> Option<String> {
    let curves: Vec<_> = rows.iter().map(|row| (row.mode, &*row.losses)).collect();
    losses::first_difference(&curves).or_else(|| {
        let pair = rows.windows(2).find(|pair| pair[0].accuracy.to_bits() != pair[1].accuracy.to_bits())?;
        Some(format!("{} and {} judge the test images differently", pair[0].mode, pair[1].mode))
    })
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::mode::RunMode;

    fn row(mode: Selectable, losses: &[f32]) -> Row {
        Row { mode, peak_bytes: 12_345_678, epoch_s: 9.25, accuracy: 0.975, losses: losses.to_vec() }
    }

    #[test]
    fn the_table_says_whether_the_losses_agree() {
        let plain = row(Selectable::All(RunMode::Plain), &[2.5, 1.5]);
        let same = [plain.clone(), row(Selectable::Selective, &[2.5, 1.5])];
        let text = render(&same);
        assert!(text.contains("selective           12.3 MB           9.25        97.50 %"), "{text}");
        assert!(text.ends_with("all 2 steps are equal to the bit: no mode changes what is learned.\n"), "{text}");
        let other = [plain.clone(), row(Selectable::Selective, &[2.5, 1.5_f32.next_up()])];
        assert!(render(&other).contains("DIFFER: in step 1 plain has 1.5 and selective has 1.5000001"));
        let short = [plain.clone(), row(Selectable::Selective, &[2.5])];
        assert!(render(&short).contains("plain took 2 steps and selective took 1"));
        let worse = [plain.clone(), Row { accuracy: 0.9, ..plain }];
        assert!(render(&worse).contains("judge the test images differently"));
    }
}
