//! The command line.

use std::path::PathBuf;

use examples_shared::{
    command::Command,
    options::{self, above_zero, at_least, number},
};
use models::mode::{RunMode, Selectable};

/// The options.
const KNOWN: &str = "--steps, --batch, --lr, --seed, --mode, --compare, --threads, --overlays, --quick";

/// What `--help` prints.
pub const HELP: &str = "\
Trains a U-Net to find circles, rectangles and triangles in noisy images of 64x64, with its encoder and
decoder checkpointed, prints what each mode costs in memory and time, and draws what the network sees.

cargo run --release -p unet -- [OPTIONS]

  --steps N         optimizer steps (400; 0 only measures)
  --batch N         images a batch (8)
  --lr X            learning rate of Adam (0.003)
  --seed N          of weights and images (0)
  --mode MODE       plain, keep, checkpoint or selective: train and measure in this mode alone
                    (by default: train with checkpoint, then measure plain, checkpoint, selective, which
                    recomputes every level but the decoder's last)
  --compare N       steps from new weights that each mode is measured over (20; 0 measures nothing)
  --threads N       of the CPU (all cores)
  --overlays DIR    write pictures of some test images with true and found shapes (target/unet-overlays)
  --quick           a look at everything within seconds
  --help            this text
";

/// The options, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    pub steps: usize,
    pub batch: usize,
    pub rate: f64,
    pub seed: u64,
    pub mode: Option<Selectable>,
    pub compare: usize,
    pub threads: Option<usize>,
    pub overlays: PathBuf,
    pub quick: bool,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            steps: 400,
            batch: 8,
            rate: 3e-3,
            seed: 0,
            mode: None,
            compare: 20,
            threads: None,
            overlays: "target/unet-overlays".into(),
            quick: false,
        }
    }
}

impl Args {
    /// Reads a command line without the program's name.
    ///
    /// # Errors
    /// A message for the user, with what is known where a word is not.
    pub fn parse<I>(words: I) -> Result<Command<Args>, String>
    where
        I: IntoIterator,
        I::Item: Into<std::ffi::OsString>,
    {
        options::read(words, KNOWN, Self::default(), |args, option, value| {
            match option {
                "steps" => args.steps = number(option, &value()?)?,
                "batch" => args.batch = at_least(1, option, &value()?)?,
                "lr" => args.rate = above_zero(option, &value()?)?,
                "seed" => args.seed = number(option, &value()?)?,
                "mode" => args.mode = Some(mode(&value()?)?),
                "compare" => args.compare = number(option, &value()?)?,
                "threads" => args.threads = Some(at_least(1, option, &value()?)?),
                "overlays" => args.overlays = value()?.into(),
                "quick" => args.quick = true,
                _ => return Ok(false),
            }
            Ok(true)
        })
    }
}

fn mode(value: &std::ffi::OsStr) -> Result<Selectable, String> {
    match value.to_string_lossy().parse().map_err(|e: models::mode::UnknownMode| e.to_string())? {
        Selectable::All(mode @ RunMode::Sequential(_)) => Err(format!(
            "`{mode}` cuts a chain of layers, and a U-Net is none; take plain, keep, checkpoint or selective"
        )),
        mode => Ok(mode),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command<Args>, String> {
        Args::parse(line.split_whitespace())
    }

    #[test]
    fn without_options_the_defaults_hold() {
        assert_eq!(parse(""), Ok(Command::Run(Args::default())));
    }

    #[test]
    fn every_option_is_read() {
        let line = "--steps 7 --batch=3 --lr 0.5 --seed 9 --mode keep --compare 2 --threads 1 --overlays o --quick";
        let args = Args {
            steps: 7,
            batch: 3,
            rate: 0.5,
            seed: 9,
            mode: Some(Selectable::All(RunMode::Keep)),
            compare: 2,
            threads: Some(1),
            overlays: "o".into(),
            quick: true,
        };
        assert_eq!(parse(line), Ok(Command::Run(args)));
        assert_eq!(parse("--help --nonsense"), Ok(Command::Help));
    }

    #[test]
    fn what_is_unknown_is_named_beside_what_is_known() {
        for (line, word, known) in [
            ("--step 4", "`--step`", "--steps, --batch, --lr"),
            ("-x", "`-x`", "--steps, --batch, --lr"),
            ("more", "`more`", "--steps, --batch, --lr"),
            ("--mode fast", "`fast`", "plain, keep, checkpoint, selective"),
            ("--mode sequential:3", "`sequential:3`", "plain, keep, checkpoint or selective"),
        ] {
            let message = parse(line).unwrap_err();
            assert!(message.contains(word) && message.contains(known), "{message}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for line in ["--batch 0", "--threads 0", "--steps -1", "--steps many", "--lr 0", "--lr nan", "--seed"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
