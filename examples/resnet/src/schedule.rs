//! The learning rate over a training: a linear warm-up, then half a cosine down to nothing
//! (Loshchilov and Hutter 2017, without restarts).

/// A training's learning rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    peak: f64,
    warm_up: usize,
    steps: usize,
}

/// The warm-up's share of all steps.
const WARM_UP_SHARE: f64 = 0.15;

impl Schedule {
    /// The rates of `steps` steps, the highest of them `peak`.
    pub fn new(peak: f64, steps: usize) -> Self {
        let warm_up = ((steps as f64 * WARM_UP_SHARE).round() as usize).max(1);
        Self { peak, warm_up, steps }
    }

    /// The rate of a step, counted from 0.
    pub fn rate(&self, step: usize) -> f64 {
        if step < self.warm_up {
            return self.peak * (step + 1) as f64 / self.warm_up as f64;
        }
        let rest = self.steps.saturating_sub(self.warm_up).max(1);
        let done = ((step - self.warm_up) as f64 / rest as f64).min(1.0);
        self.peak * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_evenly_and_falls_to_nothing() {
        let schedule = Schedule::new(0.2, 100);
        assert_eq!(schedule.warm_up, 15);
        let rates: Vec<f64> = (0..100).map(|step| schedule.rate(step)).collect();
        assert!((rates[0] - 0.2 / 15.0).abs() < 1e-12);
        assert!(rates[..15].windows(2).all(|pair| (pair[1] - pair[0] - 0.2 / 15.0).abs() < 1e-12));
        assert_eq!(rates[14], 0.2);
        assert!(rates[15..].windows(2).all(|pair| pair[1] < pair[0]));
        // Half of it is left half of the way down.
        assert!((schedule.rate(15 + 85 / 2) - 0.1).abs() < 2e-3);
        assert!(rates[99] > 0.0 && rates[99] < 1e-4);
        assert!(schedule.rate(100).abs() < 1e-12 && schedule.rate(1000).abs() < 1e-12);
    }

    #[test]
    fn a_training_of_one_step_has_a_rate() {
        assert_eq!(Schedule::new(0.2, 1).rate(0), 0.2);
        assert_eq!(Schedule::new(0.2, 0).rate(0), 0.2);
    }
}
