//! The `siltstone` binary: parses the command line, runs one command, exits.

fn main() {}
