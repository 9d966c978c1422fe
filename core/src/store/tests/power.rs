//! The power goes at every operation of a workload; whatever subset of the unflushed operations happened, and
//! wherever the power goes again during recovery, every acknowledged point is there, bit for bit, and
//! nothing is invented.
//!
//! Short here; `soak` plays the same with all subsets and without end. A failure prints what to replay.

use super::campaign::{Effort, campaign, replay};
use super::check::Tried;
use super::reader::{list, read};
use super::sequence::sequences;
use super::trace::{Setting, Spec};
use super::workload::{FROM, Owned, medium_error, open, play, send, steps};
use crate::store::sim::{Fate, Oracle, Random, SimMedium};

/// Little at each place, but at many places.
pub(super) const SHORT: Effort = Effort {
    stride: 3,
    all_max: 1,
    samples: 1,
    go_on_one_in: 40,
    interrupt_one_in: 400,
    depth: 2,
    again_one_in: [8, 8],
};

/// Plays campaigns; panics with the first failure, gives the sum of all.
fn campaigns<'a>(names: impl IntoIterator<Item = &'a str>, effort: Effort) -> Tried {
    let mut sum = Tried::default();
    for name in names {
        match campaign(name, effort, &Setting::default()) {
            Ok(tried) => sum.add(tried),
            Err(failure) => panic!("{failure}"),
        }
    }
    eprintln!("{sum:?}");
    sum
}

#[test]
fn acknowledged_points_survive_a_power_cut_at_any_operation() {
    let tried = campaigns(["short-0", "short-1"], Effort { depth: 1, ..SHORT });
    assert!(tried.states > 500 && tried.tears > 0, "{tried:?}");
}

#[test]
fn a_store_that_is_just_being_made_survives_a_power_cut() {
    let effort = Effort { stride: 11, interrupt_one_in: 200, depth: 1, ..SHORT };
    let tried = campaigns(["new-0"], effort);
    assert!(tried.states > 100, "{tried:?}");
}

#[test]
fn acknowledged_points_survive_power_cuts_in_long_workloads() {
    let tried = campaigns(["long-100"], Effort { stride: 101, ..SHORT });
    assert!(tried.states > 50, "{tried:?}");
}

#[test]
fn all_short_sequences_survive_a_power_cut_in_their_last_operation() {
    // The operations before the last are cut in the shorter sequences.
    let names: Vec<String> = sequences(2)
        .iter()
        .flat_map(|sequence| [format!("ops-{sequence}"), format!("old-{sequence}")])
        .chain(sequences(3).into_iter().skip(12 + 144).step_by(41).map(|sequence| format!("ops-{sequence}")))
        .collect();
    let tried = campaigns(
        names.iter().map(String::as_str),
        Effort { stride: 4, interrupt_one_in: 600, depth: 1, ..SHORT },
    );
    assert!(tried.states > 1_000 && tried.interrupted[0] > 20, "{tried:?}");
}

#[test]
fn every_recovery_of_the_smallest_workload_is_interrupted_once_and_twice() {
    // At each of its operations, and each of those again at each of its own.
    let effort =
        Effort { stride: 1, go_on_one_in: 1_000, interrupt_one_in: 1, again_one_in: [1, 1], ..SHORT };
    let Tried { interrupted: [once, twice, _], .. } = campaigns(["ops-ac"], effort);
    assert!(once >= 700 && twice >= 20_000, "{once} once, {twice} twice");
}

#[test]
fn recoveries_of_a_store_with_a_past_are_interrupted_up_to_three_times() {
    let effort = Effort {
        stride: 2,
        go_on_one_in: 1_000,
        interrupt_one_in: 8,
        depth: 3,
        again_one_in: [40, 20],
        ..SHORT
    };
    let Tried { interrupted: [once, twice, thrice], .. } = campaigns(["old-ac", "old-l", "old-k"], effort);
    assert!(once > 200 && twice > 200 && thrice > 300, "{once} once, {twice} twice, {thrice} three times");
}

#[test]
fn the_power_may_go_anywhere_in_a_seal_or_a_checkpoint() {
    let effort = Effort { stride: 1, all_max: 4, samples: 2, ..SHORT };
    let tried = campaigns(["old-abls", "old-ablk"], effort);
    assert!(tried.states > 200, "{tried:?}");
}

#[test]
fn the_power_may_go_anywhere_in_a_deletion_or_a_merge() {
    let effort = Effort { stride: 2, all_max: 3, samples: 2, ..SHORT };
    let names = ["old-alsm", "old-bskalkdm", "old-alkdlkm", "old-asdasdm"];
    let tried = campaigns(names, effort);
    assert!(tried.states > 500, "{tried:?}");
}

#[test]
fn the_power_may_go_anywhere_in_a_seal_in_steps_or_a_drop() {
    let effort = Effort { stride: 3, all_max: 3, samples: 2, ..SHORT };
    let tried =
        campaigns(["old-aobacoalkr", "old-bsblkx", "old-abskalsx", "old-bsaox", "old-asalkmx"], effort);
    assert!(tried.states > 200, "{tried:?}");
}

/// `SILTSTONE_REPLAY="SEED INDEX MASK"`, as a failure prints it, plays exactly that.
#[test]
fn replay_what_a_failure_names() {
    let Ok(text) = std::env::var("SILTSTONE_REPLAY") else { return };
    let spec = Spec::parse(&text).expect("SEED INDEX MASK");
    match replay(&spec, &Setting::default()) {
        Ok(()) => eprintln!("{spec}: nothing wrong"),
        Err(violation) => panic!("{spec}: {violation:?}"),
    }
}

#[test]
fn a_spec_comes_back_from_its_text() {
    for text in ["short-7 41 -", "ops-alc 12 latonzronzrs 3 l 0 aa"] {
        assert_eq!(Spec::parse(text).map(|spec| spec.to_string()), Some(text.to_string()));
    }
    assert!(
        ["", "short-7", "short-7 1", "short-7 x a", "short-7 1 q"]
            .into_iter()
            .all(|t| Spec::parse(t).is_none())
    );
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
