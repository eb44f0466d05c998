//! What the macros cost the compiler: `cargo check` of a sequence of distinct layers.
//!
//! A scratch crate with a target folder of its own declares a `checkpoint_sequential!` struct of N
//! layers, no two of one type, and calls all four of its forwards, so that every trait is solved.
//! Its dependencies are built before the clock starts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::step::median;

const LAYERS: [usize; 3] = [25, 50, 100];
const RUNS: usize = 3;

/// Median seconds for each number of layers.
///
/// # Errors
/// The compiler's output, where the scratch crate does not compile; an I/O error's text.
pub fn measure() -> Result<Value, String> {
    let scratch = Scratch::new()?;
    eprintln!("building the dependencies");
    scratch.check(&declaration(1, 0))?;
    let mut seconds = Map::new();
    for layers in LAYERS {
        let mut runs =
            (0..RUNS).map(|run| scratch.check(&declaration(layers, run))).collect::<Result<Vec<f64>, String>>()?;
        let median = (median(&mut runs) * 100.0).round() / 100.0;
        eprintln!("{layers} layers: {median} s");
        seconds.insert(layers.to_string(), median.into());
    }
    Ok(json!({ "seconds": seconds }))
}

/// The source of a crate with `layers` layers. `run` makes its text differ, so that cargo checks
/// it again.
fn declaration(layers: usize, run: usize) -> String {
    let mut source = format!(
        "//! {layers} layers, run {run}.
use ckpt_runtime::prelude::*;

checkpoint_sequential! {{ segments = {segments}; pub struct Deep {{\n",
        segments = layers.div_ceil(10)
    );
    for layer in 0..layers {
        writeln!(source, "    layer{layer}: Linear<{}, {}>,", layer + 1, layer + 2).expect("a string takes all");
    }
    write!(
        source,
        "}} }}

type Net = <Deep as BuildOnDevice<Cpu, f32>>::Built;
type X<T> = Tensor<(usize, Const<1>), f32, Cpu, T>;
type Y<T> = Tensor<(usize, Const<{outputs}>), f32, Cpu, T>;
type Taped = OwnedTape<f32, Cpu>;

pub fn infer(net: &Net, x: X<NoneTape>) -> Y<NoneTape> {{ net.forward(x) }}
pub fn infer_mut(net: &mut Net, x: X<NoneTape>) -> Y<NoneTape> {{ net.forward_mut(x) }}
pub fn train(net: &Net, x: X<Taped>) -> Y<Taped> {{ net.forward(x) }}
pub fn train_mut(net: &mut Net, x: X<Taped>) -> Y<Taped> {{ net.forward_mut(x) }}
",
        outputs = layers + 1
    )
    .expect("a string takes all");
    source
}

/// A crate in a temporary folder.
struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace")?;
        let runtime = workspace.join("ckpt-runtime");
        let manifest = format!(
            "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n
[dependencies]\nckpt-runtime = {{ path = {runtime:?} }}\n
[workspace]\n"
        );
        let scratch = Self { folder };
        scratch.write("Cargo.toml", &manifest)?;
        // The same versions as the workspace's, all of them downloaded.
        let lock = std::fs::read_to_string(workspace.join("Cargo.lock"))
            .map_err(|e| format!("cannot read the workspace's Cargo.lock: {e}"))?;
        scratch.write("Cargo.lock", &lock)?;
        Ok(scratch)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.path(file);
        path.parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))
    }

    /// Seconds that `cargo check` takes for this source.
    fn check(&self, source: &str) -> Result<f64, String> {
        self.write("src/lib.rs", source)?;
        let start = Instant::now();
        let output = Command::new(env!("CARGO"))
            .args(["check", "--offline", "--quiet"])
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", self.path("target"))
            // A rebuild that reuses what it checked before would measure the cache.
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("RUSTFLAGS")
            .output()
            .map_err(|e| format!("cannot run cargo: {e}"))?;
        let elapsed = start.elapsed().as_secs_f64();
        if output.status.success() {
            Ok(elapsed)
        } else {
            Err(format!("the scratch crate does not compile:\n{}", String::from_utf8_lossy(&output.stderr)))
        }
    }
}
