//! Runs the targets for a while, and on where it stopped; or writes the corpus anew.
//!
//! `siltstone-fuzz [TARGET…] [--minutes N] [--progress FILE]` gives every target its share of N minutes of a
//! processor, at most ten; `siltstone-fuzz seeds` writes the inputs that the corpus began with. A finding is kept in the corpus and ends the run.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use siltstone_fuzz::mutator::Random;
use siltstone_fuzz::targets::{TARGETS, Target};
use siltstone_fuzz::trial::{processor_time, trial};
use siltstone_fuzz::{corpus, seeds};

/// Minutes a target at most.
const MINUTES_MAX: f64 = 10.0;
/// After so long it is noted how far a target is.
const PIECE: Duration = Duration::from_secs(30);
/// One input must not keep a processor longer. On a machine that does other work it may take longer by the clock.
const TRIAL_MAX: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("siltstone-fuzz: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<String>) -> Result<(), String> {
    let (mut names, mut minutes, mut progress) = (Vec::new(), 1.0, None);
    let mut arguments = arguments.into_iter();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--minutes" => {
                let text = arguments.next().unwrap_or_default();
                minutes = text.parse().map_err(|_| format!("`{text}` is no number of minutes"))?;
            }
            "--progress" => progress = arguments.next(),
            _ => names.push(word),
        }
    }
    if names == ["seeds"] {
        return seeds::write().map_err(|error| error.to_string());
    }
    let wanted = |target: &&Target| names.is_empty() || names.iter().any(|name| name == target.name);
    let targets: Vec<_> = TARGETS.iter().filter(wanted).collect();
    let share = (minutes / targets.len().max(1) as f64).min(MINUTES_MAX);
    let mut done = progress.as_deref().map(read_progress).unwrap_or_default();
    for target in targets {
        let (mut tried, mut seconds) = done.get(target.name).copied().unwrap_or_default();
        while seconds < share * 60.0 {
            let left = Duration::from_secs_f64(share * 60.0 - seconds);
            let (more, took) = fuzz(target, tried, left.min(PIECE))?;
            (tried, seconds) = (tried + more, seconds + took.as_secs_f64());
            done.insert(target.name.to_owned(), (tried, seconds));
            if let Some(path) = &progress {
                write_progress(path, &done)?;
            }
        }
        println!("{:<14} {tried:>12} inputs in {seconds:>6.0} s, no finding", target.name);
    }
    Ok(())
}

/// Tries changed inputs until a processor was busy for `limit`; `tried` were tried before and are not tried again.
fn fuzz(target: &Target, tried: u64, limit: Duration) -> Result<(u64, Duration), String> {
    let inputs = corpus::inputs(target.name).map_err(|error| format!("{}: {error}", target.name))?;
    let inputs: Vec<Vec<u8>> = inputs.into_iter().map(|(_, input)| input).collect();
    let begun = processor_time();
    let mut count = 0;
    while processor_time() - begun < limit {
        let mut random = Random::new(tried + count);
        let empty = Vec::new();
        let of = |random: &mut Random| inputs.get(random.below(inputs.len())).unwrap_or(&empty);
        let (input, other) = (of(&mut random), of(&mut random));
        let input = target.mutate(input, other, &mut random);
        let trial_begun = processor_time();
        let mut outcome = trial(target, &input);
        if outcome.is_ok() && processor_time() - trial_begun > TRIAL_MAX {
            outcome = Err(format!("{}: an input of {} bytes took over a second", target.name, input.len()));
        }
        if let Err(sentence) = outcome {
            let name = format!("found-{:016x}", tried + count);
            let path = corpus::keep(target.name, &name, &input).map_err(|error| error.to_string())?;
            return Err(format!("{sentence}; seed {}, kept as {}", tried + count, path.display()));
        }
        count += 1;
    }
    Ok((count, processor_time() - begun))
}

fn read_progress(path: &str) -> BTreeMap<String, (u64, f64)> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = |line: &str| {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), (words.next()?.parse().ok()?, words.next()?.parse().ok()?)))
    };
    text.lines().filter_map(line).collect()
}

fn write_progress(path: &str, done: &BTreeMap<String, (u64, f64)>) -> Result<(), String> {
    let text: String = done.iter().map(|(name, (tried, s))| format!("{name} {tried} {s}\n")).collect();
    std::fs::write(path, text).map_err(|error| format!("{path}: {error}"))
}
