//! The handwritten digits of the UCI repository, which `smartcore` carries: 1797 images of 8x8.
//!
//! E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", 1998.

use smartcore::dataset::digits::load_dataset;

use crate::images::{DataSet, Images};
use crate::resize;

/// Height and width of the original images.
const SMALL: usize = 8;
/// Their brightest value.
const BRIGHTEST: f32 = 16.0;
/// Every fifth image is for testing.
const TEST_EVERY: usize = 5;

/// 1437 images to train on and 360 to test with, the same at every call, scaled to 32x32.
///
/// The writers of the originals occur in both parts.
pub fn load() -> DataSet {
    let all = load_dataset();
    let (mut train, mut test) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for (index, (image, label)) in all.data.chunks(SMALL * SMALL).zip(&all.target).enumerate() {
        let values: Vec<f32> = image.iter().map(|v| v / BRIGHTEST).collect();
        let (pixels, labels) = if index % TEST_EVERY == 0 { &mut test } else { &mut train };
        pixels.extend(resize::to_side(&values, SMALL, SMALL));
        labels.push(*label as usize);
    }
    DataSet::new("UCI digits", Images::new(1, train.0, train.1), Images::new(1, test.0, test.1), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images::{CHANNELS, CLASSES, SIDE};

    #[test]
    fn both_parts_have_all_digits_in_good_measure() {
        let set = load();
        assert_eq!((set.train.len(), set.test.len()), (1437, 360));
        let mut counts = [0; CLASSES];
        for label in set.test_batches(64).flat_map(|b| b.labels) {
            counts[label] += 1;
        }
        assert!(counts.iter().all(|c| (20..=52).contains(c)), "{counts:?}");
    }

    #[test]
    fn a_zero_is_dark_in_its_middle_and_a_one_is_bright() {
        let set = load();
        let mut middle = [(0.0, 0); CLASSES];
        for batch in set.test_batches(90) {
            for (image, label) in batch.pixels.chunks(CHANNELS * SIDE * SIDE).zip(batch.labels) {
                middle[label].0 += f64::from(image[SIDE / 2 * SIDE + SIDE / 2]);
                middle[label].1 += 1;
            }
        }
        let mean = |digit: usize| middle[digit].0 / f64::from(middle[digit].1);
        assert!(mean(1) > mean(0) + 1.0, "{} and {}", mean(1), mean(0));
    }
}
