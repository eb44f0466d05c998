//! ResNet-18 declared with the checkpointing macros learns to read digits.
//!
//! ```sh
//! cargo run --release -p resnet                        # the UCI digits, which come with a dependency
//! cargo run --release -p resnet -- --data DIR          # CIFAR-10 (binary) or MNIST (IDX) files in DIR
//! cargo run --release -p resnet -- --quick             # everything once, within seconds
//! ```
//!
//! It trains with every block a region, then runs the same epochs from the same weights in each
//! mode, prints what the mode costs and draws the live memory of one step. One compiled model
//! serves all modes: `with_policy` chooses.

#![forbid(unsafe_code)]

mod args;
mod chart;
mod cifar;
mod data;
mod digits;
mod images;
mod mnist;
mod model;
mod optimizer;
mod resize;
mod schedule;
mod table;
mod timeline;
mod train;

use std::process::ExitCode;
use std::time::Instant;

use ckpt_runtime::{memory::CountingAllocator, process, with_policy};
use examples_shared::command;
use models::mode::{RunMode, Selectable};

use args::Args;
use images::DataSet;
use train::{Plan, Trainer};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

/// Images that `--quick` trains on and tests with.
const QUICK: (usize, usize) = (128, 60);

fn main() -> ExitCode {
    command::execute(Args::parse(std::env::args_os().skip(1)), args::HELP, run)
}

fn run(args: &Args) -> Result<(), String> {
    process::keep_freed_memory();
    process::start_workers(args.threads).map_err(|e| format!("cannot start the threads: {e}"))?;
    let mut set = data::load(args.data.as_deref())?;
    let mut plan = Plan {
        epochs: args.epochs,
        batch: args.batch,
        optimizer: args.optimizer,
        rate: args.peak_rate(),
        seed: args.seed,
    };
    if args.quick {
        set.train.truncate(QUICK.0);
        set.test.truncate(QUICK.1);
        plan.epochs = plan.epochs.min(1);
    }
    println!("{}: {} images to train on, {} to test with", set.name, set.train.len(), set.test.len());
    if plan.epochs > 0 {
        train(args, &set, plan)?;
    }
    compare(args, &set, plan)
}

fn train(args: &Args, set: &DataSet, plan: Plan) -> Result<(), String> {
    let mode = args.mode.unwrap_or(Selectable::All(RunMode::Checkpoint));
    println!("training ResNet-18 in mode {mode}");
    let start = Instant::now();
    let mut model = model::build(args.seed)?;
    let mut trainer = Trainer::new(&model, set, plan);
    with_policy(mode.policy(model::selective), || trainer.run(&mut model))?;
    println!(
        "test accuracy {} after {:.0} s\n",
        table::percent(model::accuracy(&model, set)?),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn compare(args: &Args, set: &DataSet, plan: Plan) -> Result<(), String> {
    let plan = Plan { epochs: args.compare, ..plan };
    if plan.epochs == 0 {
        return Ok(());
    }
    let modes = match args.mode {
        Some(mode) => vec![mode],
        None => vec![Selectable::All(RunMode::Plain), Selectable::All(RunMode::Checkpoint), Selectable::Selective],
    };
    let epochs = if plan.epochs == 1 { "epoch" } else { "epochs" };
    println!(
        "the first {} {epochs} from the same weights in each mode, peak memory above what is live between steps:",
        plan.epochs
    );
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for mode in modes {
        let (row, curve) = table::measure(mode, model::build(args.seed)?, set, plan)?;
        rows.push(row);
        curves.push(curve);
    }
    print!("{}", table::render(&rows));
    let title = format!("ResNet-18, {} images a batch: live memory of one step", plan.batch);
    chart::write(&args.chart, &title, &curves)?;
    println!("the memory of one step in each mode is drawn in {}", args.chart.display());
    match table::first_difference(&rows) {
        None => Ok(()),
        Some(difference) => Err(format!("the modes do not agree: {difference}")),
    }
}
