//! The command line.

use lexopt::prelude::*;
use models::mode::{KNOWN_MODES, RunMode};

/// What `--help` prints.
pub const HELP: &str = "\
Measures one thing and prints one JSON line as its last.

cargo run --release -p benches -- MODEL MODE [--batch N] [--steps N] [--threads N]
cargo run --release -p benches -- region      microseconds that a region adds to what is inside it
cargo run --release -p benches -- compile     seconds of `cargo check` for 25, 50 and 100 distinct layers

  MODEL        gpt
  MODE         plain, keep, checkpoint, sequential:K (K segments)
  --batch N    sequences a batch (8)
  --steps N    steps that are counted (7)
  --threads N  for matrix products (all cores)
";

const KNOWN: &str = "gpt, region, compile";

/// A model's measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Args {
    pub mode: RunMode,
    pub batch: Option<usize>,
    pub steps: usize,
    pub threads: usize,
}

/// What the command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Gpt(Args),
    Region,
    Compile,
    Help,
}

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
    let (mut batch, mut steps) = (None, 7);
    let mut threads = std::thread::available_parallelism().map_or(1, usize::from);
    while let Some(word) = parser.next().map_err(|e| e.to_string())? {
        match word {
            Value(word) => positional.push(word.to_string_lossy().into_owned()),
            Long("batch") => batch = Some(count("batch", &mut parser)?),
            Long("steps") => steps = count("steps", &mut parser)?,
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
        ["gpt", mode] => Ok(Command::Gpt(Args {
            mode: mode.parse().map_err(|e: models::mode::UnknownMode| e.to_string())?,
            batch,
            steps,
            threads,
        })),
        ["region"] => Ok(Command::Region),
        ["compile"] => Ok(Command::Compile),
        ["gpt"] => Err(format!("a mode is missing; the known ones are {KNOWN_MODES}")),
        [] => Err(format!("nothing to measure is given; the known ones are {KNOWN}")),
        ["gpt" | "region" | "compile", .., extra] => Err(format!("unexpected argument `{extra}`")),
        [model, ..] => Err(format!("unknown model `{model}`; the known ones are {KNOWN}")),
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
        assert_eq!(command, Ok(Command::Gpt(args)));
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
            ("gpt plain --steps 0", "`0`", "--steps"),
        ] {
            let message = line(words).unwrap_err();
            assert!(message.contains(unknown) && message.contains(known), "{message}");
        }
    }
}
