//! The command line.

use std::path::PathBuf;

use examples_shared::{
    command::Command,
    options::{self, above_zero, at_least, number},
};
use models::mode::Selectable;

/// The options.
const KNOWN: &str =
    "--data, --epochs, --batch, --optimizer, --lr, --seed, --mode, --compare, --threads, --chart, --quick";

/// What `--help` prints.
pub const HELP: &str = "\
Trains ResNet-18 on images of 32x32 with activation checkpointing, and prints and draws what each mode
costs in memory and time.

cargo run --release -p resnet -- [OPTIONS]

  --data DIR        train on the files of CIFAR-10 (binary version) or MNIST (IDX, unpacked) in this folder
                    instead of the UCI digits
  --epochs N        passes over the training images (5; 0 only measures)
  --batch N         images a batch (32)
  --optimizer NAME  sgd (momentum 0.9) or adamw (sgd)
  --lr X            the highest learning rate, reached after the warm-up (0.05 for sgd, 0.002 for adamw)
  --seed N          of weights, order and augmentation (0)
  --mode MODE       plain, keep, checkpoint, selective or sequential:K: train and measure in this mode alone
                    (by default: train with checkpoint, then measure plain, checkpoint, selective)
  --compare N       epochs from new weights that each mode is measured over (1; 0 measures nothing)
  --threads N       of the CPU (all cores)
  --chart FILE      draw the live memory of one step in each mode as SVG (target/resnet-memory.svg)
  --quick           a look at everything within seconds: a few images, one epoch
  --help            this text
";

/// The regions that `sequential:K` cuts: the stem and the blocks.
const LAYERS: usize = 9;

/// How weights follow gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptimizerName {
    /// Stochastic gradient descent with Nesterov's momentum.
    Sgd,
    /// Adam with decoupled weight decay (Loshchilov and Hutter 2019).
    AdamW,
}

/// The options, read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    pub data: Option<PathBuf>,
    pub epochs: usize,
    pub batch: usize,
    pub optimizer: OptimizerName,
    pub lr: Option<f64>,
    pub seed: u64,
    pub mode: Option<Selectable>,
    pub compare: usize,
    pub threads: Option<usize>,
    pub chart: PathBuf,
    pub quick: bool,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            data: None,
            epochs: 5,
            batch: 32,
            optimizer: OptimizerName::Sgd,
            lr: None,
            seed: 0,
            mode: None,
            compare: 1,
            threads: None,
            chart: "target/resnet-memory.svg".into(),
            quick: false,
        }
    }
}

impl Args {
    /// The highest learning rate.
    pub fn peak_rate(&self) -> f64 {
        self.lr.unwrap_or(match self.optimizer {
            OptimizerName::Sgd => 0.05,
            OptimizerName::AdamW => 0.002,
        })
    }

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
                "data" => args.data = Some(value()?.into()),
                "epochs" => args.epochs = number(option, &value()?)?,
                "batch" => args.batch = at_least(2, option, &value()?)?,
                "optimizer" => args.optimizer = optimizer(&value()?)?,
                "lr" => args.lr = Some(above_zero(option, &value()?)?),
                "seed" => args.seed = number(option, &value()?)?,
                "mode" => args.mode = Some(mode(&value()?)?),
                "compare" => args.compare = number(option, &value()?)?,
                "threads" => args.threads = Some(at_least(1, option, &value()?)?),
                "chart" => args.chart = value()?.into(),
                "quick" => args.quick = true,
                _ => return Ok(false),
            }
            Ok(true)
        })
    }
}

fn optimizer(value: &std::ffi::OsStr) -> Result<OptimizerName, String> {
    match value.to_str() {
        Some("sgd") => Ok(OptimizerName::Sgd),
        Some("adamw") => Ok(OptimizerName::AdamW),
        _ => Err(format!("unknown optimizer `{}`; the known ones are sgd, adamw", value.to_string_lossy())),
    }
}

fn mode(value: &std::ffi::OsStr) -> Result<Selectable, String> {
    let mode = value.to_string_lossy().parse().map_err(|e: models::mode::UnknownMode| e.to_string())?;
    match mode {
        Selectable::All(models::mode::RunMode::Sequential(k)) if k > LAYERS => {
            Err(format!("`{mode}` asks for {k} segments, and the model has {LAYERS} layers to cut"))
        }
        mode => Ok(mode),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::mode::RunMode;

    fn parse(line: &str) -> Result<Command<Args>, String> {
        Args::parse(line.split_whitespace())
    }

    #[test]
    fn without_options_the_defaults_hold() {
        assert_eq!(parse(""), Ok(Command::Run(Args::default())));
    }

    #[test]
    fn every_option_is_read() {
        let line = "--data d --epochs 7 --batch=3 --optimizer adamw --lr 0.5 --seed 9 --mode sequential:4 --compare 2 \
                    --threads 1 --chart c.svg --quick";
        let args = Args {
            data: Some("d".into()),
            epochs: 7,
            batch: 3,
            optimizer: OptimizerName::AdamW,
            lr: Some(0.5),
            seed: 9,
            mode: Some(Selectable::All(RunMode::Sequential(4))),
            compare: 2,
            threads: Some(1),
            chart: "c.svg".into(),
            quick: true,
        };
        assert_eq!(parse(line), Ok(Command::Run(args)));
        assert_eq!(parse("--help --nonsense"), Ok(Command::Help));
    }

    #[test]
    fn each_optimizer_has_a_rate_of_its_own() {
        for (line, rate) in [("", 0.05), ("--optimizer adamw", 0.002), ("--optimizer adamw --lr 0.1", 0.1)] {
            let Ok(Command::Run(args)) = parse(line) else { panic!("{line}") };
            assert_eq!(args.peak_rate(), rate, "{line}");
        }
    }

    #[test]
    fn what_is_unknown_is_named_beside_what_is_known() {
        for (line, word, known) in [
            ("--epoch 4", "`--epoch`", "--data, --epochs, --batch"),
            ("-x", "`-x`", "--data, --epochs, --batch"),
            ("more", "`more`", "--data, --epochs, --batch"),
            ("--mode fast", "`fast`", "plain, keep, checkpoint, selective, sequential:K"),
            ("--optimizer adam", "`adam`", "sgd, adamw"),
        ] {
            let message = parse(line).unwrap_err();
            assert!(message.contains(word) && message.contains(known), "{message}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for line in [
            "--batch 1",
            "--threads 0",
            "--epochs -1",
            "--epochs many",
            "--lr 0",
            "--lr -0.1",
            "--lr nan",
            "--lr inf",
            "--mode sequential:10",
            "--mode sequential:0",
            "--seed",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
