//! Where a point goes: in order, late, or nowhere because it repeats the last one; and which value counts.

use super::reader::{list, read};
use super::workload::{DEVICE, HOUR_NS, Owned, SimStore, label, name, open, send, tiny};
use crate::point::{Point, Timestamp, Value, ValueKind};
use crate::segment::SegmentKind;
use crate::series::SeriesName;
use crate::store::sim::{Oracle, OwnedValue, Random, SimMedium};
use crate::store::{Appended, Identity, Reading, Store, StoreConfig, StoreError};

const NOON: i64 = 1_699_963_200_000_000_000;
const SECOND: i64 = 1_000_000_000;

fn fresh() -> (SimMedium, SimStore) {
    let medium = SimMedium::new();
    let store = open(&medium).expect("open").0;
    (medium, store)
}

fn put(store: &mut SimStore, at: i64, value: f64) -> Appended {
    send(store, &mut Oracle::new(), None, &[(0, at, Owned::Float(value))]).expect("append")
}

fn value_at(store: &mut SimStore, at: i64) -> Option<f64> {
    let points = read(store);
    let found = points.iter().find(|((_, t), _)| *t == at).map(|(_, value)| value.clone());
    found.map(|value| match value {
        OwnedValue::Float(bits) => f64::from_bits(bits),
        other => panic!("{other:?}"),
    })
}

const IN_ORDER: Appended = Appended { in_order: 1, late: 0, repeats: 0 };
const LATE: Appended = Appended { in_order: 0, late: 1, repeats: 0 };
const REPEAT: Appended = Appended { in_order: 0, late: 0, repeats: 1 };

#[test]
fn the_last_write_counts_before_and_after_every_step() {
    let (medium, mut store) = fresh();
    assert_eq!(put(&mut store, NOON + 10, 1.0), IN_ORDER);
    assert_eq!(put(&mut store, NOON + 10, 1.0), REPEAT);
    assert_eq!(put(&mut store, NOON + 10, 2.0), IN_ORDER, "among rows that are not coded");
    assert_eq!(put(&mut store, NOON + 5, 7.0), IN_ORDER);
    assert_eq!(put(&mut store, NOON + 5, 7.0), REPEAT);
    assert_eq!(value_at(&mut store, NOON + 10), Some(2.0));
    store.checkpoint().expect("checkpoint");
    assert_eq!((value_at(&mut store, NOON + 10), store.late_points()), (Some(2.0), 0));
    assert_eq!(put(&mut store, NOON + 10, 3.0), LATE);
    store.commit().expect("commit");
    drop(store);
    let (mut store, recovery) = open(&medium).expect("open");
    assert_eq!((recovery.points_replayed, recovery.points_skipped), (1, 0));
    assert_eq!((value_at(&mut store, NOON + 10), value_at(&mut store, NOON + 5)), (Some(3.0), Some(7.0)));
}

#[test]
fn disorder_within_the_raw_tail_makes_no_late_point() {
    let (medium, mut store) = fresh();
    // Each point is up to 60 places from where it belongs, in messages of one and of many.
    let mut times: Vec<i64> = (0..3_000).collect();
    let mut random = Random::new(7);
    times.chunks_mut(60).for_each(|chunk| {
        for at in (1..chunk.len()).rev() {
            chunk.swap(at, random.below(at as u64 + 1) as usize);
        }
    });
    let mut oracle = Oracle::new();
    let mut rest = times.as_slice();
    while !rest.is_empty() {
        let (message, behind) = rest.split_at(rest.len().min(1 + random.below(9) as usize));
        let points: Vec<_> =
            message.iter().map(|t| (0, NOON + t * SECOND, Owned::Float(*t as f64))).collect();
        let appended = send(&mut store, &mut oracle, None, &points).expect("append");
        assert_eq!(appended.late, 0);
        rest = behind;
    }
    assert_eq!(put(&mut store, NOON + SECOND / 2, 1.0), LATE, "far behind what is coded");
    oracle.write(label(name(0).as_str()), NOON + SECOND / 2, Value::Float(1.0));
    store.commit().expect("commit");
    oracle.acknowledge();
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
    // The same from the journal alone.
    drop(store);
    let (mut store, recovery) = open(&medium).expect("open");
    assert_eq!(recovery.points_replayed + recovery.points_skipped, 3_001);
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
}

#[test]
fn the_head_outlives_sealing_and_restart() {
    let (medium, mut store) = fresh();
    put(&mut store, NOON + 10, 1.0);
    store.seal().expect("seal");
    assert_eq!(put(&mut store, NOON + 9, 1.0), LATE);
    assert_eq!(put(&mut store, NOON + 11, 1.0), IN_ORDER);
    store.close().expect("close");
    let mut store = open(&medium).expect("open").0;
    assert_eq!(put(&mut store, NOON + 11, 5.0), LATE);
    assert_eq!(put(&mut store, NOON + 12, 5.0), IN_ORDER);
    assert_eq!(read(&mut store).len(), 4);
}

#[test]
fn a_point_years_ahead_stretches_nothing() {
    let (_, mut store) = fresh();
    let ahead = NOON + 9 * 365 * 24 * HOUR_NS;
    put(&mut store, NOON, 1.0);
    assert_eq!(put(&mut store, ahead, 1.0), IN_ORDER, "it opens its own partition");
    assert_eq!(put(&mut store, ahead + 700 * HOUR_NS, 1.0), LATE, "a third is not opened");
    for n in 1..2_000 {
        assert_eq!(put(&mut store, NOON + n, n as f64), IN_ORDER, "point {n}");
    }
    // Time goes on: the next hour takes the place of the idle partition far ahead.
    assert_eq!(put(&mut store, NOON + HOUR_NS, 1.0), IN_ORDER);
    assert_eq!(put(&mut store, ahead + 1, 1.0), LATE);
    store.seal().expect("seal");
    for file in store.segments() {
        let length = file.header.partition.end - file.header.partition.begin;
        assert_eq!(length, HOUR_NS, "{}", file.path);
    }
    assert_eq!(read(&mut store).len(), 2_004);
}

#[test]
fn three_clocks_do_not_make_a_segment_a_point() {
    let (_, mut store) = fresh();
    for n in 0..3_000 {
        put(&mut store, NOON + (n % 3) * HOUR_NS + n * 1_000, n as f64);
    }
    store.seal().expect("seal");
    assert!(store.segments().len() < 150, "{} segments", store.segments().len());
    let in_order = store.segments().iter().filter(|file| file.is_in_order()).count();
    assert!(in_order < 30, "{in_order} of them in order");
    assert_eq!(read(&mut store).len(), 3_000);
}

#[test]
fn late_points_of_a_partition_rank_below_what_comes_in_order_there() {
    let (medium, mut store) = fresh();
    put(&mut store, NOON, 1.0);
    put(&mut store, NOON + 50 * HOUR_NS, 1.0);
    let contested = NOON + 100 * HOUR_NS + HOUR_NS / 2;
    assert_eq!(put(&mut store, contested, 1.0), LATE);
    for n in 1..1_500 {
        put(&mut store, NOON + n, 0.0);
    }
    for n in 1..400 {
        // Enough of them open their partition in place of an idle one.
        put(&mut store, contested - n, 0.0);
    }
    assert_eq!(put(&mut store, contested, 2.0), IN_ORDER);
    assert_eq!(value_at(&mut store, contested), Some(2.0));
    store.commit().expect("commit");
    drop(store);
    let mut store = open(&medium).expect("open").0;
    assert_eq!(value_at(&mut store, contested), Some(2.0));
}

#[test]
fn late_points_become_one_sealed_segment_a_partition() {
    let (_, mut store) = fresh();
    put(&mut store, NOON + 10 * HOUR_NS, 1.0);
    put(&mut store, NOON + 11 * HOUR_NS, 1.0);
    for hour in 0..3 {
        (0..5).for_each(|n| assert_eq!(put(&mut store, NOON + hour * HOUR_NS + n, 1.0), LATE));
    }
    store.checkpoint().expect("checkpoint");
    let late = store.segments().iter().filter(|file| file.header.kind == SegmentKind::Late);
    let paths: Vec<&str> = late.map(|file| file.path.as_str()).collect();
    assert_eq!(paths.len(), 3);
    assert!(paths[0].starts_with("segments/2023-11-14T12/"), "{}", paths[0]);
}

#[test]
fn late_points_that_fill_the_memory_leave_open_series_alone() {
    let (medium, mut store) = fresh();
    (0..100).for_each(|n| assert_eq!(put(&mut store, NOON + n * SECOND, n as f64), IN_ORDER));
    let leaves = store.written().leaves;
    // An hour of its own that is not open any more.
    put(&mut store, NOON + 5 * HOUR_NS, 1.0);
    let mut late = 0;
    while store.segments().is_empty() {
        assert_eq!(put(&mut store, NOON - 10 * HOUR_NS + late, late as f64), LATE);
        late += 1;
    }
    assert_eq!(store.late_points(), 0);
    assert!(store.segments().iter().all(|file| file.header.kind == SegmentKind::Late));
    assert!(store.written().leaves <= leaves + 2 + 3, "{:?}", store.written());
    assert_eq!(put(&mut store, NOON + SECOND / 2, 7.0), IN_ORDER, "among rows that are still not coded");
    store.commit().expect("commit");
    drop(store);
    let (mut store, recovery) = open(&medium).expect("open");
    assert_eq!((recovery.points_replayed, recovery.points_skipped), (102, late as u64));
    assert_eq!(read(&mut store).len(), 102 + late as usize);
}

#[test]
fn what_can_not_be_stored_is_refused_whole() {
    let (_, mut store) = fresh();
    let name = SeriesName::parse("t").expect("a name");
    let series = store.series(&name, ValueKind::State, "").expect("a series");
    let long = "x".repeat(256);
    let point = |at, value| Reading { series, point: Point { timestamp: Timestamp(at), value } };
    let good = point(NOON, Value::State("open"));
    for (bad, says) in [
        (point(NOON, Value::State(&long)), "255"),
        (point(i64::MAX, Value::Gap), "largest"),
        (Reading { series: crate::store::SeriesId(99), ..good }, "number"),
    ] {
        let error = store.append(&[good, bad], None).expect_err("refused");
        assert!(error.to_string().contains(says), "{error}");
    }
    assert!(store.series(&name, ValueKind::State, &long).is_err());
    assert!(read(&mut store).is_empty(), "nothing of those messages is there");
    store.append(&[good], None).expect("the store goes on");
    assert_eq!(read(&mut store).len(), 1);
}

#[test]
fn a_message_that_comes_again_is_known() {
    let (medium, mut store) = fresh();
    let identity = |packet| Identity { session: 4, packet, hash: [9; 5] };
    for packet in 0..8 {
        send(&mut store, &mut Oracle::new(), Some(identity(packet)), &[(0, NOON + 1, Owned::Gap)])
            .expect("send");
        assert!(store.is_stored(&identity(packet)));
    }
    store.commit().expect("commit");
    drop(store);
    let store = open(&medium).expect("open").0;
    assert!((0..8).all(|packet| store.is_stored(&identity(packet))));
    assert!(!store.is_stored(&identity(8)) && !store.is_stored(&Identity { session: 5, ..identity(1) }));
    store.close().expect("close");
    let store = open(&medium).expect("open").0;
    assert!((0..8).all(|packet| store.is_stored(&identity(packet))), "a checkpoint carries them on");
}

#[test]
fn after_an_error_of_the_medium_nothing_is_taken() {
    let (medium, mut store) = fresh();
    put(&mut store, NOON, 1.0);
    medium.cut_power_at(medium.operations());
    assert!(matches!(store.commit(), Err(StoreError::Medium(_))));
    assert!(matches!(store.commit(), Err(StoreError::Failed)));
    let series =
        store.series(&SeriesName::parse("t").expect("a name"), ValueKind::Float, "").expect("a series");
    let point = Point { timestamp: Timestamp(NOON), value: Value::Gap };
    assert!(matches!(store.append(&[Reading { series, point }], None), Err(StoreError::Failed)));
}

#[test]
fn a_message_larger_than_a_journal_file_is_taken_in_pieces() {
    let (medium, mut store) = fresh();
    let points: Vec<_> = (0..20_000).map(|n| (0, NOON + n * 1_000, Owned::Float(n as f64 / 7.0))).collect();
    let identity = Identity { session: 1, packet: 1, hash: [1; 5] };
    send(&mut store, &mut Oracle::new(), Some(identity), &points).expect("send");
    store.commit().expect("commit");
    assert_eq!(read(&mut store).len(), 20_000);
    drop(store);
    let mut store = open(&medium).expect("open").0;
    assert_eq!(read(&mut store).len(), 20_000);
    assert!(store.is_stored(&identity));
}

#[test]
fn a_commit_of_a_small_message_is_one_block_and_one_flush() {
    let medium = SimMedium::new();
    let (mut store, _) =
        Store::open(medium.clone(), StoreConfig { journal_file_blocks: 256, ..tiny() }, DEVICE)
            .expect("open");
    put(&mut store, NOON, 1.0);
    store.commit().expect("commit");
    let (blocks, flushes) = (medium.blocks_written(), medium.flushes());
    for n in 1..50 {
        for m in 0..16 {
            put(&mut store, NOON + n * SECOND + m, 0.1 * m as f64);
        }
        store.commit().expect("commit");
    }
    assert_eq!((medium.blocks_written() - blocks, medium.flushes() - flushes), (49, 49));
    store.commit().expect("nothing to do");
    assert_eq!(medium.flushes() - flushes, 49);
}
