//! Weights in files: safetensors with the model's tensors by name and the vocabulary beside them.

use std::convert::Infallible;
use std::path::Path;

use ::safetensors::tensor::{Dtype as FileDtype, SafeTensorError, SafeTensors, TensorView, serialize_to_file};
use dfdx::prelude::*;

use crate::text::Vocabulary;

/// The characters' code points, in the order of their tokens. dfdx reads past it.
const VOCABULARY: &str = "vocabulary";

/// Writes the model's tensors and the vocabulary.
///
/// # Errors
/// A message that names the file.
pub fn save<M: TensorCollection<f32, AutoDevice>>(
    path: &Path,
    model: &M,
    vocabulary: &Vocabulary,
) -> Result<(), String> {
    let failed = |e: SafeTensorError| {
        let reason = match e {
            SafeTensorError::IoError(e) => e.to_string(),
            other => other.to_string(),
        };
        format!("cannot write {}: {reason}", path.display())
    };
    model.save_safetensors(path).map_err(failed)?;
    let bytes = std::fs::read(path).map_err(|e| failed(e.into()))?;
    let file = SafeTensors::deserialize(&bytes).map_err(failed)?;

    let code_points: Vec<u8> = vocabulary.characters().iter().flat_map(|c| u32::from(*c).to_le_bytes()).collect();
    let shape = vec![vocabulary.characters().len()];
    let code_points = TensorView::new(FileDtype::U32, shape, &code_points).map_err(failed)?;
    let mut tensors = file.tensors();
    tensors.push((VOCABULARY.to_owned(), code_points));
    serialize_to_file(tensors, &None, path).map_err(failed)
}

/// Loads the model's tensors and returns the vocabulary. Everything is checked before anything is
/// loaded.
///
/// # Errors
/// A message that names the file, and the first tensor that does not fit with both shapes.
pub fn load<M: TensorCollection<f32, AutoDevice>>(path: &Path, model: &mut M) -> Result<Vocabulary, String> {
    let name = path.display();
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {name}: {e}"))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|e| format!("{name} is not a safetensors file: {e}"))?;
    for expected in tensors_of(model) {
        expected.check(&file).map_err(|e| format!("{name}: {e}"))?;
    }
    let vocabulary = read_vocabulary(&file).map_err(|e| format!("{name}: {e}"))?;
    model.load_safetensors(path).map_err(|e| format!("cannot load {name}: {e:?}"))?;
    Ok(vocabulary)
}

/// The tensors whose bits differ between two models, by name.
pub fn differences<M: TensorCollection<f32, AutoDevice>>(a: &M, b: &M) -> Vec<String> {
    tensors_of(a).into_iter().zip(tensors_of(b)).filter(|(a, b)| a.bits != b.bits).map(|(a, _)| a.name).collect()
}

fn read_vocabulary(file: &SafeTensors<'_>) -> Result<Vocabulary, String> {
    let tensor = file
        .tensor(VOCABULARY)
        .map_err(|_| format!("there is no tensor `{VOCABULARY}`: these weights are of another program"))?;
    if tensor.dtype() != FileDtype::U32 {
        return Err(format!("tensor `{VOCABULARY}` is {:?}, not U32", tensor.dtype()));
    }
    let characters: Option<Vec<char>> =
        tensor.data().chunks_exact(4).map(|b| char::from_u32(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect();
    match characters {
        Some(characters) if !characters.is_empty() => Ok(Vocabulary::from_characters(characters)),
        _ => Err(format!("tensor `{VOCABULARY}` does not hold characters")),
    }
}

/// What a file must hold for one tensor or scalar of a model.
#[derive(Debug)]
struct Expected {
    name: String,
    dtype: FileDtype,
    shape: Vec<usize>,
    bits: Vec<u32>,
}

impl Expected {
    fn check(&self, file: &SafeTensors<'_>) -> Result<(), String> {
        let name = &self.name;
        let found = file.tensor(name).map_err(|_| format!("there is no tensor `{name}`"))?;
        if found.shape() != self.shape {
            return Err(format!(
                "tensor `{name}` is {:?} in the file and {:?} in the model",
                found.shape(),
                self.shape
            ));
        }
        if found.dtype() != self.dtype {
            return Err(format!(
                "tensor `{name}` is {:?} in the file and {:?} in the model",
                found.dtype(),
                self.dtype
            ));
        }
        Ok(())
    }
}

fn tensors_of<M: TensorCollection<f32, AutoDevice>>(model: &M) -> Vec<Expected> {
    let mut all = Inventory(Vec::new());
    let walked = M::iter_tensors(&mut RecursiveWalker { m: (model, String::new()), f: &mut all });
    match walked {
        Ok(_) => all.0,
        Err(never) => match never {},
    }
}

struct Inventory(Vec<Expected>);

impl TensorVisitor<f32, AutoDevice> for Inventory {
    type Viewer = (ViewTensorRef, ViewTensorName);
    type Err = Infallible;
    type E2 = f32;
    type D2 = AutoDevice;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, f32, AutoDevice>,
        (tensor, name): (&Tensor<S, f32, AutoDevice>, String),
    ) -> Result<Option<Tensor<S, f32, AutoDevice>>, Infallible> {
        self.0.push(Expected {
            name,
            dtype: FileDtype::F32,
            shape: tensor.shape().concrete().into(),
            bits: tensor.as_vec().into_iter().map(f32::to_bits).collect(),
        });
        Ok(None)
    }

    fn visit_scalar<N: num_traits::NumCast>(
        &mut self,
        _: ScalarOptions<N>,
        (_, name): (&N, String),
    ) -> Result<Option<N>, Infallible> {
        // dfdx keeps every scalar as one f64.
        self.0.push(Expected { name, dtype: FileDtype::F64, shape: Vec::new(), bits: Vec::new() });
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Small = (Linear<3, 2>, LayerNorm1D<2>);
    type Wide = (Linear<4, 2>, LayerNorm1D<2>);

    fn built<B: BuildOnDevice<AutoDevice, f32>>(seed: u64) -> B::Built {
        B::build_on_device(&AutoDevice::seed_from_u64(seed))
    }

    fn saved(dir: &tempfile::TempDir) -> std::path::PathBuf {
        let path = dir.path().join("weights.safetensors");
        save(&path, &built::<Small>(1), &Vocabulary::of_text("aβ", 9)).unwrap();
        path
    }

    #[test]
    fn what_is_saved_loads_to_the_bit() {
        let dir = tempfile::tempdir().unwrap();
        let path = saved(&dir);
        let mut other = built::<Small>(2);
        assert_eq!(differences(&other, &built::<Small>(1)), ["0.weight", "0.bias"]);
        assert_eq!(load(&path, &mut other), Ok(Vocabulary::of_text("aβ", 9)));
        assert!(differences(&other, &built::<Small>(1)).is_empty());
    }

    #[test]
    fn another_shape_is_named_with_both_and_nothing_is_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let mut wide = built::<Wide>(1);
        let error = load(&saved(&dir), &mut wide).unwrap_err();
        assert!(
            error.ends_with("weights.safetensors: tensor `0.weight` is [2, 3] in the file and [2, 4] in the model"),
            "{error}"
        );
        assert!(differences(&wide, &built::<Wide>(1)).is_empty());
    }

    #[test]
    fn files_that_are_no_weights_are_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut model = built::<Small>(1);
        let missing = dir.path().join("missing.st");
        assert!(load(&missing, &mut model).unwrap_err().contains("missing.st"));

        let text = dir.path().join("text.st");
        std::fs::write(&text, "arma virumque cano").unwrap();
        let error = load(&text, &mut model).unwrap_err();
        assert!(error.contains("text.st is not a safetensors file"), "{error}");

        let truncated = dir.path().join("truncated.st");
        let whole = std::fs::read(saved(&dir)).unwrap();
        std::fs::write(&truncated, &whole[..whole.len() - 4]).unwrap();
        assert!(load(&truncated, &mut model).unwrap_err().contains("truncated.st"));

        let foreign = dir.path().join("foreign.st");
        model.save_safetensors(&foreign).unwrap();
        let error = load(&foreign, &mut model).unwrap_err();
        assert!(error.contains("no tensor `vocabulary`"), "{error}");
    }
}
