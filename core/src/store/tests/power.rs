//! The power goes at every operation of a workload; whatever subset of the unflushed operations happened, and
//! wherever the power goes again during recovery, every acknowledged point is there, bit for bit, and
//! nothing is invented.
//!
//! `SILTSTONE_SOAK=n` plays n times as many seeds. A failure prints what to replay.

use super::reader::{list, read};
use super::workload::{Owned, SimStore, Step, label, medium_error, name, open, play, send, steps};
use crate::store::sim::{Control, Fate, Oracle, Random, SimMedium, Violation, fates};

/// When the workloads take place.
const FROM: i64 = 1_700_000_000_000_000_000;

/// What a campaign found out.
#[derive(Debug, Default)]
struct Tried {
    states: u64,
    interrupted: u64,
    tears: u64,
    points: u64,
}

/// How much a campaign tries at each operation.
#[derive(Clone, Copy)]
struct Effort {
    steps: usize,
    /// Every this many operations the power is cut.
    stride: u64,
    /// Whether also while the store is made.
    from_nothing: bool,
    all_max: usize,
    samples: usize,
}

/// A broken promise, and where.
#[derive(Debug)]
#[expect(dead_code, reason = "what a failure prints")]
struct Failure {
    seed: u64,
    cut: u64,
    fates: Vec<Fate>,
    violation: Violation,
}

fn campaign(seed: u64, effort: Effort, break_flush: bool) -> Result<Tried, Box<Failure>> {
    let mut tried = Tried::default();
    let script = steps(&mut Random::new(seed), effort.steps, FROM);
    let made = SimMedium::new();
    open(&made).expect("the power is on");
    let first = if effort.from_nothing { 0 } else { made.operations() };
    let mut cut = first + seed % effort.stride;
    loop {
        let mut random = Random::new(seed ^ cut << 24);
        let medium = SimMedium::new();
        if break_flush {
            medium.control(Control::NoFlush);
        }
        medium.cut_power_at(cut);
        let mut oracle = Oracle::new();
        let played = open(&medium).and_then(|(mut store, _)| play(&mut store, &mut oracle, &script));
        for fates in fates(medium.pending(), effort.all_max, effort.samples, &mut random) {
            let after = medium.after_crash(&fates, &mut random);
            tried.states += 1;
            recover(&after, &oracle, &script, &mut random, &mut tried)
                .map_err(|violation| Box::new(Failure { seed, cut, fates, violation }))?;
        }
        if played.is_ok() {
            return Ok(tried);
        }
        cut += effort.stride;
    }
}

/// Recovers, with the power going again in between, checks, goes on, and does it once more.
fn recover(
    medium: &SimMedium,
    oracle: &Oracle,
    script: &[Step],
    random: &mut Random,
    tried: &mut Tried,
) -> Result<(), Violation> {
    let mut medium = medium.clone();
    for _ in 0..random.below(3) {
        medium.cut_power_at(random.below(60));
        if let Ok((_, recovery)) = open(&medium) {
            tried.tears += recovery.journal.tears;
            medium = medium.after_kill();
            break;
        }
        tried.interrupted += 1;
        medium = crash(&medium, random);
    }
    let (mut store, recovery) = open(&medium).expect("a recovery on a good medium");
    tried.tears += recovery.journal.tears;
    assert_eq!(recovery.set_aside, [], "nothing is damaged");
    let points = read(&mut store);
    tried.points += points.len() as u64;
    oracle.check(list(&points))?;
    check_identities(&store, &points, script)?;
    let mut oracle = Oracle::new();
    oracle.adopt(list(&points));
    let last = points.keys().map(|(_, at)| *at).max().unwrap_or(FROM);
    let more = steps(random, 8, last.min(FROM << 1) + 1);
    play(&mut store, &mut oracle, &more).expect("the power is on");
    drop(store);
    let (mut store, _) = open(&crash(&medium, random)).expect("a recovery on a good medium");
    let points = read(&mut store);
    oracle.check(list(&points))?;
    check_identities(&store, &points, &more)
}

/// The power goes, with fates of all kinds.
fn crash(medium: &SimMedium, random: &mut Random) -> SimMedium {
    let all = fates(medium.pending(), 3, 2, random);
    let some = &all[random.below(all.len() as u64) as usize];
    medium.after_crash(some, random)
}

/// Every message that is known to be stored has all of its points.
fn check_identities(
    store: &SimStore,
    points: &super::reader::Points,
    script: &[Step],
) -> Result<(), Violation> {
    for step in script {
        let Step::Message(identity, sent) = step else { continue };
        if !store.is_stored(identity) {
            continue;
        }
        for (series, at, _) in sent {
            let key = (label(name(*series).as_str()).to_string(), *at);
            if !points.contains_key(&key) {
                return Err(Violation::Lost(key.0, key.1));
            }
        }
    }
    Ok(())
}

fn soak() -> u64 {
    std::env::var("SILTSTONE_SOAK").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// Plays campaigns; panics with the first failure, gives the sum of all.
fn campaigns(seeds: core::ops::Range<u64>, effort: Effort) -> Tried {
    let mut sum = Tried::default();
    for seed in seeds {
        match campaign(seed, effort, false) {
            Ok(tried) => {
                sum.states += tried.states;
                sum.interrupted += tried.interrupted;
                sum.tears += tried.tears;
                sum.points += tried.points;
            }
            Err(failure) => panic!("{failure:?}"),
        }
    }
    eprintln!("{sum:?}");
    sum
}

const SHORT: Effort = Effort { steps: 24, stride: 1, from_nothing: false, all_max: 3, samples: 3 };

#[test]
fn acknowledged_points_survive_a_power_cut_at_any_operation() {
    let tried = campaigns(0..soak(), SHORT);
    assert!(tried.states > 1_000 && tried.tears > 0 && tried.interrupted > 0, "{tried:?}");
}

#[test]
fn a_store_that_is_just_being_made_survives_a_power_cut() {
    let effort = Effort { steps: 2, stride: 3, from_nothing: true, all_max: 2, samples: 2 };
    campaigns(0..soak(), effort);
}

#[test]
fn acknowledged_points_survive_power_cuts_in_long_workloads() {
    let effort = Effort { steps: 80, stride: 53, all_max: 2, samples: 4, ..SHORT };
    campaigns(100..100 + soak(), effort);
}

/// Plays a script, then one more step during which the power goes at every operation, with every subset of
/// the unflushed operations.
fn cut_during(seed: u64, last: &[Step]) -> u64 {
    let script = steps(&mut Random::new(seed), 30, FROM);
    let run = |cut: Option<u64>| {
        let (medium, mut oracle) = (SimMedium::new(), Oracle::new());
        let (mut store, _) = open(&medium).expect("open");
        play(&mut store, &mut oracle, &script).expect("play");
        let before = medium.operations();
        if let Some(cut) = cut {
            medium.cut_power_at(before + cut);
        }
        let played = play(&mut store, &mut oracle, last);
        drop(store);
        (medium, oracle, played.is_ok())
    };
    let mut states = 0;
    for cut in 0.. {
        let (medium, oracle, is_done) = run(Some(cut));
        if is_done {
            break;
        }
        let mut random = Random::new(seed ^ cut);
        for fates in fates(medium.pending(), 6, 8, &mut random) {
            states += 1;
            let (mut store, _) = open(&medium.after_crash(&fates, &mut random)).expect("open");
            if let Err(violation) = oracle.check(list(&read(&mut store))) {
                panic!("seed {seed}, operation {cut}, {fates:?}: {violation:?}");
            }
        }
    }
    states
}

#[test]
fn the_power_may_go_anywhere_in_a_seal_or_a_checkpoint() {
    for seed in 11..11 + soak() {
        assert!(cut_during(seed, &[Step::Seal]) > 100);
        assert!(cut_during(seed, &[Step::Checkpoint]) > 100);
    }
}

#[test]
fn an_interrupted_checkpoint_writes_late_points_once() {
    for cut in 0.. {
        let medium = SimMedium::new();
        let (mut store, _) = open(&medium).expect("open");
        let oracle = &mut Oracle::new();
        let point = |at: i64| [(0, FROM + at, Owned::Float(at as f64))];
        for n in 1_000..1_020 {
            send(&mut store, oracle, None, &point(n)).expect("append");
        }
        // They are coded, so that what lies before them is late from here on.
        store.checkpoint().map_err(medium_error).expect("checkpoint");
        for n in 0..20 {
            send(&mut store, oracle, None, &point(n)).expect("append");
        }
        store.commit().map_err(medium_error).expect("commit");
        oracle.acknowledge();
        medium.cut_power_at(medium.operations() + cut);
        let is_done = store.checkpoint().is_ok();
        drop(store);
        let all = vec![Fate::Applied; medium.pending()];
        let (mut store, _) = open(&medium.after_crash(&all, &mut Random::new(cut))).expect("open");
        assert_eq!(oracle.check(list(&read(&mut store))), Ok(()), "operation {cut}");
        let late = store.segments().iter().filter(|file| !file.is_in_order()).count();
        assert_eq!(late, 1, "operation {cut}");
        if is_done {
            break;
        }
    }
}

#[test]
fn without_flush_the_same_suite_fails() {
    let failed = std::panic::catch_unwind(|| campaign(0, SHORT, true).is_err());
    assert!(failed.unwrap_or(true), "a suite that passes without flushes proves nothing");
}

#[test]
fn a_killed_process_loses_nothing_that_was_written() {
    let medium = SimMedium::new();
    let mut oracle = Oracle::new();
    let (mut store, _) = open(&medium).expect("open");
    for round in 0..20 {
        let script = steps(&mut Random::new(round), 12, FROM + round as i64 * 1_000_000_000_000);
        play(&mut store, &mut oracle, &script).expect("play");
        drop(store);
        let killed = medium.after_kill();
        store = open(&killed).map_err(|error| error.to_string()).expect("open").0;
        let points = read(&mut store);
        oracle.check(list(&points)).expect("everything committed");
        drop(store);
        store = open(&medium).expect("open").0;
    }
    store.close().map_err(medium_error).expect("close");
}
