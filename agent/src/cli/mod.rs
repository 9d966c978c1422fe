//! The command line: what can be said, and one file a command.
//!
//! Answers go to standard output, everything else to standard error; a failure is one sentence there
//! and exit code 1 (2 for a command that can't be understood).
//!
//! | file | idea |
//! | --- | --- |
//! | `arguments` | commands and options |
//! | `input` | what is to be read: a store, files, addresses |
//! | `import` | CSV into a store |
//! | `query` | one question |
//! | `export` | readings as CSV |
//! | `seal` | complete files |
//! | `inspect` | what a file is made of |
//! | `verify` | whether a file is whole |
//! | `walk` | block files block by block, for both |
//! | `progress` | how far a long command has got |

mod arguments;
mod export;
mod import;
mod input;
mod inspect;
mod progress;
mod query;
mod seal;
mod verify;
mod walk;

use std::io::{self, Write};
use std::process::ExitCode;

pub use arguments::Arguments;
use arguments::Command;

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
        Command::Inspect(options) => inspect::run(&options),
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
fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => Ok(written?),
    }
}

/// Writes a line to standard error.
fn note(line: &str) {
    // Nowhere is left to report that standard error is closed.
    let _ = writeln!(io::stderr(), "siltstone: {line}");
}
