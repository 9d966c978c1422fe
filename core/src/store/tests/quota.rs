//! The quota: whatever is done to a store, what lies below `segments/` stays within it and one segment, and is what the
//! store counts.

use super::reader::{list, read};
use super::workload::{DEVICE, FROM, HOUR_NS, Owned, SimStore, Step, append, play, send, steps, tell, tiny};
use crate::block::BLOCK_LEN;
use crate::store::sim::{Oracle, Random, SimMedium};
use crate::store::version::tests::{of_device, of_version};
use crate::store::{Store, StoreConfig, Work};

/// Blocks of all files below `segments/`.
fn lying(medium: &SimMedium) -> u64 {
    let files = medium.files();
    files.iter().filter(|(path, _)| path.starts_with("segments/")).map(|(_, blocks)| u64::from(*blocks)).sum()
}

fn with_quota(blocks: u64) -> StoreConfig {
    StoreConfig { retention_bytes: Some(blocks * BLOCK_LEN as u64), ..tiny() }
}

fn open(medium: &SimMedium, config: &StoreConfig) -> SimStore {
    Store::open(medium.clone(), config.clone(), DEVICE).expect("open").0
}

/// What a workload met.
#[derive(Debug, Default)]
struct Seen {
    most_blocks: u64,
    merges: u64,
    parts: u64,
    dropped: bool,
}

/// Steps of all kinds, checked after each; merges go on one small step at a time.
fn run(seed: u64, quota_blocks: u64, seen: &mut Seen) {
    let config = with_quota(quota_blocks);
    let medium = SimMedium::new();
    let (mut store, mut oracle) = (open(&medium, &config), Oracle::new());
    let mut random = Random::new(seed);
    let mut check = |store: &SimStore, what: &dyn std::fmt::Debug| {
        let blocks = lying(&medium);
        assert_eq!(store.segment_bytes(), blocks * BLOCK_LEN as u64, "seed {seed}, counted after {what:?}");
        let max = quota_blocks + u64::from(config.segment_blocks_max);
        assert!(blocks <= max, "seed {seed}: {blocks} blocks of at most {max} after {what:?}");
        seen.most_blocks = seen.most_blocks.max(blocks);
        seen.parts += u64::from(medium.files().iter().any(|(path, _)| path.ends_with(".silt.part")));
    };
    for step in steps(&mut random, 400, FROM) {
        match &step {
            Step::Message(identity, points) => {
                points.iter().for_each(|point| tell(&mut oracle, point));
                append(&mut store, Some(*identity), points).expect("append");
            }
            Step::Reopen => {
                drop(store);
                store = open(&medium, &config);
            }
            // Both leave the settings as they are elsewhere.
            Step::Over | Step::Expire(_) => {}
            Step::Work => loop {
                let work = store.work(40).expect("work");
                check(&store, &step);
                if work == Work::Idle {
                    break;
                }
            },
            other => play(&mut store, &mut oracle, std::slice::from_ref(other)).expect("play"),
        }
        check(&store, &step);
        // Some of a merge, which then waits.
        store.work(20).expect("work");
        check(&store, &"a little work");
    }
    seen.merges += store.written().merges;
    seen.dropped |= store.segments().len() < 100;
    oracle.acknowledge();
    oracle.expire();
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()), "seed {seed}");
}

#[test]
fn no_call_leaves_more_than_the_quota_and_one_segment() {
    for quota_blocks in [48, 60, 150] {
        let mut seen = Seen::default();
        (0..8).for_each(|seed| run(seed, quota_blocks, &mut seen));
        assert!(seen.most_blocks > quota_blocks / 2, "the quota was never near: {seen:?}");
        assert!(seen.dropped && seen.merges > 0 && seen.parts > 0, "{quota_blocks}: {seen:?}");
    }
}

#[test]
fn late_points_strewn_over_years_take_no_more_than_a_segment_ahead_of_the_quota() {
    const QUOTA: u64 = 400;
    const SEGMENT: u64 = 100;
    let config =
        StoreConfig { segment_blocks_max: SEGMENT as u32, late_bytes_max: 4 << 20, ..with_quota(QUOTA) };
    let medium = SimMedium::new();
    let (mut store, mut oracle) = (open(&medium, &config), Oracle::new());
    send(&mut store, &mut oracle, None, &[(0, FROM, Owned::Float(1.0))]).expect("append");
    for hour in 1..1_000_i64 {
        // Within a call, too: one more segment, and the names of what is written and of its directories.
        let beside = medium.used_blocks() - lying(&medium);
        medium.set_capacity(Some(beside + QUOTA + SEGMENT + SEGMENT));
        let point = (0, FROM - hour * 30 * HOUR_NS, Owned::Float(hour as f64));
        send(&mut store, &mut oracle, None, &[point]).expect("append");
        if hour % 200 == 0 {
            store.checkpoint().expect("checkpoint");
        }
        assert!(lying(&medium) <= QUOTA, "{} blocks after {hour}", lying(&medium));
    }
}

#[test]
fn segments_of_a_newer_format_count_and_stay() {
    let medium = SimMedium::new();
    let config = with_quota(200);
    let (mut store, mut oracle) = (open(&medium, &config), Oracle::new());
    for n in 0..50 {
        send(&mut store, &mut oracle, None, &[(0, FROM + n, Owned::Float(n as f64))]).expect("append");
    }
    store.seal().expect("seal");
    let path = store.segments()[0].path.clone();
    drop(store);
    // Of another device: of its own the store would not be opened.
    let header = medium.raw(&path, 0).expect("a header");
    assert!(medium.put(&path, 0, &of_version(of_device(header, [0xAB; 16]), 1)));
    let (store, recovery) = Store::open(medium.clone(), config, DEVICE).expect("open");
    assert_eq!((recovery.segments_unknown, recovery.unknown_blocks), (1, lying(&medium)));
    assert_eq!(store.segment_bytes(), lying(&medium) * BLOCK_LEN as u64);
}
