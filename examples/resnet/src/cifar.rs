//! CIFAR-10 in its binary version: six files of records, a label and 32x32 pixels in three planes.
//!
//! A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.

use std::path::Path;

use crate::data::read;
use crate::images::{CHANNELS, CLASSES, DataSet, Images, SIDE};

/// The folder that the archive unpacks into.
pub const FOLDER: &str = "cifar-10-batches-bin";
/// The files to train on.
pub const TRAIN: [&str; 5] =
    ["data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"];
/// The file to test with.
const TEST: &str = "test_batch.bin";
const PIXELS: usize = CHANNELS * SIDE * SIDE;
const RECORD: usize = 1 + PIXELS;

/// The images in `folder`.
///
/// # Errors
/// A message that names the file that is missing, truncated or something else.
pub fn load(folder: &Path) -> Result<DataSet, String> {
    let train = records(folder, &TRAIN)?;
    let test = records(folder, &[TEST])?;
    Ok(DataSet::new("CIFAR-10", train, test, true))
}

fn records(folder: &Path, names: &[&str]) -> Result<Images, String> {
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for name in names {
        let path = folder.join(name);
        let bytes = read(&path)?;
        let name = path.display();
        if bytes.is_empty() || bytes.len() % RECORD != 0 {
            return Err(format!(
                "{name} is truncated or not of CIFAR-10's binary version: {} bytes are no whole number of records of \
                 {RECORD} bytes",
                bytes.len()
            ));
        }
        for (index, record) in bytes.chunks(RECORD).enumerate() {
            let label = usize::from(record[0]);
            if label >= CLASSES {
                return Err(format!("{name} is not of CIFAR-10: record {index} has label {label}, the highest is 9"));
            }
            labels.push(label);
            pixels.extend_from_slice(&record[1..]);
        }
    }
    Ok(Images::new(CHANNELS, pixels, labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two records a file; a pixel of plane `c` is `10 c + label`.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (n, name) in TRAIN.iter().chain([&TEST]).enumerate() {
            let mut bytes = Vec::new();
            for label in [n as u8, 9 - n as u8] {
                bytes.push(label);
                bytes.extend((0..PIXELS).map(|i| 10 * (i / (SIDE * SIDE)) as u8 + label));
            }
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }

    #[test]
    fn records_become_images_in_their_order() {
        let folder = folder();
        let set = load(folder.path()).unwrap();
        assert_eq!((set.train.len(), set.test.len()), (10, 2));
        let test = set.test_batches(8).next().unwrap();
        assert_eq!(test.labels, [5, 4]);
        let pixels: Vec<u8> =
            [5_u8, 4].iter().flat_map(|l| (0..PIXELS).map(move |i| 10 * (i / 1024) as u8 + l)).collect();
        assert_eq!(set.test, Images::new(3, pixels, vec![5, 4]));
        // In the archive's own folder too.
        let outside = tempfile::tempdir().unwrap();
        std::fs::rename(folder.path(), outside.path().join(FOLDER)).unwrap();
        assert_eq!(crate::data::load(Some(outside.path())).unwrap().name, "CIFAR-10");
    }

    #[test]
    fn files_that_are_not_whole_are_named() {
        let whole = folder();
        let path = whole.path().join(TRAIN[3]);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let error = load(whole.path()).unwrap_err();
        assert!(error.contains(TRAIN[3]) && error.contains("6145 bytes"), "{error}");

        std::fs::write(&path, [&[10], &bytes[1..]].concat()).unwrap();
        let error = load(whole.path()).unwrap_err();
        assert!(error.contains(TRAIN[3]) && error.contains("record 0 has label 10"), "{error}");

        std::fs::write(&path, []).unwrap();
        assert!(load(whole.path()).unwrap_err().contains("0 bytes"));

        std::fs::remove_file(&path).unwrap();
        let error = load(whole.path()).unwrap_err();
        assert!(error.starts_with("cannot read") && error.contains(TRAIN[3]), "{error}");
    }
}
