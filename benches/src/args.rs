//! The command line.

use lexopt::prelude::*;
use models::mode::{KNOWN_MODES, RunMode};

/// What `--help` prints.
pub const HELP: &str = "\
Measures one thing and prints one JSON line as its last.

cargo run --release -p benches -- MODEL MODE [--batch N] [--steps N] [--threads N]
cargo run --release -p benches -- op NAME [--steps N] [--threads N]
cargo run --release -p benches -- region      microseconds that a region adds to what is inside it
cargo run --release -p benches -- compile     seconds of `cargo check` for 25, 50 and 100 distinct layers

  MODEL        gpt, resnet18, resnet50, unet
  MODE         plain, keep, checkpoint, sequential:K (K segments; not of unet, which is no chain)
  NAME         a layer, alone: forward and backward; one that is not known lists those that are
  --batch N    sequences or images a batch (8; resnet18 32, resnet50 16)
  --steps N    steps that are counted (7; of a layer 31)
  --threads N  for matrix products (all cores)
";

const KNOWN: &str = "gpt, resnet18, resnet50, unet, op, region, compile";

/// The models that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    Gpt,
    ResNet18,
    ResNet50,
    UNet,
}

impl Model {
    fn named(name: &str) -> Option<Self> {
        match name {
            "gpt" => Some(Self::Gpt),
            "resnet18" => Some(Self::ResNet18),
            "resnet50" => Some(Self::ResNet50),
            "unet" => Some(Self::UNet),
            _ => None,
        }
    }
}

/// A model's measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Args {
    pub mode: RunMode,
    pub batch: Option<usize>,
    pub steps: usize,
    pub threads: usize,
}

/// A layer's measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpArgs {
    pub name: String,
    pub steps: usize,
    pub threads: usize,
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Model(Model, Args),
    Op(OpArgs),
    Region,
    Compile,
    Help,
}

const MODEL_STEPS: usize = 7;
/// A layer takes less time than the clock's noise would forgive in a few steps.
const OP_STEPS: usize = 31;

/// Reads a command line without the program's name.
///
/// # Errors
/// A message for the user, with what is known where a word is not.
pub fn parse<I>(words: I) -> Result<Command, String>
where
    I: IntoIterator,
    I::Item: Into<std::ffi::OsString>,
{
    let mut parser = lexopt::Parser::from_args(words);
    let mut positional: Vec<String> = Vec::new();
    let (mut batch, mut steps) = (None, None);
    let mut threads = std::thread::available_parallelism().map_or(1, usize::from);
    while let Some(word) = parser.next().map_err(|e| e.to_string())? {
        match word {
            Value(word) => positional.push(word.to_string_lossy().into_owned()),
            Long("batch") => batch = Some(count("batch", &mut parser)?),
            Long("steps") => steps = Some(count("steps", &mut parser)?),
            Long("threads") => threads = count("threads", &mut parser)?,
            Long("help") => return Ok(Command::Help),
            other => {
                return Err(format!(
                    "{}; the known options are --batch, --steps, --threads, --help",
                    other.unexpected()
                ));
            }
        }
    }
    let words: Vec<&str> = positional.iter().map(String::as_str).collect();
    match words[..] {
        [] => Err(format!("nothing to measure is given; the known ones are {KNOWN}")),
        ["region"] => Ok(Command::Region),
        ["compile"] => Ok(Command::Compile),
        ["op"] => Err(format!("the name of a layer is missing; the known ones are {}", crate::op::names())),
        ["op", name] if batch.is_none() => {
            Ok(Command::Op(OpArgs { name: name.to_owned(), steps: steps.unwrap_or(OP_STEPS), threads }))
        }
        ["op", _] => Err("--batch is of the models: a layer's shape is fixed".to_owned()),
        ["region" | "compile" | "op", .., extra] => Err(format!("unexpected argument `{extra}`")),
        [model, ref rest @ ..] => {
            let Some(known) = Model::named(model) else {
                return Err(format!("unknown model `{model}`; the known ones are {KNOWN}"));
            };
            match *rest {
                [] => Err(format!("a mode is missing; the known ones are {KNOWN_MODES}")),
                [mode] => {
                    let mode = mode.parse().map_err(|e: models::mode::UnknownMode| e.to_string())?;
                    if known == Model::UNet && matches!(mode, RunMode::Sequential(_)) {
                        return Err(format!("unet has no mode `{mode}`: its skips make it no chain to cut"));
                    }
                    Ok(Command::Model(known, Args { mode, batch, steps: steps.unwrap_or(MODEL_STEPS), threads }))
                }
                [.., extra] => Err(format!("unexpected argument `{extra}`")),
            }
        }
    }
}

fn count(option: &str, parser: &mut lexopt::Parser) -> Result<usize, String> {
    let value = parser.value().map_err(|e| e.to_string())?;
    match value.to_str().and_then(|v| v.parse().ok()) {
        Some(n) if n > 0 => Ok(n),
        _ => Err(format!("--{option} takes a number of 1 or more, not `{}`", value.to_string_lossy())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> Result<Command, String> {
        parse(words.split_whitespace())
    }

    #[test]
    fn a_model_takes_a_mode_and_options() {
        let command = line("gpt sequential:3 --batch 2 --steps 5 --threads 1");
        let args = Args { mode: RunMode::Sequential(3), batch: Some(2), steps: 5, threads: 1 };
        assert_eq!(command, Ok(Command::Model(Model::Gpt, args)));
        assert!(matches!(
            line("resnet50 plain"),
            Ok(Command::Model(Model::ResNet50, Args { batch: None, steps: 7, .. }))
        ));
        let op = OpArgs { name: "linear".to_owned(), steps: 31, threads: 2 };
        assert_eq!(line("op linear --threads 2"), Ok(Command::Op(op)));
        assert_eq!(line("region"), Ok(Command::Region));
        assert_eq!(line("compile"), Ok(Command::Compile));
    }

    #[test]
    fn what_is_unknown_is_named_beside_what_is_known() {
        for (words, unknown, known) in [
            ("gtp plain", "`gtp`", KNOWN),
            ("gpt fast", "`fast`", KNOWN_MODES),
            ("gpt", "mode is missing", KNOWN_MODES),
            ("", "nothing", KNOWN),
            ("gpt plain --stpes 3", "--stpes", "--batch, --steps, --threads"),
            ("gpt plain more", "`more`", ""),
            ("op", "name of a layer is missing", "layer-norm"),
            ("op linear --batch 2", "--batch", "fixed"),
            ("op linear more", "`more`", ""),
            ("unet sequential:2", "`sequential:2`", "no chain"),
            ("gpt plain --steps 0", "`0`", "--steps"),
        ] {
            let message = line(words).unwrap_err();
            assert!(message.contains(unknown) && message.contains(known), "{message}");
        }
    }
}
