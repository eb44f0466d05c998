//! A GPT declared with the checkpointing macros learns Latin, character by character.
//!
//! It trains with every block a region, prints a sample, then runs the same steps in each mode and
//! prints what the mode costs. One compiled model serves all modes: `with_policy` chooses.

#![forbid(unsafe_code)]

mod args;
mod model;
mod sample;
mod table;
mod text;
mod train;
mod weights;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ckpt_runtime::{memory::CountingAllocator, process, with_policy};
use examples_shared::command;
use models::mode::RunMode;
use rand::{SeedableRng, rngs::StdRng};

use args::Args;
use model::Model;
use text::{Corpus, Vocabulary};
use train::Trainer;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

const SAMPLE_LENGTH: usize = 300;
const PROMPT_LENGTH: usize = 24;
const TEMPERATURE: f64 = 0.7;

fn main() -> ExitCode {
    command::execute(Args::parse(std::env::args_os().skip(1), model::LAYERS), args::HELP, run)
}

fn run(args: &Args) -> Result<(), String> {
    process::keep_freed_memory();
    process::start_workers(None).map_err(|e| format!("cannot start the threads: {e}"))?;
    let (name, text) = match &args.text {
        Some(path) => (path.display().to_string(), text::read(path)?),
        None => ("De finibus, book I".to_owned(), lipsum::LIBER_PRIMUS.to_owned()),
    };
    let (mut model, vocabulary) = start(args, &text)?;
    let tokens = vocabulary.encode(&text);
    let corpus = Corpus::split(&name, tokens, model::SEQ, args.batch)?;
    println!(
        "{name}: {} characters to train on, {} to validate, {} different",
        corpus.train_len(),
        corpus.validation().len(),
        vocabulary.characters().len() - 1
    );

    let mode = args.mode.unwrap_or(RunMode::Checkpoint);
    println!("training in mode {mode}");
    let mut trainer = Trainer::new(&model, &corpus, args.seed, args.batch, args.accumulate);
    with_policy(mode.policy(), || trainer.run(&mut model, args.steps))?;
    println!("validation loss {:.4}", model::validation_loss(&model, &corpus)?);
    print_sample(args, &model, &vocabulary, &corpus)?;
    keep_weights(args, &model, &vocabulary)?;
    print_table(args, &text, &corpus)
}

/// A model with its first weights, random or from `--load`, and the vocabulary it goes with.
fn start(args: &Args, text: &str) -> Result<(Model, Vocabulary), String> {
    let mut model = model::build(args.seed, args.dropout)?;
    let vocabulary = match &args.load {
        Some(path) => weights::load(path, &mut model)?,
        None => Vocabulary::of_text(text, model::VOCAB),
    };
    Ok((model, vocabulary))
}

fn print_sample(args: &Args, model: &Model, vocabulary: &Vocabulary, corpus: &Corpus) -> Result<(), String> {
    let prompt = &corpus.validation()[..PROMPT_LENGTH];
    let mut rng = StdRng::seed_from_u64(args.seed);
    let more = sample::continue_from(model, prompt, SAMPLE_LENGTH, TEMPERATURE, &mut rng)?;
    println!("a sample (the text before | is given):\n\n{}|{}\n", vocabulary.decode(prompt), vocabulary.decode(&more));
    Ok(())
}

/// Saves the weights, loads them into another model and compares.
fn keep_weights(args: &Args, model: &Model, vocabulary: &Vocabulary) -> Result<(), String> {
    let (path, keep) = match &args.save {
        Some(path) => (path.clone(), true),
        None => (scratch_file(), false),
    };
    let compared = save_and_compare(&path, args, model, vocabulary);
    if !keep {
        // The file served the comparison alone; a leftover in the temporary folder is no failure.
        let _ = std::fs::remove_file(&path);
    }
    compared?;
    if keep {
        println!("weights saved to {}", path.display());
    }
    println!("weights saved as safetensors load back equal to the bit\n");
    Ok(())
}

fn scratch_file() -> PathBuf {
    std::env::temp_dir().join(format!("transformer-{}.safetensors", std::process::id()))
}

fn save_and_compare(path: &Path, args: &Args, model: &Model, vocabulary: &Vocabulary) -> Result<(), String> {
    weights::save(path, model, vocabulary)?;
    let mut again = model::build(args.seed.wrapping_add(1), args.dropout)?;
    if weights::load(path, &mut again)? != *vocabulary {
        return Err(format!("{} gave another vocabulary back", path.display()));
    }
    match weights::differences(model, &again).as_slice() {
        [] => Ok(()),
        names => Err(format!("{} gave other values back for {}", path.display(), names.join(", "))),
    }
}

fn print_table(args: &Args, text: &str, corpus: &Corpus) -> Result<(), String> {
    let modes = match args.mode {
        Some(mode) => vec![mode],
        None => vec![RunMode::Plain, RunMode::Keep, RunMode::Checkpoint, RunMode::Sequential(3)],
    };
    println!("the same first steps in each mode, peak memory above what is live between steps:");
    let mut rows = Vec::new();
    for mode in modes {
        let (model, _) = start(args, text)?;
        let trainer = Trainer::new(&model, corpus, args.seed, args.batch, args.accumulate);
        rows.push(table::measure(mode, model, corpus, trainer)?);
    }
    print!("{}", table::render(&rows));
    if table::losses_agree(&rows) { Ok(()) } else { Err("the modes do not agree".to_owned()) }
}
