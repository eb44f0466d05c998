//! MNIST in IDX files: grey images of 28x28, or any other size, scaled to 32x32.
//!
//! Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten digits". An IDX file starts
//! with two zero bytes, the type of its values (8: bytes), the number of its dimensions, and each
//! dimension as a big-endian number of four bytes.

use std::path::{Path, PathBuf};

use crate::data::{first_file, read};
use crate::images::{CLASSES, DataSet, Images};
use crate::resize;

/// The file of images to train on.
pub const TRAIN_IMAGES: &str = "train-images-idx3-ubyte";
const TRAIN_LABELS: &str = "train-labels-idx1-ubyte";
const TEST_IMAGES: &str = "t10k-images-idx3-ubyte";
const TEST_LABELS: &str = "t10k-labels-idx1-ubyte";
const BYTES: u8 = 8;

/// The file of this name in `folder`, however its name was unpacked.
pub fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    first_file(folder, [name.to_owned(), name.replace("-idx", ".idx"), format!("{name}.gz")])
}

/// The images in `folder`.
///
/// # Errors
/// A message that names the file that is missing, truncated or something else.
pub fn load(folder: &Path) -> Result<DataSet, String> {
    let train = part(folder, TRAIN_IMAGES, TRAIN_LABELS)?;
    let test = part(folder, TEST_IMAGES, TEST_LABELS)?;
    Ok(DataSet::new("MNIST", train, test, false))
}

fn part(folder: &Path, images: &str, labels: &str) -> Result<Images, String> {
    let found = |name| find(folder, name).ok_or_else(|| format!("there is no {name} in {}", folder.display()));
    let (images, labels) = (found(images)?, found(labels)?);
    let ([count, rows, columns], bytes) = read_idx::<3>(&images)?;
    let ([label_count], label_bytes) = read_idx::<1>(&labels)?;
    if count != label_count {
        return Err(format!(
            "{} has {count} images and {} has {label_count} labels",
            images.display(),
            labels.display()
        ));
    }
    if let Some(index) = label_bytes.iter().position(|label| usize::from(*label) >= CLASSES) {
        return Err(format!(
            "{}: label {index} is {}, and the highest class is {}",
            labels.display(),
            label_bytes[index],
            CLASSES - 1
        ));
    }
    let mut pixels = Vec::new();
    for image in bytes.chunks(rows * columns) {
        let values: Vec<f32> = image.iter().map(|byte| f32::from(*byte) / 255.0).collect();
        pixels.extend(resize::to_side(&values, rows, columns));
    }
    Ok(Images::new(1, pixels, label_bytes.into_iter().map(usize::from).collect()))
}

/// The dimensions and the bytes of an IDX file of `N` dimensions.
fn read_idx<const N: usize>(path: &Path) -> Result<([usize; N], Vec<u8>), String> {
    let mut bytes = read(path)?;
    let name = path.display();
    if bytes.starts_with(&[0x1F, 0x8B]) {
        return Err(format!("{name} is compressed: unpack it first, with `gunzip`"));
    }
    let magic = [0, 0, BYTES, N as u8];
    if bytes.len() < 4 || bytes[..4] != magic {
        let found = &bytes[..bytes.len().min(4)];
        return Err(format!(
            "{name} is no IDX file of bytes in {N} dimensions: it starts with {found:?}, not {magic:?}"
        ));
    }
    let header = 4 + 4 * N;
    if bytes.len() < header {
        return Err(format!("{name} is truncated: {} bytes, and its header has {header}", bytes.len()));
    }
    let dimensions: [usize; N] = std::array::from_fn(|i| {
        let at = 4 + 4 * i;
        u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
    });
    let expected = dimensions.iter().try_fold(1_usize, |product, n| product.checked_mul(*n));
    match expected {
        Some(0) => return Err(format!("{name} is empty: its dimensions are {dimensions:?}")),
        Some(expected) if expected == bytes.len() - header => {}
        _ => {
            return Err(format!(
                "{name} is truncated or too long: {} bytes follow the header, and its dimensions are {dimensions:?}",
                bytes.len() - header
            ));
        }
    }
    bytes.drain(..header);
    Ok((dimensions, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idx(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
        let mut file = vec![0, 0, BYTES, dimensions.len() as u8];
        file.extend(dimensions.iter().flat_map(|n| n.to_be_bytes()));
        file.extend(bytes);
        file
    }

    /// Three images to train on and two to test with, each of one brightness.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, file: Vec<u8>| std::fs::write(folder.path().join(name), file).unwrap();
        let flat = |values: &[u8]| values.iter().flat_map(|v| [*v; 28 * 28]).collect::<Vec<u8>>();
        write(TRAIN_IMAGES, idx(&[3, 28, 28], &flat(&[10, 20, 30])));
        write(TRAIN_LABELS, idx(&[3], &[7, 8, 9]));
        write("t10k-images.idx3-ubyte", idx(&[2, 28, 28], &flat(&[40, 50])));
        write(TEST_LABELS, idx(&[2], &[1, 0]));
        folder
    }

    #[test]
    fn images_and_labels_are_read_and_scaled() {
        let folder = folder();
        let set = load(folder.path()).unwrap();
        assert_eq!((set.name.as_str(), set.train.len()), ("MNIST", 3));
        let pixels = [40, 50].iter().flat_map(|v| [*v; 1024]).collect();
        assert_eq!(set.test, Images::new(1, pixels, vec![1, 0]));
        assert_eq!(crate::data::load(Some(folder.path())).unwrap().name, "MNIST");
    }

    #[test]
    fn files_that_are_something_else_are_named_with_what_is_wrong() {
        let refused = |name: &str, file: &[u8]| {
            let folder = folder();
            std::fs::write(folder.path().join(name), file).unwrap();
            let error = load(folder.path()).unwrap_err();
            assert!(error.contains(name), "{error}");
            error
        };
        let whole = idx(&[3, 28, 28], &[0; 3 * 28 * 28]);
        assert!(refused(TRAIN_IMAGES, &whole[..whole.len() - 1]).contains("2351 bytes follow the header"));
        assert!(refused(TRAIN_IMAGES, &[&whole[..], &[0]].concat()).contains("2353 bytes"));
        assert!(refused(TRAIN_IMAGES, &whole[..10]).contains("truncated: 10 bytes, and its header has 16"));
        assert!(
            refused(TRAIN_IMAGES, &idx(&[3], &[7, 8, 9])).contains("it starts with [0, 0, 8, 1], not [0, 0, 8, 3]")
        );
        assert!(refused(TRAIN_IMAGES, &[]).contains("starts with []"));
        assert!(refused(TRAIN_IMAGES, &[0x1F, 0x8B, 8, 0]).contains("gunzip"));
        assert!(refused(TRAIN_IMAGES, &idx(&[0, 28, 28], &[])).contains("is empty"));
        assert!(refused(TRAIN_IMAGES, &idx(&[u32::MAX, u32::MAX, u32::MAX], &[])).contains("0 bytes follow"));
        assert!(refused(TRAIN_LABELS, &idx(&[2], &[7, 8])).contains("has 3 images"));
        assert!(refused(TRAIN_LABELS, &idx(&[3], &[7, 8, 10])).contains("label 2 is 10"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let folder = folder();
        std::fs::remove_file(folder.path().join(TEST_LABELS)).unwrap();
        assert!(load(folder.path()).unwrap_err().starts_with("there is no t10k-labels-idx1-ubyte in "));
    }
}
