//! From a command line to an exit code.

use std::process::ExitCode;

/// What a command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<A> {
    /// To run with these options.
    Run(A),
    /// To print the help.
    Help,
}

/// Does what is asked: prints `help`, or calls `run`. A command line that cannot be read ends with
/// 2, a run that fails with 1, each with its message on stderr.
pub fn execute<A>(
    asked: Result<Command<A>, String>,
    help: &str,
    run: impl FnOnce(&A) -> Result<(), String>,
) -> ExitCode {
    match asked {
        Ok(Command::Help) => {
            print!("{help}");
            ExitCode::SUCCESS
        }
        Ok(Command::Run(args)) => match run(&args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => fail(&message, 1),
        },
        Err(message) => fail(&message, 2),
    }
}

fn fail(message: &str, code: u8) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(code)
}
