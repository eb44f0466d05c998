//! Measures one thing and prints one JSON line as its last.
//!
//! ```text
//! cargo run --release -p benches -- MODEL MODE [--batch N] [--steps N] [--threads N]
//! cargo run --release -p benches -- op NAME [--steps N] [--threads N]
//! cargo run --release -p benches -- region
//! cargo run --release -p benches -- compile
//! ```
//!
//! A model's step is measured as `torch_reference.py` measures PyTorch's: forward, loss and backward
//! without an optimizer, two steps of warm-up, the median of the seconds and the most of the bytes
//! that a step adds to what was live before it, parameter gradients included.

#![deny(unsafe_code)]

mod args;
mod compile;
mod gpt;
mod images;
mod op;
mod peakmalloc;
mod region;
mod report;
mod step;

use std::process::ExitCode;

use ckpt_runtime::{memory::CountingAllocator, process};

use args::{Command, Model};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::system();

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(message) => return fail(&message, 2),
    };
    let report = match command {
        Command::Help => {
            print!("{}", args::HELP);
            return ExitCode::SUCCESS;
        }
        Command::Model(model, args) => set_threads(args.threads).and_then(|()| match model {
            Model::Gpt => gpt::measure(&args),
            Model::ResNet18 => images::resnet18(&args),
            Model::ResNet50 => images::resnet50(&args),
            Model::UNet => images::unet(&args),
        }),
        Command::Op(args) => set_threads(args.threads).and_then(|()| op::measure(&args)),
        Command::Region => region::measure(),
        Command::Compile => compile::measure(),
    };
    match report {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(message) => fail(&message, 1),
    }
}

fn set_threads(threads: usize) -> Result<(), String> {
    process::keep_freed_memory();
    process::start_workers(Some(threads)).map_err(|e| format!("cannot start {threads} threads: {e}"))
}

fn fail(message: &str, code: u8) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(code)
}
