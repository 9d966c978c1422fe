//! A medium whose flushes or syncs say `Ok` and do nothing, for the whole run or for a while, and then the power goes.
//!
//! Nothing can keep what such a medium loses. The store must open all the same, in an older state: every point that it
//! holds was written, every summary is that of its points, and it goes on. What a start can say of the gap is
//! counted; the rest nobody sees (`docs/recovery.md`, "What is not promised").

use super::reader::{list, read_left};
use super::trace::{Setting, Trace};
use super::workload::{DEVICE, FROM, HOUR_NS, Owned, append, label, name, tiny};
use crate::store::sim::{Fault, Oracle, Random, SimMedium, Violation, fates};
use crate::store::{JournalDamage, Recovery, Store};

/// What became of the ends that were looked at.
#[derive(Debug, Default)]
struct Seen {
    ends: u32,
    /// Ends at which acknowledged points are missing; of those the start says that something is.
    with_a_gap: u32,
    reported: u32,
    /// Points that were acknowledged and are missing.
    lost: usize,
}

/// Whether a start says that something is missing.
fn reports(recovery: &Recovery) -> bool {
    let end_alone = JournalDamage { is_end_unreadable: true, ..JournalDamage::default() };
    let is_whole = recovery.journal == JournalDamage::default() || recovery.journal == end_alone;
    !is_whole || recovery.segments_damaged > 0 || !recovery.set_aside.is_empty()
}

/// The store opens in an older state, and goes on from there on a medium that keeps its promises.
fn look(medium: &SimMedium, oracle: &Oracle, seen: &mut Seen) -> Result<(), Violation> {
    let refused = |error: &dyn core::fmt::Display| Violation::Refused(error.to_string());
    let opened = Store::open(medium.clone(), tiny(), DEVICE);
    let (mut store, recovery) = opened.map_err(|error| refused(&error))?;
    let (points, bad_blocks) = read_left(&mut store, true)?;
    oracle.check_left(list(&points))?;
    let lost = oracle.missing(|key| points.contains_key(key));
    seen.ends += 1;
    seen.with_a_gap += u32::from(lost > 0);
    seen.reported += u32::from(lost > 0 && (reports(&recovery) || bad_blocks > 0));
    seen.lost += lost;
    // What comes now is kept.
    let at = FROM + 20_000 * HOUR_NS;
    let more: Vec<_> = (0..20).map(|n| (0, at + n, Owned::Float(n as f64))).collect();
    append(&mut store, None, &more).map_err(|error| refused(&error))?;
    store.commit().map_err(|error| refused(&error))?;
    drop(store);
    let cut = medium.after_crash(&[], &mut Random::new(0));
    let (mut store, _) = Store::open(cut, tiny(), DEVICE).map_err(|error| refused(&error))?;
    let (points, _) = read_left(&mut store, true)?;
    let key = |n: i64| (label(name(0).as_str()).to_string(), at + n);
    match (0..20).find(|n| !points.contains_key(&key(*n))) {
        Some(n) => Err(Violation::Lost(key(n).0, key(n).1)),
        None => Ok(()),
    }
}

/// Plays a workload on a medium that lies, and looks at the ends of every `stride`th operation.
fn lie(workload: &str, faults: &[Fault], stride: usize, seen: &mut Seen) {
    let setting = Setting { faults: faults.to_vec(), ..Setting::default() };
    let trace = Trace::play(workload, &setting).expect("a workload of that name");
    let mut random = Random::new(stride as u64);
    for cut in trace.cuts().rev().step_by(stride) {
        let medium = trace.cut(cut);
        let all = fates(medium.pending(), 0, 2, &mut random);
        // Nothing and everything, two random ones, and one torn everywhere.
        let some = all.iter().take(4).chain(all.last());
        for fates in some {
            let after = medium.after_crash(fates, &mut random);
            if let Err(violation) = look(&after, trace.oracle(cut), seen) {
                panic!("{workload}, {faults:?}, operation {cut}, {fates:?}: {violation:?}");
            }
        }
    }
}

const FOR_EVER: core::ops::Range<u64> = 0..u64::MAX;

#[test]
fn a_medium_whose_flush_does_nothing_leaves_an_older_state() {
    let mut seen = Seen::default();
    let flush = Fault::FlushLies { flushes: FOR_EVER };
    let sync = Fault::SyncLies { syncs: FOR_EVER };
    for faults in [vec![flush.clone()], vec![sync.clone()], vec![flush, sync]] {
        for workload in ["short-3", "old-abcklscm", "old-bcalcdcbc"] {
            lie(workload, &faults, 9, &mut seen);
        }
    }
    eprintln!("{seen:?}");
    assert!(seen.ends > 150 && seen.with_a_gap > 50 && seen.reported > 0, "{seen:?}");
}

#[test]
fn a_medium_whose_flush_does_nothing_for_a_while_leaves_an_older_state() {
    let mut seen = Seen::default();
    let workload = "old-abclkacsbclc";
    let honest = Trace::play(workload, &Setting::default()).expect("a workload of that name");
    let (flushes, syncs) = honest.promises();
    for length in [1, 6] {
        for begin in (0..flushes).step_by(5) {
            lie(workload, &[Fault::FlushLies { flushes: begin..begin + length }], 11, &mut seen);
        }
        for begin in (0..syncs).step_by(5) {
            lie(workload, &[Fault::SyncLies { syncs: begin..begin + length }], 11, &mut seen);
        }
    }
    eprintln!("{seen:?}");
    assert!(seen.ends > 100 && seen.with_a_gap > 5, "{seen:?}");
}

#[test]
fn a_checkpoint_that_names_blocks_which_are_not_there_is_reported() {
    // Everything of the journal is there, and nothing that segments flushed: a lie of one device.
    let medium = SimMedium::new();
    let (mut store, _) = Store::open(medium.clone(), tiny(), DEVICE).expect("open");
    let points: Vec<_> = (0..600).map(|n| (0, FROM + n, Owned::Float((n * n) as f64 / 3.0))).collect();
    append(&mut store, None, &points).expect("append");
    store.checkpoint().expect("checkpoint");
    drop(store);
    let path =
        medium.files().into_iter().map(|(path, _)| path).find(|path| path.ends_with(".silt")).expect("one");
    let killed = medium.after_kill();
    for block in 1..medium.files().iter().find(|(other, _)| *other == path).expect("it").1 {
        killed.put(&path, block, &[0; crate::block::BLOCK_LEN]);
    }
    let (mut store, recovery) = Store::open(killed, tiny(), DEVICE).expect("open");
    assert!(recovery.segments_damaged == 1 && reports(&recovery), "{recovery:?}");
    let (points, _) = read_left(&mut store, true).expect("an older state");
    assert!(points.is_empty(), "{} points", points.len());
}

/// There is nothing in the store that measures time: a commit comes back when the flush did, and what waits is in its
/// caller. So a slow medium costs time and nothing else.
#[test]
fn a_slow_flush_changes_nothing_but_the_time() {
    let play = |faults: Vec<Fault>| {
        let medium = SimMedium::new();
        faults.into_iter().for_each(|fault| medium.inject(fault));
        let (mut store, _) = Store::open(medium.clone(), tiny(), DEVICE).expect("open");
        let mut waited_ns = Vec::new();
        for n in 0..200 {
            append(&mut store, None, &[(0, FROM + n, Owned::Float(n as f64))]).expect("append");
            let (begin_ns, flushes) = (medium.clock_ns(), medium.flushes());
            store.commit().expect("commit");
            assert!(medium.flushes() > flushes, "acknowledged before the flush came back");
            waited_ns.push(medium.clock_ns() - begin_ns);
        }
        (waited_ns, medium.blocks_written(), medium.flushes(), medium.used_blocks())
    };
    const SLOW_NS: u64 = 5_000_000_000;
    let quick = play(Vec::new());
    let slow = play(vec![Fault::SlowFlush { ns: SLOW_NS }]);
    assert_eq!((slow.1, slow.2, slow.3), (quick.1, quick.2, quick.3));
    assert!(slow.0.iter().all(|waited| *waited >= SLOW_NS) && quick.0.iter().any(|waited| *waited < SLOW_NS));
}
