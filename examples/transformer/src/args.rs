//! The command line.

use std::path::PathBuf;

use examples_shared::{
    command::Command,
    options::{self, at_least, number},
};
use models::mode::RunMode;

/// The options.
const KNOWN: &str = "--text, --steps, --batch, --accumulate, --mode, --dropout, --seed, --save, --load";

/// What `--help` prints.
pub const HELP: &str = "\
Trains a character model on Latin text with activation checkpointing, samples from it, and prints what
each mode costs in memory and time.

cargo run --release -p transformer -- [OPTIONS]

  --text FILE       train on this UTF-8 text instead of the first book of De finibus
  --steps N         optimizer steps (800; 0 only samples and measures)
  --batch N         sequences a batch (16)
  --accumulate N    batches whose gradients are added up before a step (1)
  --mode MODE       plain, keep, checkpoint or sequential:K: train and measure in this mode alone
                    (by default: train with checkpoint, then measure plain, keep, checkpoint, sequential:3)
  --dropout P       probability of dropping a value in training, 0 or more and below 1 (0)
  --seed N          of weights, batches and samples (0)
  --save FILE       keep the trained weights as safetensors
  --load FILE       start from such weights
  --help            this text
";

/// The options, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    pub text: Option<PathBuf>,
    pub steps: usize,
    pub batch: usize,
    pub accumulate: usize,
    pub mode: Option<RunMode>,
    pub dropout: f64,
    pub seed: u64,
    pub save: Option<PathBuf>,
    pub load: Option<PathBuf>,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            text: None,
            steps: 800,
            batch: 16,
            accumulate: 1,
            mode: None,
            dropout: 0.0,
            seed: 0,
            save: None,
            load: None,
        }
    }
}

impl Args {
    /// Reads a command line without the program's name. `blocks` bounds `sequential:K`.
    ///
    /// # Errors
    /// A message for the user, with what is known where a word is not.
    pub fn parse<I>(words: I, blocks: usize) -> Result<Command<Args>, String>
    where
        I: IntoIterator,
        I::Item: Into<std::ffi::OsString>,
    {
        options::read(words, KNOWN, Self::default(), |args, option, value| {
            match option {
                "text" => args.text = Some(value()?.into()),
                "steps" => args.steps = number(option, &value()?)?,
                "batch" => args.batch = at_least(1, option, &value()?)?,
                "accumulate" => args.accumulate = at_least(1, option, &value()?)?,
                "mode" => args.mode = Some(mode(&value()?, blocks)?),
                "dropout" => args.dropout = probability(option, &value()?)?,
                "seed" => args.seed = number(option, &value()?)?,
                "save" => args.save = Some(value()?.into()),
                "load" => args.load = Some(value()?.into()),
                _ => return Ok(false),
            }
            Ok(true)
        })
    }
}

fn probability(option: &str, value: &std::ffi::OsStr) -> Result<f64, String> {
    let p: f64 = number(option, value)?;
    if (0.0..1.0).contains(&p) { Ok(p) } else { Err(format!("--{option} takes 0 or more and less than 1, not {p}")) }
}

fn mode(value: &std::ffi::OsStr, blocks: usize) -> Result<RunMode, String> {
    let mode = value.to_string_lossy().parse().map_err(|e: models::mode::UnknownMode| e.to_string())?;
    match mode {
        RunMode::Sequential(k) if k > blocks => {
            Err(format!("`{mode}` asks for {k} segments, and the model has {blocks} blocks to cut"))
        }
        mode => Ok(mode),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command<Args>, String> {
        Args::parse(line.split_whitespace(), 4)
    }

    #[test]
    fn without_options_the_defaults_hold() {
        assert_eq!(parse(""), Ok(Command::Run(Args::default())));
    }

    #[test]
    fn every_option_is_read() {
        let line =
            "--text a --steps 7 --batch=3 --accumulate 2 --mode sequential:4 --dropout 0.25 --seed 9 --save b --load c";
        let args = Args {
            text: Some("a".into()),
            steps: 7,
            batch: 3,
            accumulate: 2,
            mode: Some(RunMode::Sequential(4)),
            dropout: 0.25,
            seed: 9,
            save: Some("b".into()),
            load: Some("c".into()),
        };
        assert_eq!(parse(line), Ok(Command::Run(args)));
        assert_eq!(parse("--help --nonsense"), Ok(Command::Help));
    }

    #[test]
    fn what_is_unknown_is_named_beside_what_is_known() {
        for (line, word) in [("--stpes 4", "`--stpes`"), ("-x", "`-x`"), ("more", "`more`")] {
            let message = parse(line).unwrap_err();
            assert!(message.contains(word), "{message}");
            assert!(message.contains("--text, --steps, --batch"), "{message}");
        }
        let message = parse("--mode fast").unwrap_err();
        assert!(message.contains("`fast`"), "{message}");
        assert!(message.contains("plain, keep, checkpoint, sequential:K"), "{message}");
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for line in [
            "--batch 0",
            "--accumulate 0",
            "--steps -1",
            "--steps many",
            "--dropout 1",
            "--dropout -0.1",
            "--dropout nan",
            "--mode sequential:5",
            "--mode sequential:0",
            "--seed",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
