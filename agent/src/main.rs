//! The `siltstone` binary: parses the command line, runs one command, exits.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    siltstone::cli::run(siltstone::cli::Arguments::parse())
}
