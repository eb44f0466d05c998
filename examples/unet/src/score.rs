//! How well found masks agree with true ones.

use crate::scene::{CLASS_NAMES, CLASSES};

/// Pixels of each true class by what was found there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    counts: [[usize; CLASSES]; CLASSES],
}

impl Confusion {
    /// Adds pixels to it.
    pub fn add(&mut self, truth: &[usize], found: &[usize]) {
        assert_eq!(truth.len(), found.len(), "a found class for each pixel");
        for (t, f) in truth.iter().zip(found) {
            self.counts[*t][*f] += 1;
        }
    }

    /// The share of pixels whose class was found.
    pub fn accuracy(&self) -> f64 {
        let right: usize = (0..CLASSES).map(|c| self.counts[c][c]).sum();
        right as f64 / self.counts.iter().flatten().sum::<usize>().max(1) as f64
    }

    /// Of the pixels that are or were found to be of a class, the share that are both. `None` where
    /// there are none.
    pub fn overlap(&self, class: usize) -> Option<f64> {
        let truth: usize = self.counts[class].iter().sum();
        let found: usize = self.counts.iter().map(|row| row[class]).sum();
        let both = self.counts[class][class];
        (truth + found > 0).then(|| both as f64 / (truth + found - both) as f64)
    }

    /// The mean of all classes' overlaps (mean intersection over union).
    pub fn mean_overlap(&self) -> f64 {
        let overlaps: Vec<f64> = (0..CLASSES).filter_map(|c| self.overlap(c)).collect();
        overlaps.iter().sum::<f64>() / overlaps.len().max(1) as f64
    }

    /// Every class's overlap, in words.
    pub fn describe(&self) -> String {
        let of = |class: usize| match self.overlap(class) {
            Some(overlap) => format!("{} {:.1} %", CLASS_NAMES[class], overlap * 100.0),
            None => format!("{} none", CLASS_NAMES[class]),
        };
        (0..CLASSES).map(of).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_intersection_over_union() {
        let mut confusion = Confusion::default();
        assert_eq!(confusion.overlap(1), None);
        confusion.add(&[0, 0, 0, 0, 1, 1], &[0, 0, 0, 1, 1, 0]);
        assert_eq!((confusion.overlap(0), confusion.overlap(1)), (Some(0.6), Some(1.0 / 3.0)));
        confusion.add(&[1], &[1]);
        assert_eq!(confusion.overlap(1), Some(0.5));
        assert!((confusion.mean_overlap() - 0.55).abs() < 1e-12);
        assert!((confusion.accuracy() - 5.0 / 7.0).abs() < 1e-12);
        assert_eq!(confusion.describe(), "background 60.0 %, shape 50.0 %");
        let mut empty = Confusion::default();
        empty.add(&[0], &[0]);
        assert_eq!(empty.describe(), "background 100.0 %, shape none");
    }
}
