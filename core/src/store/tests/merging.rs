//! What merging, deleting and dropping do to the files, beside what the power suites ask.

use super::asked::Asked;
use super::reader::{list, read};
use super::workload::{FROM, Owned, SimStore, label, medium_error, name, open, send, tiny};
use crate::point::TimeRange;
use crate::query::{Answer, Function, Question, Rows};
use crate::segment::SegmentKind;
use crate::store::sim::{Oracle, Random, SimMedium};
use crate::store::{Store, StoreConfig, Work};

/// Works until nothing is left to do; gives the steps it took.
fn work(store: &mut SimStore) -> usize {
    (1..).find(|_| store.work(100).map_err(medium_error).expect("work") == Work::Idle).unwrap_or(0)
}

fn put(store: &mut SimStore, oracle: &mut Oracle, at: i64, value: f64) {
    send(store, oracle, None, &[(0, FROM + at, Owned::Float(value))]).expect("append");
}

fn blocks_of(store: &SimStore) -> u32 {
    store.segments().iter().map(|file| file.block_count).sum()
}

#[test]
fn late_segments_become_one_and_everything_is_as_before() {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    let mut oracle = Oracle::new();
    (0..900).for_each(|n| put(&mut store, &mut oracle, 1_000_000 + n * 1_000, n as f64 / 3.0));
    store.checkpoint().expect("checkpoint");
    for round in 0..9 {
        (0..5).for_each(|n| put(&mut store, &mut oracle, n * 7 + round, (round * n) as f64));
        store.checkpoint().expect("checkpoint");
    }
    store.seal().expect("seal");
    oracle.acknowledge();
    let late = |store: &SimStore| store.segments().iter().filter(|file| !file.is_in_order()).count();
    assert_eq!(late(&store), 9);
    let before = blocks_of(&store);
    assert!(work(&mut store) > 3, "in small steps");
    assert!(late(&store) <= 1, "{} late segments", late(&store));
    assert!(blocks_of(&store) < before, "{} blocks, before {before}", blocks_of(&store));
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
    // The files that are left are those the store knows.
    let files = medium.files().into_iter().filter(|(path, _)| path.ends_with(".silt")).count();
    assert_eq!(files, store.segments().len());
    let after = store.segments().len();
    drop(store);
    let (mut store, _) = open(&medium).expect("open");
    assert_eq!((store.segments().len(), work(&mut store)), (after, 1), "and nothing is done again");
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
}

#[test]
fn a_restart_does_not_renew_what_merges_may_write() {
    let medium = SimMedium::new();
    let config = StoreConfig { merge_percent: 50, ..tiny() };
    let open = || Store::open(medium.clone(), config.clone(), [3; 16]).expect("open").0;
    let (mut store, mut oracle) = (open(), Oracle::new());
    (0..600).for_each(|n| put(&mut store, &mut oracle, 1_000_000 + n, n as f64 / 3.0));
    store.seal().expect("seal");
    let mut merges = 0;
    for round in 0..60 {
        (0..20).for_each(|n| put(&mut store, &mut oracle, n * 70 + round, (round * n) as f64));
        store.checkpoint().expect("checkpoint");
        if round % 3 == 0 {
            // Killed with something of a merge written.
            (0..4).for_each(|_| assert!(store.work(30).is_ok()));
        } else {
            work(&mut store);
        }
        drop(store);
        store = open();
        let written = store.written();
        merges = written.merges;
        let came_in = written.leaves + written.nodes + written.tails;
        // The last one may overlap the end of the budget by what its result needs more than its inputs: nothing.
        assert!(merges * 100 <= came_in * 50, "round {round}: {written:?}");
    }
    assert!(merges > 0);
    oracle.acknowledge();
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
}

#[test]
fn the_end_of_a_merge_goes_on_in_small_steps() {
    let medium = SimMedium::new();
    let config = StoreConfig { segment_blocks_max: 4_000, journal_file_blocks: 400, ..tiny() };
    let (mut store, _) = Store::open(medium.clone(), config, [3; 16]).expect("open");
    let mut oracle = Oracle::new();
    let mut random = Random::new(3);
    for n in 0..1_000 {
        let mut points = Vec::new();
        for m in 0..100 {
            let value = Owned::Float(f64::from_bits(random.next_u64() >> 2));
            points.push((if m % 10 < 8 { 0 } else { 1 }, FROM + n * 100_000 + m * 1_000, value));
        }
        send(&mut store, &mut oracle, None, &points).expect("append");
    }
    oracle.delete(label(name(1).as_str()), i64::MIN, i64::MAX);
    store.delete(std::slice::from_ref(name(1)), TimeRange::ALL).expect("delete");
    oracle.acknowledge();
    let before = store.segments().iter().map(|file| file.block_count).max().unwrap_or(0);
    assert!(before > 150, "{before} blocks");
    let mut most = 0;
    loop {
        let moved = || medium.blocks_read() + medium.blocks_written();
        let begin = moved();
        let is_more = store.work(500).map_err(medium_error).expect("work") == Work::More;
        most = most.max(moved() - begin);
        if !is_more {
            break;
        }
    }
    assert!(store.segments().iter().any(|file| !file.supersedes.inputs.is_empty()), "it was merged");
    assert!(most <= 80, "{most} blocks in one step");
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
}

#[test]
fn where_questions_waste_reads_late_and_in_order_become_one() {
    let medium = SimMedium::new();
    let config =
        StoreConfig { segment_blocks_max: 4_000, journal_file_blocks: 400, merge_neighbours: 100, ..tiny() };
    let (mut store, _) = Store::open(medium.clone(), config, [3; 16]).expect("open");
    let mut oracle = Oracle::new();
    let row = |n: i64| (0, FROM + n * 10_000_000, Owned::Float((n as f64 * 0.37).sin()));
    for n in 0..300 {
        let message: Vec<_> = (n * 100..n * 100 + 100).filter(|n| n % 20 > 0).map(row).collect();
        send(&mut store, &mut oracle, None, &message).expect("append");
    }
    store.seal().expect("seal");
    let late: Vec<_> = (0..30_000).filter(|n| n % 20 == 0).map(row).collect();
    late.chunks(50).for_each(|some| _ = send(&mut store, &mut oracle, None, some).expect("append"));
    store.seal().expect("seal");
    oracle.acknowledge();
    work(&mut store);
    let in_order = |store: &SimStore| store.segments().iter().filter(|file| file.is_in_order()).count();
    assert!(store.segments().len() > in_order(&store), "late segments are left");
    let mut costs = Vec::new();
    for _ in 0..40 {
        let mut asked = Asked::of(&mut store);
        let holdings = asked.holdings();
        let question = Question::aggregate(TimeRange::ALL, [Function::Count, Function::Max]);
        let (rows, statistics) = asked.ask(question, holdings);
        let Rows::Buckets(buckets) = &rows[0].1 else { panic!("buckets were asked for") };
        assert_eq!(buckets[0].answer(Function::Count), Answer::Count(30_000));
        asked.note(&statistics, &mut store);
        costs.push(statistics.points_decoded);
        work(&mut store);
    }
    assert_eq!((costs.first(), costs.last()), (Some(&30_000), Some(&0)), "{costs:?}");
    assert_eq!((store.segments().len(), in_order(&store)), (1, 1));
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
}

#[test]
fn in_order_points_are_never_merged() {
    let medium = SimMedium::new();
    let config = StoreConfig { merge_neighbours: 4, merge_percent: 40, ..tiny() };
    let (mut store, _) = Store::open(medium.clone(), config, [3; 16]).expect("open");
    let mut oracle = Oracle::new();
    for n in 0..60_000 {
        put(&mut store, &mut oracle, n * 50_000_000, (n as f64 * 0.37).sin());
        if n % 500 == 0 {
            store.work(1_000).expect("work");
        }
    }
    work(&mut store);
    assert!(store.segments().len() > 8, "{} segments", store.segments().len());
    assert!(store.segments().iter().all(|file| file.supersedes.inputs.is_empty()));
}

#[test]
fn what_is_deleted_is_gone_at_once_and_its_bytes_in_the_end() {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    let mut oracle = Oracle::new();
    for n in 0..400 {
        let at = FROM + n * 20_000_000_000;
        let point = |series: u64| (series, at, Owned::Float(n as f64 / 7.0));
        send(&mut store, &mut oracle, None, &[point(0), point(1)]).expect("append");
    }
    // Two series over three partitions; one of them goes.
    let span = TimeRange::ALL;
    let label_0 = label(name(0).as_str());
    oracle.delete(label_0, span.begin, span.end);
    store.delete(std::slice::from_ref(name(0)), span).expect("delete");
    oracle.acknowledge();
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
    // What comes later counts, also in the span.
    put(&mut store, &mut oracle, 5, 1.0);
    store.commit().expect("commit");
    oracle.acknowledge();
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
    drop(store);
    let (mut store, _) = open(&medium).expect("open");
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
    let tombstones = |store: &SimStore| {
        store.segments().iter().filter(|file| file.header.kind == SegmentKind::Tombstones).count()
    };
    assert_eq!(tombstones(&store), 1);
    store.seal().expect("seal");
    work(&mut store);
    assert_eq!(oracle.check(list(&read(&mut store))), Ok(()));
    assert_eq!(tombstones(&store), 0, "it was applied everywhere");
}

#[test]
fn nothing_is_merged_under_a_tombstone_that_cannot_be_read() {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    let mut oracle = Oracle::new();
    (0..50).for_each(|n| put(&mut store, &mut oracle, 1_000 + n, 1.0));
    store.delete(std::slice::from_ref(name(0)), TimeRange::ALL).expect("delete");
    (0..5).for_each(|n| put(&mut store, &mut oracle, n, 1.0));
    store.seal().expect("seal");
    let (path, blocks) =
        medium.files().into_iter().find(|(path, _)| path.contains("deletions")).expect("one");
    drop(store);
    assert!(medium.flip(&path, blocks - 1, 50, 1));
    let (mut store, _) = open(&medium).expect("open");
    let before = store.segments().len();
    work(&mut store);
    assert_eq!(store.segments().len(), before);
}

#[test]
fn a_merge_of_a_damaged_segment_is_given_up() {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    let mut oracle = Oracle::new();
    (0..50).for_each(|n| put(&mut store, &mut oracle, 1_000 + n, 1.0));
    store.seal().expect("seal");
    (0..5).for_each(|n| put(&mut store, &mut oracle, n, 1.0));
    store.seal().expect("seal");
    drop(store);
    let is_segment = |(path, _): &(String, u32)| path.ends_with(".silt");
    let (path, _) = medium.files().into_iter().find(is_segment).expect("a segment");
    // Its leaf; the tail stays whole.
    assert!(medium.flip(&path, 2, 500, 1));
    let (mut store, _) = open(&medium).expect("open");
    let before: Vec<String> = store.segments().iter().map(|file| file.path.clone()).collect();
    work(&mut store);
    let after: Vec<String> = store.segments().iter().map(|file| file.path.clone()).collect();
    assert_eq!(before, after);
    assert!(medium.files().iter().all(|(path, _)| !path.ends_with(".part")));
}
