//! Prints the figures of `docs/benchmarks.md` as rows of a table.
//!
//! Usage: `bash scripts/bench.sh [density|disorder|ingest|memory|page|range|recovery|wear]...`; without a name all of them. Each figure is a median
//! where it is a time, and exact where it is a size. It measures; it does not judge: goals are printed
//! beside the figures, and nothing fails.

mod density;
mod disorder;
mod ingest;
mod load;
mod memory;
mod page;
mod range;
mod recovery;
mod walk;
mod wear;

use std::process::ExitCode;

/// A measurement and its name.
type Part = (&'static str, fn() -> Vec<Row>);

const PARTS: &[Part] = &[
    ("density", density::rows),
    ("disorder", disorder::rows),
    ("ingest", ingest::rows),
    ("memory", memory::rows),
    ("page", page::rows),
    ("range", range::rows),
    ("recovery", recovery::rows),
    ("wear", wear::rows),
];

/// One row of the table.
pub(crate) struct Row {
    what: String,
    figure: String,
    goal: String,
}

impl Row {
    /// A row; an empty goal is a figure that is reported only.
    pub(crate) fn new(what: impl Into<String>, figure: impl Into<String>, goal: impl Into<String>) -> Self {
        Self { what: what.into(), figure: figure.into(), goal: goal.into() }
    }
}

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let names: Vec<String> = std::env::args().skip(1).filter(|name| name != "--bench").collect();
    if let [flag, case] = names.as_slice()
        && flag == memory::CASE
    {
        memory::print_case(case);
        return ExitCode::SUCCESS;
    }
    if let Some(unknown) = names.iter().find(|name| PARTS.iter().all(|(part, _)| part != name)) {
        let known: Vec<&str> = PARTS.iter().map(|(part, _)| *part).collect();
        eprintln!("bench: there is no part {unknown}; there are {}", known.join(", "));
        return ExitCode::from(2);
    }
    if cfg!(debug_assertions) {
        eprintln!("bench: this is no release build, its times say nothing");
    }
    for (name, measure) in PARTS {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        println!("\n`bash scripts/bench.sh {name}`\n\n| what | figure | goal |\n| --- | ---: | ---: |");
        for row in measure() {
            println!("| {} | {} | {} |", row.what, row.figure, row.goal);
        }
    }
    ExitCode::SUCCESS
}
