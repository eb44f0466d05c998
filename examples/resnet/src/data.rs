//! Which images to train on: the digits that are always there, or files in a folder.

use std::path::{Path, PathBuf};

use crate::images::DataSet;
use crate::{cifar, digits, mnist};

/// The images in `folder`, or the UCI digits.
///
/// # Errors
/// A message that names the folder or the file and says what is wrong with it.
pub fn load(folder: Option<&Path>) -> Result<DataSet, String> {
    let Some(folder) = folder else {
        return Ok(digits::load());
    };
    if !folder.is_dir() {
        return Err(format!("{} is not a folder", folder.display()));
    }
    // The archive of CIFAR-10 unpacks into a folder of its own.
    for inside in [folder.to_owned(), folder.join(cifar::FOLDER)] {
        if cifar::TRAIN.iter().any(|name| inside.join(name).is_file()) {
            return cifar::load(&inside);
        }
    }
    if mnist::find(folder, mnist::TRAIN_IMAGES).is_some() {
        return mnist::load(folder);
    }
    Err(format!(
        "{} holds neither CIFAR-10 (binary version: {}, ..) nor MNIST (unpacked: {}, ..)",
        folder.display(),
        cifar::TRAIN[0],
        mnist::TRAIN_IMAGES
    ))
}

/// Reads a whole file.
///
/// # Errors
/// A message that names the file.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

/// The first of some names that is a file in `folder`.
pub fn first_file(folder: &Path, names: impl IntoIterator<Item = String>) -> Option<PathBuf> {
    names.into_iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_images_says_what_was_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let error = load(Some(folder.path())).unwrap_err();
        assert!(error.contains("data_batch_1.bin") && error.contains("train-images-idx3-ubyte"), "{error}");
        let missing = folder.path().join("missing");
        assert!(load(Some(&missing)).unwrap_err().ends_with("missing is not a folder"));
    }

    #[test]
    fn without_a_folder_the_digits_come() {
        assert_eq!(load(None).unwrap().name, "UCI digits");
    }
}
