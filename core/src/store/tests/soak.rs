//! The long campaign: all short sequences with all subsets of up to twelve unflushed operations, every bit, every
//! failing call, and then random workloads until the time is over.
//!
//! `SILTSTONE_SOAK=30` gives it 30 minutes. With `SILTSTONE_SOAK_PROGRESS=file` it notes there what is done, a line
//! a job with the states it explored, and goes on from there the next time.

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::campaign::{Effort, campaign};
use super::damage::{Image, damage_everything, every_bit, flip_bits};
use super::disorder;
use super::failing::{all_silently, failures, until_clean};
use super::sequence::sequences;
use super::trace::Setting;

/// Everything at each place.
const WHOLE: Effort = Effort {
    stride: 1,
    all_max: 12,
    samples: 32,
    go_on_one_in: 50,
    interrupt_one_in: 100,
    depth: 3,
    again_one_in: [8, 8],
};
/// For workloads of hundreds of operations: less at each place.
const BROAD: Effort = Effort { all_max: 5, samples: 12, interrupt_one_in: 400, depth: 2, ..WHOLE };

/// Fleets that come before everything random.
const FLEETS: u64 = 24;

/// The jobs in their order: those that have an end, then random workloads.
fn jobs() -> impl Iterator<Item = String> {
    let random = (0..).flat_map(|seed| {
        let long = (seed % 8 == 0).then(|| [format!("long-{seed}"), format!("new-{seed}")]);
        let fleet = (seed % 4 == 0).then(|| format!("disorder-{}", FLEETS + seed / 4));
        [format!("short-{seed}")].into_iter().chain(long.into_iter().flatten()).chain(fleet)
    });
    finite_jobs().into_iter().chain(random)
}

/// Damage, failing calls, some fleets, and all short sequences.
fn finite_jobs() -> Vec<String> {
    let fixed = ["bits", "damage", "silent"].into_iter().map(String::from);
    let flips = (0..Image::new().blocks(true).len()).map(|nth| format!("flips-{nth}"));
    let failing = (0..failures().len()).map(|nth| format!("failing-{nth}"));
    let fleets = (0..FLEETS).map(|seed| format!("disorder-{seed}"));
    let all = sequences(3).into_iter();
    let short = all.flat_map(|sequence| [format!("ops-{sequence}"), format!("old-{sequence}")]);
    fixed.chain(flips).chain(failing).chain(fleets).chain(short).collect()
}

/// Does a job; the states it explored, or which promise was broken.
fn run(job: &str) -> Result<u64, String> {
    let (family, which) = job.split_once('-').unwrap_or((job, ""));
    match family {
        "bits" => {
            // Blocks that were looked at, not states of a store.
            eprintln!("{} bits flipped, all noticed", every_bit(&Image::new(), 1));
            Ok(0)
        }
        "damage" => damage_everything(&Image::new()).map_err(|(what, broken)| format!("{what}: {broken}")),
        "flips" => {
            let image = Image::new();
            let blocks = image.blocks(true);
            let nth: usize = which.parse().map_err(|_| format!("{job}: no such job"))?;
            let place = blocks.get(nth).ok_or_else(|| format!("{job}: no such job"))?;
            let flipped = flip_bits(&image, place, 1);
            flipped.map(|(stores, _)| stores).map_err(|(what, broken)| format!("{what}: {broken}"))
        }
        "silent" => all_silently(1).map(|(struck, _)| struck),
        "disorder" => Ok(disorder::soak(which.parse().map_err(|_| format!("{job}: no such job"))?)),
        "failing" => {
            let all = failures();
            let nth: usize = which.parse().map_err(|_| format!("{job}: no such job"))?;
            let (_, of) = all.into_iter().nth(nth).ok_or_else(|| format!("{job}: no such job"))?;
            Ok(until_clean(1, of))
        }
        _ => {
            let effort = if family == "ops" || family == "old" { WHOLE } else { BROAD };
            campaign(job, effort, &Setting::default()).map(|tried| tried.states).map_err(|f| f.to_string())
        }
    }
}

/// What is known to be done, from the progress file.
fn done(path: Option<&str>) -> BTreeMap<String, u64> {
    let text = path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let line = |line: &str| {
        let (job, states) = line.split_once(' ')?;
        Some((job.to_string(), states.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn soak() {
    let Some(minutes) = std::env::var("SILTSTONE_SOAK").ok().and_then(|text| text.parse::<u64>().ok()) else {
        return;
    };
    let path = std::env::var("SILTSTONE_SOAK_PROGRESS").ok();
    let before = done(path.as_deref());
    let states_before: u64 = before.values().sum();
    eprintln!("{} jobs with {states_before} states were done before", before.len());
    let mut progress = path.as_ref().map(|path| {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.unwrap_or_else(|error| panic!("{path}: {error}"))
    });
    let begin = Instant::now();
    let end = begin + Duration::from_secs(minutes * 60);
    let todo = Mutex::new(jobs().filter(|job| !before.contains_key(job)));
    let (count, states, violations) = (AtomicUsize::new(0), Mutex::new(0), Mutex::new(Vec::new()));
    let file = Mutex::new(&mut progress);
    let work = || {
        while Instant::now() < end {
            let Some(job) = todo.lock().expect("a lock").next() else { return };
            let judged = catch_unwind(AssertUnwindSafe(|| run(&job)));
            let judged = judged.unwrap_or_else(|_| Err(String::from("a panic, printed above")));
            let nth = count.fetch_add(1, Ordering::Relaxed) + 1;
            let mut states = states.lock().expect("a lock");
            match judged {
                Ok(more) => {
                    *states += more;
                    if let Some(file) = &mut **file.lock().expect("a lock") {
                        writeln!(file, "{job} {more}").expect("the progress file");
                    }
                }
                Err(broken) => {
                    eprintln!("VIOLATION in {job}: {broken}");
                    violations.lock().expect("a lock").push(job);
                }
            }
            if nth % 100 == 0 {
                eprintln!("{nth} jobs, {states} states, {} s", begin.elapsed().as_secs());
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let states = states.into_inner().expect("a lock");
    let violations = violations.into_inner().expect("a lock");
    let seconds = begin.elapsed().as_secs().max(1);
    eprintln!(
        "{} jobs, {states} states, {} a second, {} violations; {} states in all runs",
        count.into_inner(),
        states / seconds,
        violations.len(),
        states + states_before
    );
    if path.is_some() {
        let (all, done) = (finite_jobs(), done(path.as_deref()));
        let left = all.iter().filter(|job| !done.contains_key(*job)).count();
        eprintln!("of the {} jobs before the random ones {left} are left", all.len());
    }
    assert!(violations.is_empty(), "{violations:?}");
}
