//! A U-Net declared with the checkpointing macros learns to find shapes in noise.
//!
//! ```sh
//! cargo run --release -p unet               # trains, measures the modes, draws overlays
//! cargo run --release -p unet -- --quick    # everything once, within seconds
//! ```
//!
//! It trains with every level of the encoder and the decoder checkpointed; skips cross the edges of
//! the decoder's regions as ordinary values. Then the same steps run from the same weights in each
//! mode. One compiled model serves all: `with_policy` chooses.

#![forbid(unsafe_code)]

mod args;
mod model;
mod overlay;
mod scene;
mod score;
mod table;
mod train;

use std::process::ExitCode;
use std::time::Instant;

use ckpt_runtime::{memory::CountingAllocator, process, with_policy};
use examples_shared::command;
use models::mode::{RunMode, Selectable};

use args::Args;
use model::Model;
use train::{Plan, Trainer};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

/// Test scenes that a model is judged by.
const TEST_SCENES: usize = 64;
/// Test scenes that are drawn.
const DRAWN: usize = 8;
/// Steps of `--quick`.
const QUICK_STEPS: usize = 10;
/// Test scenes of `--quick`.
const QUICK_SCENES: usize = 8;

fn main() -> ExitCode {
    command::execute(Args::parse(std::env::args_os().skip(1)), args::HELP, run)
}

fn run(args: &Args) -> Result<(), String> {
    process::keep_freed_memory();
    process::start_workers(args.threads).map_err(|e| format!("cannot start the threads: {e}"))?;
    let scenes = if args.quick { QUICK_SCENES } else { TEST_SCENES };
    let capped = |steps: usize| if args.quick { steps.min(QUICK_STEPS) } else { steps };
    let plan = Plan { steps: capped(args.steps), batch: args.batch, rate: args.rate, seed: args.seed };
    if plan.steps > 0 {
        let model = train(args, plan, scenes)?;
        draw(args, &model)?;
    }
    compare(args, Plan { steps: capped(args.compare), ..plan }, scenes)
}

fn train(args: &Args, plan: Plan, scenes: usize) -> Result<Model, String> {
    let mode = args.mode.unwrap_or(Selectable::All(RunMode::Checkpoint));
    println!("training a U-Net in mode {mode}");
    let start = Instant::now();
    let mut model = model::build(args.seed)?;
    let mut trainer = Trainer::new(&model, plan);
    with_policy(mode.policy(model::selective), || trainer.run(&mut model))?;
    let score = model::judge(&model, scenes)?;
    println!(
        "{scenes} test images after {:.0} s: {} of the pixels right, mean overlap {} ({})",
        start.elapsed().as_secs_f64(),
        table::percent(score.accuracy()),
        table::percent(score.mean_overlap()),
        score.describe()
    );
    Ok(model)
}

fn draw(args: &Args, model: &Model) -> Result<(), String> {
    let folder = &args.overlays;
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))?;
    for index in 0..DRAWN {
        let scene = scene::test_scene(index);
        let found = model::find(model, vec![scene.clone()])?;
        overlay::write(&folder.join(format!("{index}.png")), &scene, &found)?;
    }
    println!("{DRAWN} of them are drawn in {}: the image, the true shapes, the found ones\n", folder.display());
    Ok(())
}

fn compare(args: &Args, plan: Plan, scenes: usize) -> Result<(), String> {
    if plan.steps == 0 {
        return Ok(());
    }
    let modes = match args.mode {
        Some(mode) => vec![mode],
        None => {
            vec![Selectable::All(RunMode::Plain), Selectable::All(RunMode::Checkpoint), Selectable::Selective]
        }
    };
    println!("the same steps in each mode, peak memory above what is live between steps:");
    let mut rows = Vec::new();
    for mode in modes {
        rows.push(table::measure(mode, model::build(args.seed)?, plan, scenes)?);
    }
    print!("{}", table::render(&rows));
    match table::first_difference(&rows) {
        None => Ok(()),
        Some(difference) => Err(format!("the modes do not agree: {difference}")),
    }
}
