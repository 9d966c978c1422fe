//! From a command to its file, and from a failure to one sentence and an exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use super::arguments::{Arguments, Command};
use super::{delete, export, import, inspect, new_id, query, repair, seal, verify};

/// Why a command failed, in one sentence.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Runs the command; its failure has been printed.
pub fn run(arguments: Arguments) -> ExitCode {
    let done = match arguments.command {
        Command::Run(options) => crate::run::run(options.config.as_deref()).map_err(Failure),
        Command::Import(options) => import::run(&options),
        Command::Query(options) => query::run(&options),
        Command::Export(options) => export::run(&options),
        Command::Seal(options) => seal::run(&options),
        Command::Delete(options) => delete::run(&options),
        Command::Inspect(options) => inspect::run(&options),
        Command::Repair(options) => repair::run(&options),
        Command::NewId(options) => new_id::run(&options),
        Command::Verify(options) => {
            return match verify::run(&options) {
                Ok(true) => ExitCode::SUCCESS,
                Ok(false) => ExitCode::FAILURE,
                Err(failure) => fail(&failure),
            };
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&failure),
    }
}

fn fail(Failure(sentence): &Failure) -> ExitCode {
    // Nowhere is left to report that standard error is closed.
    let _ = writeln!(io::stderr(), "siltstone: {sentence}");
    ExitCode::FAILURE
}

/// Writes to standard output; a reader that has seen enough is no failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => Ok(written?),
    }
}

/// Writes a line to standard error.
pub(super) fn note(line: &str) {
    // Nowhere is left to report that standard error is closed.
    let _ = writeln!(io::stderr(), "siltstone: {line}");
}
