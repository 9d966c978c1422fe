//! What the time decides: seals in steps, points ahead, and which segments are dropped.

use super::reader::{list, read};
use super::workload::{DEVICE, FROM, HOUR_NS, Owned, SimStore, medium_error, open, send, tiny};
use crate::store::sim::{Oracle, Random, SimMedium};
use crate::store::{Store, StoreConfig, Work};

const SECOND_NS: i64 = 1_000_000_000;
/// The first partition of these tests ends here.
const END: i64 = FROM - FROM % HOUR_NS + HOUR_NS;

fn put(store: &mut SimStore, oracle: &mut Oracle, at: i64, value: f64) {
    send(store, oracle, None, &[(0, at, Owned::Float(value))]).expect("append");
}

fn commit(store: &mut SimStore, oracle: &mut Oracle) {
    store.commit().map_err(medium_error).expect("commit");
    oracle.acknowledge();
}

fn work(store: &mut SimStore) -> usize {
    (1..).find(|_| store.work(100).map_err(medium_error).expect("work") == Work::Idle).unwrap_or(0)
}

fn open_with(medium: &SimMedium, config: StoreConfig) -> SimStore {
    Store::open(medium.clone(), config, DEVICE).expect("open").0
}

#[test]
fn a_partition_that_is_over_is_sealed_in_steps_and_points_go_on() {
    let medium = SimMedium::new();
    let mut store = open_with(&medium, StoreConfig { segment_blocks_max: 9_000, ..tiny() });
    let mut oracle = Oracle::new();
    store.set_time(Some(END - SECOND_NS), true);
    for n in 0..3_000 {
        put(&mut store, &mut oracle, END - (3_000 - n) * 100_000_000, (n * n) as f64 / 3.0);
    }
    put(&mut store, &mut oracle, END + SECOND_NS, 1.0);
    commit(&mut store, &mut oracle);
    store.set_time(Some(END + 600 * SECOND_NS), true);
    assert_eq!(work(&mut store), 1, "its grace is not over");
    store.set_time(Some(END + 601 * SECOND_NS), true);
    let mut steps = 0;
    while store.segments().is_empty() {
        store.work(100).expect("work");
        steps += 1;
        // Of the next partition, of the one that is being sealed, and older than that.
        for at in [END + 600 * SECOND_NS + steps, END - 1_000 + steps, FROM + steps] {
            put(&mut store, &mut oracle, at, steps as f64);
        }
        commit(&mut store, &mut oracle);
        assert_eq!(oracle.check(list(&read(&mut store))), Ok(()), "step {steps}");
        let killed = medium.after_kill();
        let (mut again, _) = open(&killed).expect("open");
        assert_eq!(oracle.check(list(&read(&mut again))), Ok(()), "killed after step {steps}");
    }
    assert!(steps > 2, "in {steps} steps");
    store.checkpoint().expect("checkpoint");
    assert_eq!(store.segments().iter().filter(|file| file.is_in_order()).count(), 1, "stragglers are late");
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
}

#[test]
fn what_is_ahead_opens_nothing_and_is_written_over_by_what_comes_then() {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    let mut oracle = Oracle::new();
    let now = END - 1_800 * SECOND_NS;
    store.set_time(Some(now), true);
    put(&mut store, &mut oracle, now, 1.0);
    let ten_years = now + 87_600 * HOUR_NS;
    let ahead = now + 900 * SECOND_NS;
    for at in [ten_years, ahead] {
        put(&mut store, &mut oracle, at, 2.0);
    }
    store.checkpoint().expect("checkpoint");
    oracle.acknowledge();
    assert_eq!(store.segments().iter().filter(|file| !file.is_in_order()).count(), 2);
    let in_order = |store: &mut SimStore, at, value| {
        let series = store.series(super::workload::name(0), crate::point::ValueKind::Float, "W");
        let point = crate::point::Point {
            timestamp: crate::point::Timestamp(at),
            value: crate::point::Value::Float(value),
        };
        let reading = crate::store::Reading { series: series.expect("series"), point };
        store.append(&[reading], None).expect("append").in_order
    };
    // Time goes on, and right clocks come to where the wrong one was; also after a restart.
    let killed = medium.after_kill();
    for is_restarted in [false, true] {
        let mut oracle = oracle.clone();
        let (mut other, _) = open(&killed).expect("open");
        let store = if is_restarted { &mut other } else { &mut store };
        store.set_time(Some(ahead), true);
        for (n, at) in (now + SECOND_NS..ahead + 3 * SECOND_NS).step_by(300_000_000_000).enumerate() {
            oracle.write("m0{device=\"d0", at, crate::point::Value::Float(n as f64));
            assert_eq!(in_order(store, at, n as f64), 1, "{n}, restarted: {is_restarted}");
        }
        put(store, &mut oracle, ahead, 7.0);
        commit(store, &mut oracle);
        store.checkpoint().expect("checkpoint");
        let points = read(store);
        let value = points.iter().find(|((_, at), _)| *at == ahead).map(|(_, value)| value.clone());
        assert_eq!(
            value,
            Some(crate::store::OwnedValue::Float(7.0f64.to_bits())),
            "restarted: {is_restarted}"
        );
    }
}

/// A store of `hours` partitions of one in-order segment each.
fn hours(medium: &SimMedium, config: StoreConfig, hours: i64) -> SimStore {
    let mut store = open_with(medium, config.clone());
    let mut oracle = Oracle::new();
    for hour in 0..hours {
        for n in 0..100 {
            put(&mut store, &mut oracle, END + hour * HOUR_NS + n, n as f64 / 3.0);
        }
        store.seal().expect("seal");
        // So that any partition may be opened.
        drop(store);
        store = open_with(medium, config.clone());
    }
    store
}

#[test]
fn the_oldest_segments_go_when_there_are_too_many_bytes() {
    let medium = SimMedium::new();
    let mut store = hours(&medium, tiny(), 8);
    let bytes = store.segment_bytes();
    let (each, count) = (bytes / 8, store.segments().len());
    assert_eq!(count, 8);
    store.config.retention_bytes = Some(bytes - 2 * each);
    let written = medium.blocks_written();
    work(&mut store);
    assert_eq!(store.segments().len(), 6);
    assert_eq!(medium.blocks_written(), written, "nothing is written for it");
    let first = store.segments().iter().map(|file| file.header.partition.begin).min();
    assert_eq!(first, Some(END + 2 * HOUR_NS));
    let files = medium.files().into_iter().filter(|(path, _)| path.ends_with(".silt")).count();
    assert_eq!(files, 6);
    // At a start too, with no room at all, and nothing comes back.
    drop(store);
    medium.set_capacity(Some(medium.used_blocks()));
    let config = StoreConfig { retention_bytes: Some(3 * each), ..tiny() };
    let mut store = open_with(&medium, config);
    assert_eq!(store.segments().len(), 3);
    assert_eq!(read(&mut store).len(), 300);
}

#[test]
fn what_the_journal_still_holds_of_a_dropped_segment_does_not_come_back() {
    let medium = SimMedium::new();
    let mut store = hours(&medium, tiny(), 3);
    let mut oracle = Oracle::new();
    // The oldest partition gets its points last, written over in part, and no checkpoint comes.
    for n in 0..9_000 {
        put(&mut store, &mut oracle, FROM - 2 * HOUR_NS + n * 300_000_000, (n as f64 * 0.37).sin());
    }
    commit(&mut store, &mut oracle);
    let of_oldest =
        |store: &SimStore| store.segments().iter().filter(|file| file.header.partition.begin < FROM).count();
    assert!(of_oldest(&store) > 0);
    store.config.retention_bytes = Some(store.segment_bytes() - 1);
    work(&mut store);
    let held = read(&mut store);
    drop(store);
    let (mut store, recovery) = open(&medium).expect("open");
    assert_eq!(read(&mut store).len(), held.len(), "{recovery:?}");
}

#[test]
fn by_age_one_partition_an_hour_goes() {
    let medium = SimMedium::new();
    let config = StoreConfig { retention_ns: Some(24 * HOUR_NS), ..tiny() };
    let mut store = hours(&medium, config, 4);
    work(&mut store);
    assert_eq!(store.segments().len(), 4, "without a clock nothing is old");
    let mut now = END + 24 * HOUR_NS;
    store.set_time(Some(now), true);
    work(&mut store);
    assert_eq!(store.segments().len(), 4);
    // The clock jumps: still one at a time.
    for left in [3, 2, 1, 0, 0] {
        now += 100 * HOUR_NS * i64::from(left == 3) + HOUR_NS;
        store.set_time(Some(now), true);
        work(&mut store);
        store.set_time(Some(now + HOUR_NS - 1), true);
        work(&mut store);
        assert_eq!(store.segments().len(), left);
    }
}

#[test]
fn no_restart_begins_the_hour_anew() {
    let config = StoreConfig { retention_ns: Some(24 * HOUR_NS), ..tiny() };
    // Killed after each small step of work, or when there is nothing more to do.
    for steps in [1, 2, 3, 100] {
        let medium = SimMedium::new();
        drop(hours(&medium, config.clone(), 6));
        let mut now = END + 87_600 * HOUR_NS;
        let mut left = Vec::new();
        for _ in 0..20 {
            let mut store = open_with(&medium, config.clone());
            now += SECOND_NS;
            store.set_time(Some(now), true);
            (0..steps).for_each(|_| _ = store.work(100).expect("work"));
            left.push(store.segments().len());
        }
        assert_eq!(left.last(), Some(&5), "{steps} steps: {left:?}");
        // The clock is set right: nothing is old by it, and what gets old goes an hour after that at the earliest.
        let mut store = open_with(&medium, config.clone());
        let right = END + 40 * HOUR_NS;
        for (at, left) in
            [(right, 5), (right + HOUR_NS - 1, 5), (right + HOUR_NS, 4), (right + HOUR_NS + 1, 4)]
        {
            store.set_time(Some(at), true);
            work(&mut store);
            assert_eq!(store.segments().len(), left, "{steps} steps");
        }
        // Also where what said so was lost with the power.
        drop(store);
        let mut store = open_with(&medium.after_crash(&[], &mut Random::new(1)), config.clone());
        store.set_time(Some(right + 2 * HOUR_NS - 1), true);
        work(&mut store);
        assert_eq!(store.segments().len(), 4, "{steps} steps");
    }
}

/// What an expiry is played on, and which path it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expiry {
    /// By bytes; the journal holds nothing of what goes.
    Plain,
    /// By bytes; the journal holds points of what goes, so that a checkpoint comes first.
    InJournal,
    /// By bytes; an open segment ranks below what goes: it is sealed first.
    Below,
    /// By age: a checkpoint says so first.
    Aged,
}

/// A store in which something has to go by this path.
fn to_expire(medium: &SimMedium, path: Expiry) -> SimStore {
    // Nothing is merged, and no checkpoint comes by itself.
    let config = StoreConfig { merge_percent: 0, journal_file_blocks: 2_048, ..tiny() };
    let mut store = hours(medium, config, 6);
    let mut oracle = Oracle::new();
    let oldest = FROM - 2 * HOUR_NS;
    let rows = match path {
        Expiry::Plain | Expiry::Aged => 0,
        Expiry::InJournal => 9_000,
        Expiry::Below => 400,
    };
    for n in 0..rows {
        put(&mut store, &mut oracle, oldest + n * 300_000_000, (n as f64 * 0.37).sin());
    }
    if path == Expiry::Below {
        store.checkpoint().expect("checkpoint");
        put(&mut store, &mut oracle, oldest + 1, 1.0);
        store.checkpoint().expect("checkpoint");
    }
    commit(&mut store, &mut oracle);
    store
}

/// What is dropped costs a directory, and at most 16 blocks more than the checkpoint, or where an open segment is in the
/// way the seal, that comes before it and would have come by itself later. A partition that goes by its age costs the record
/// of a checkpoint that says so.
#[test]
fn an_expiry_writes_little_more_than_the_checkpoint_that_comes_before_it() {
    const BLOCKS_A_SEGMENT: u64 = 16;
    for path in [Expiry::Plain, Expiry::InJournal, Expiry::Below, Expiry::Aged] {
        let (twin_medium, medium) = (SimMedium::new(), SimMedium::new());
        let mut twin = to_expire(&twin_medium, path);
        let before = twin_medium.blocks_written();
        match path {
            Expiry::Plain | Expiry::Aged => {}
            Expiry::InJournal => twin.checkpoint().expect("checkpoint"),
            Expiry::Below => twin.seal().expect("seal"),
        }
        let anyway = twin_medium.blocks_written() - before;
        let mut store = to_expire(&medium, path);
        let (before, segments) = (medium.blocks_written(), store.segments().len() as u64);
        if path == Expiry::Aged {
            store.config.retention_ns = Some(24 * HOUR_NS);
            store.set_time(Some(END + 27 * HOUR_NS), true);
        } else {
            let bytes = store.segment_bytes();
            let kept = if path == Expiry::Plain { bytes - 1 } else { bytes / 2 };
            store.config.retention_bytes = Some(kept);
        }
        work(&mut store);
        let written = medium.blocks_written() - before;
        // A seal on the way makes a file more than there was.
        let files = segments + u64::from(path == Expiry::Below);
        let dropped = files.saturating_sub(store.segments().len() as u64);
        eprintln!("{path:?}: {written} blocks, {anyway} anyway, {dropped} segments dropped");
        assert!(dropped > 0 && (dropped > 1 || path != Expiry::InJournal), "{path:?}: {dropped}");
        assert!(
            written <= anyway + BLOCKS_A_SEGMENT * dropped,
            "{path:?}: {written} blocks, {anyway} anyway"
        );
        assert!(anyway > 0 || matches!(path, Expiry::Plain | Expiry::Aged), "{path:?}");
        assert!(path != Expiry::Plain || written == 0, "{written}");
    }
}
