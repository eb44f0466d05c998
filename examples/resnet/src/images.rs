//! Labelled images of one size, in two parts, and the batches cut from them.

use rand::{Rng, seq::SliceRandom};

/// Height and width, in pixels.
pub const SIDE: usize = 32;
/// Colours of a batch; grey images are given to all three.
pub const CHANNELS: usize = 3;
/// Kinds of images.
pub const CLASSES: usize = 10;
/// Pixels of one channel.
const PLANE: usize = SIDE * SIDE;
/// An augmented image is moved by at most this many pixels each way; what comes in is black.
const MOST_SHIFT: usize = 4;

/// Images of [`SIDE`] by [`SIDE`] bytes with a class each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Images {
    /// 1 for grey, 3 for colours.
    channels: usize,
    /// `[image, channel, row, column]`, row-major.
    pixels: Vec<u8>,
    labels: Vec<usize>,
}

/// An image's bytes as they come into a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Placement {
    /// Rows and columns that the image is moved down and right.
    shift: (isize, isize),
    /// Left and right exchanged.
    flipped: bool,
}

impl Images {
    /// Images of `channels` planes each, beside their labels.
    ///
    /// # Panics
    /// When the numbers of pixels and labels do not agree, or a label is not below [`CLASSES`].
    pub fn new(channels: usize, pixels: Vec<u8>, labels: Vec<usize>) -> Self {
        assert!(channels == 1 || channels == CHANNELS, "{channels} channels");
        assert_eq!(pixels.len(), labels.len() * channels * PLANE, "pixels of {} images", labels.len());
        assert!(labels.iter().all(|label| *label < CLASSES), "a label of {CLASSES} or more");
        Self { channels, pixels, labels }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The first `most` images.
    pub fn truncate(&mut self, most: usize) {
        self.labels.truncate(most);
        self.pixels.truncate(most * self.channels * PLANE);
    }

    fn image(&self, index: usize) -> &[u8] {
        let size = self.channels * PLANE;
        &self.pixels[index * size..(index + 1) * size]
    }

    /// Mean and standard deviation of each of the batch's channels, of bytes scaled to 0..1.
    fn statistics(&self) -> [(f32, f32); CHANNELS] {
        std::array::from_fn(|channel| {
            let plane = channel.min(self.channels - 1);
            // Sums of bytes and their squares are exact.
            let (mut sum, mut squares) = (0_u64, 0_u64);
            for index in 0..self.len() {
                for &byte in &self.image(index)[plane * PLANE..(plane + 1) * PLANE] {
                    sum += u64::from(byte);
                    squares += u64::from(byte).pow(2);
                }
            }
            let count = (self.len() * PLANE).max(1) as f64;
            let mean = sum as f64 / count;
            let variance = (squares as f64 / count - mean * mean).max(0.0);
            ((mean / 255.0) as f32, ((variance.sqrt() / 255.0) as f32).max(1e-3))
        })
    }
}

/// Images and labels as the model takes them.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// `[image, channel, row, column]`, row-major, each channel of mean 0 and variance 1 over the
    /// training images.
    pub pixels: Vec<f32>,
    /// A class an image.
    pub labels: Vec<usize>,
}

/// Images to train on and to test with.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// For people.
    pub name: String,
    /// Seen in training.
    pub train: Images,
    /// Never seen in training.
    pub test: Images,
    /// Whether an image's mirror image is of the same class.
    flips: bool,
    statistics: [(f32, f32); CHANNELS],
}

impl DataSet {
    /// The two parts. Batches are normalized by the training part's statistics.
    pub fn new(name: impl Into<String>, train: Images, test: Images, flips: bool) -> Self {
        let statistics = train.statistics();
        Self { name: name.into(), train, test, flips, statistics }
    }

    /// The training images in a random order, in batches of `size` of which the last may be
    /// smaller, each image at a random place and, where that keeps the class, flipped or not.
    pub fn epoch<'a>(&'a self, size: usize, rng: &'a mut impl Rng) -> impl Iterator<Item = Batch> + 'a {
        let mut order: Vec<usize> = (0..self.train.len()).collect();
        order.shuffle(rng);
        let batches: Vec<Vec<usize>> = order.chunks(size).map(<[usize]>::to_vec).collect();
        batches.into_iter().map(move |indices| {
            let placed = indices.into_iter().map(|index| {
                let most = MOST_SHIFT as isize;
                let shift = (rng.gen_range(-most..=most), rng.gen_range(-most..=most));
                (index, Placement { shift, flipped: self.flips && rng.r#gen() })
            });
            self.batch(&self.train, placed)
        })
    }

    /// The test images as they are, in their order.
    pub fn test_batches(&self, size: usize) -> impl Iterator<Item = Batch> + '_ {
        let starts = (0..self.test.len()).step_by(size);
        starts.map(move |start| {
            let indices = start..(start + size).min(self.test.len());
            self.batch(&self.test, indices.map(|index| (index, Placement::default())))
        })
    }

    fn batch(&self, images: &Images, placed: impl Iterator<Item = (usize, Placement)>) -> Batch {
        let mut batch = Batch { pixels: Vec::new(), labels: Vec::new() };
        for (index, placement) in placed {
            batch.labels.push(images.labels[index]);
            let image = images.image(index);
            for (channel, &(mean, deviation)) in self.statistics.iter().enumerate() {
                let plane = channel.min(images.channels - 1);
                let plane = &image[plane * PLANE..(plane + 1) * PLANE];
                let normal = |byte: u8| (f32::from(byte) / 255.0 - mean) / deviation;
                batch.pixels.extend(place(plane, placement).map(normal));
            }
        }
        batch
    }
}

/// The bytes of a moved and flipped plane, row by row.
fn place(plane: &[u8], Placement { shift, flipped }: Placement) -> impl Iterator<Item = u8> + '_ {
    let from = |to: usize, shift: isize| to.checked_add_signed(-shift).filter(|from| *from < SIDE);
    (0..PLANE).map(move |at| {
        let (row, column) = (at / SIDE, at % SIDE);
        let column = if flipped { SIDE - 1 - column } else { column };
        match (from(row, shift.0), from(column, shift.1)) {
            (Some(row), Some(column)) => plane[row * SIDE + column],
            _ => 0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::StdRng};

    /// Grey images whose every byte is the image's number.
    fn numbered(count: usize) -> Images {
        let pixels = (0..count).flat_map(|n| [n as u8; PLANE]).collect();
        Images::new(1, pixels, (0..count).map(|n| n % CLASSES).collect())
    }

    #[test]
    fn an_epoch_shows_every_image_once_beside_its_label() {
        let set = DataSet::new("t", numbered(23), numbered(0), false);
        let mut rng = StdRng::seed_from_u64(1);
        let batches: Vec<Batch> = set.epoch(10, &mut rng).collect();
        assert_eq!(batches.iter().map(|b| b.labels.len()).collect::<Vec<_>>(), [10, 10, 3]);
        let (mean, deviation) = set.statistics[0];
        let mut seen = Vec::new();
        for batch in &batches {
            assert_eq!(batch.pixels.len(), batch.labels.len() * CHANNELS * PLANE);
            for (image, label) in batch.pixels.chunks(CHANNELS * PLANE).zip(&batch.labels) {
                // The middle is there however far the image was moved.
                let byte = ((image[PLANE / 2 + SIDE / 2] * deviation + mean) * 255.0).round() as usize;
                assert_eq!(byte % CLASSES, *label);
                assert_eq!(image[..PLANE], image[PLANE..2 * PLANE], "grey in all channels");
                seen.push(byte);
            }
        }
        assert_ne!(seen, (0..23).collect::<Vec<_>>(), "shuffled");
        seen.sort_unstable();
        assert_eq!(seen, (0..23).collect::<Vec<_>>());
    }

    #[test]
    fn the_same_seed_gives_the_same_epoch() {
        let set = DataSet::new("t", numbered(12), numbered(0), true);
        let epoch = |seed| set.epoch(5, &mut StdRng::seed_from_u64(seed)).collect::<Vec<_>>();
        assert_eq!(epoch(3), epoch(3));
        assert_ne!(epoch(3), epoch(4));
    }

    #[test]
    fn test_images_come_as_they_are() {
        let set = DataSet::new("t", numbered(4), numbered(7), true);
        let batches: Vec<Batch> = set.test_batches(3).collect();
        let labels: Vec<usize> = batches.iter().flat_map(|b| b.labels.clone()).collect();
        assert_eq!(labels, [0, 1, 2, 3, 4, 5, 6]);
        for (n, image) in batches.iter().flat_map(|b| b.pixels.chunks(CHANNELS * PLANE)).enumerate() {
            assert!(image.iter().all(|p| *p == image[0]), "image {n} was moved");
        }
    }

    #[test]
    fn a_plane_moves_and_flips() {
        let mut plane = vec![0; PLANE];
        plane[5 * SIDE + 2] = 9;
        let moved = |shift, flipped| {
            let placed: Vec<u8> = place(&plane, Placement { shift, flipped }).collect();
            assert_eq!(placed.len(), PLANE);
            placed.iter().position(|p| *p == 9).map(|at| (at / SIDE, at % SIDE))
        };
        assert_eq!(moved((0, 0), false), Some((5, 2)));
        assert_eq!(moved((3, -1), false), Some((8, 1)));
        assert_eq!(moved((0, -3), false), None, "moved out of the picture");
        assert_eq!(moved((-1, 4), true), Some((4, SIDE - 1 - 6)));
    }

    #[test]
    fn batches_are_normalized_by_the_training_images() {
        let pixels = (0..2 * PLANE).map(|i| if i % 2 == 0 { 0 } else { 255 }).collect();
        let train = Images::new(1, pixels, vec![0, 1]);
        let set = DataSet::new("t", train.clone(), train, false);
        assert_eq!(set.statistics[0], (0.5, 0.5));
        let batch = set.test_batches(2).next().unwrap();
        assert!(batch.pixels.iter().all(|p| p.abs() == 1.0));
    }
}
