//! Are the heads that a start takes from few segments those that all of them together have? And does it read few?

use std::collections::BTreeMap;

use super::workload::{DEVICE, FROM, HOUR_NS, Owned, SimStore, Step, medium_error, name, open, play};
use super::workload::{send, steps, tiny};
use crate::block::SegmentId;
use crate::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use crate::segment::{Carried, CarriedHead, SealedNumber, SegmentHeader, SegmentKind, Writer};
use crate::store::open_segment::write_late;
use crate::store::sim::{Oracle, Random, SimMedium, Violation};
use crate::store::{PartitionSpan, SegmentFile, SegmentState, Store, StoreConfig, Work, Written, carried};

/// Where the series of each open partition end by the plain way: the roots of every segment, and the open one.
fn naive(store: &SimStore) -> Vec<BTreeMap<String, i64>> {
    let of_partition = |range: TimeRange, writer: Option<&Writer>| {
        let mut ends = BTreeMap::new();
        let mut raise = |name: &str, at: i64| {
            let end = ends.entry(name.to_string()).or_insert(at);
            *end = at.max(*end);
        };
        for file in store.segments.iter().filter(|file| file.is_in_order()) {
            if file.header.id.device == store.device && file.header.partition.overlaps(range) {
                ends_of(store, file).iter().for_each(|(name, at)| raise(name, *at));
            }
        }
        for (_, name, _, _, span) in writer.into_iter().flat_map(Writer::series_with_rows) {
            raise(name, span.end - 1);
        }
        ends
    };
    let open = store.open.iter();
    open.map(|open| of_partition(open.partition.range, open.segment.as_ref().map(|segment| &segment.writer)))
        .collect()
}

fn ends_of(store: &SimStore, file: &SegmentFile) -> Vec<(String, i64)> {
    use crate::store::Medium;
    let device = store.medium.open(&file.path).expect("opens").expect("a file");
    let last_times = file.last_times(&device).expect("reads");
    last_times.into_iter().map(|(name, _, _, at)| (name.as_str().to_string(), at)).collect()
}

/// The heads of every open partition, as the store has them.
fn heads(store: &SimStore) -> Vec<BTreeMap<String, i64>> {
    let of_partition = |heads: &crate::store::head::Heads| {
        let series = store.table.live().iter();
        series.filter_map(|(name, number)| Some((name.as_str().to_string(), heads.at(number)?))).collect()
    };
    store.open.iter().map(|open| of_partition(&open.heads)).collect()
}

/// No head may lie before the last row in order of its series, whatever the store read it from.
pub(super) fn check_heads(store: &SimStore) -> Result<(), Violation> {
    store.medium.clone().aside(|| {
        for (naive, heads) in naive(store).into_iter().zip(heads(store)) {
            for (name, at) in naive {
                if heads.get(&name).is_none_or(|head| *head < at) {
                    let head = heads.get(&name);
                    return Err(Violation::Refused(format!("{name} ends at {at} and its head is {head:?}")));
                }
            }
        }
        Ok(())
    })
}

fn check(store: &SimStore) {
    assert_eq!(check_heads(store), Ok(()));
}

/// Starts the store again after a kill, and opens the partition of `FROM` if that did not.
fn again(medium: &SimMedium) -> SimStore {
    let mut store = open(&medium.after_kill()).expect("open").0;
    store.make_way(FROM).map_err(medium_error).expect("a partition");
    check(&store);
    store
}

fn put(store: &mut SimStore, series: u64, at: i64) {
    send(store, &mut Oracle::new(), None, &[(series, FROM + at, Owned::Float(at as f64))]).expect("append");
}

fn work(store: &mut SimStore) {
    while store.work(100).map_err(medium_error).expect("work") == Work::More {}
}

fn in_order(store: &SimStore) -> Vec<&SegmentFile> {
    let mut files: Vec<&SegmentFile> = store.segments().iter().filter(|file| file.is_in_order()).collect();
    files.sort_by_key(|file| file.header.rank);
    files
}

/// What a segment carries.
fn carried_by(store: &SimStore, file: &SegmentFile) -> Option<carried::Carries> {
    use crate::store::Medium;
    let SegmentState::Sealed(sealed) = &file.state else { return None };
    let device = store.medium.open(&file.path).expect("opens").expect("a file");
    carried::read(sealed, &device).expect("reads")
}

/// A store with so many sealed segments in one partition, each with series of its own and one that is in all, and a few
/// points behind them.
fn with_segments(count: i64) -> SimMedium {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    for n in 0..count {
        (0..20).for_each(|m| put(&mut store, 0, n * 1_000 + m));
        put(&mut store, 1 + (n % 2) as u64, n * 1_000);
        store.seal().expect("seal");
    }
    put(&mut store, 0, count * 1_000);
    store.commit().expect("commit");
    assert_eq!(in_order(&store).len(), count as usize);
    medium
}

#[test]
fn a_start_reads_the_heads_of_as_many_segments_as_there_are_open_partitions() {
    let mut costs = Vec::new();
    for count in [2, 40] {
        let medium = with_segments(count).after_kill();
        let read = || {
            let segments = medium.files().into_iter().filter(|(path, _)| path.ends_with(".silt"));
            segments.map(|(path, _)| medium.blocks_read_of(&path)).sum::<u64>()
        };
        let before = read();
        let (store, _) = open(&medium).expect("open");
        // Its two ends, by which a start knows a segment.
        let ends: u32 = in_order(&store).iter().map(|file| file.block_count.min(5)).sum();
        costs.push(read() - before - u64::from(ends));
        assert_eq!(heads(&store), naive(&store));
        let (before, ends) = (read(), naive(&store));
        let plain = read() - before;
        assert_eq!((ends.len(), ends[0].len()), (1, 3));
        assert!(plain >= count as u64, "the plain way takes {plain} blocks, and that is seen");
    }
    assert_eq!(costs[0], costs[1], "whatever is stored");
}

#[test]
fn every_seal_says_exactly_what_the_segments_so_far_hold() {
    let mut sections = 0;
    for seed in 0..30 {
        let (medium, mut random) = (SimMedium::new(), Random::new(seed));
        let (mut store, _) = open(&medium).expect("open");
        let mut from = FROM;
        for round in 0..4 {
            let mut script = steps(&mut random, 40, from);
            // What drops or merges rows, or seals late ones with others, lets heads be higher.
            script.retain(|step| {
                matches!(step, Step::Message(..) | Step::Commit | Step::Checkpoint | Step::Seal)
            });
            play(&mut store, &mut Oracle::new(), &script).expect("play");
            check(&store);
            for file in in_order(&store) {
                let Some((listed, ends)) = carried_by(&store, file) else { continue };
                sections += 1;
                let is_meant = |other: &&&SegmentFile| {
                    let number = other.sealed_number();
                    other.header.id == file.header.id || number.is_some_and(|number| listed.contains(&number))
                };
                let mut wanted = BTreeMap::new();
                for (name, at) in in_order(&store).iter().filter(is_meant).flat_map(|f| ends_of(&store, f)) {
                    let end = wanted.entry(name).or_insert(at);
                    *end = at.max(*end);
                }
                let ends = ends.into_iter().map(|(name, _, _, at)| (name.as_str().to_string(), at));
                assert_eq!(ends.collect::<BTreeMap<_, _>>(), wanted, "seed {seed} {round} {}", file.path);
            }
            drop(store);
            store = open(&medium).expect("open").0;
            check(&store);
            from += 7 * HOUR_NS;
        }
    }
    assert!(sections > 300, "{sections} sections");
}

#[test]
fn heads_are_never_lower_whatever_was_done() {
    for seed in 100..160 {
        let (medium, mut random) = (SimMedium::new(), Random::new(seed));
        let (mut store, _) = open(&medium).expect("open");
        for round in 0..6 {
            let script = steps(&mut random, 25, FROM + round * 2 * HOUR_NS);
            play(&mut store, &mut Oracle::new(), &script).expect("play");
            check(&store);
            drop(store);
            store = open(&medium).expect("open").0;
            check(&store);
            let kept = heads(&store);
            drop(store);
            store = open(&medium).expect("open").0;
            check(&store);
            assert_eq!(heads(&store).len(), kept.len(), "seed {seed}");
        }
    }
}

#[test]
fn a_merge_carries_on_what_its_inputs_said() {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    for n in 0..6 {
        put(&mut store, n % 2, n as i64 * 1_000 + 500);
        store.seal().expect("seal");
        put(&mut store, 2, n as i64 * 1_000 + 700);
        put(&mut store, n % 2, n as i64);
        store.seal().expect("seal");
    }
    work(&mut store);
    let result = *in_order(&store).last().expect("one");
    assert!(!result.supersedes.inputs.is_empty());
    assert!(carried_by(&store, result).is_some_and(|(_, ends)| ends.len() >= 3));
    drop(store);
    let mut store = again(&medium);
    assert_eq!(heads(&store), naive(&store));
    // What ended there is gone: its head is not.
    store.delete(std::slice::from_ref(name(1)), TimeRange::ALL).expect("delete");
    (0..5).for_each(|n| {
        put(&mut store, 0, 900_000 + n);
        store.seal().expect("seal");
    });
    work(&mut store);
    let medium = store.medium.clone();
    drop(store);
    let store = again(&medium);
    let of_1 = |heads: Vec<BTreeMap<String, i64>>| heads[0].get(name(1).as_str()).copied();
    assert_eq!((of_1(naive(&store)), of_1(heads(&store))), (None, Some(FROM + 5_500)));
}

#[test]
fn dropped_segments_leave_their_heads_and_take_none_along() {
    let medium = with_segments(12);
    let mut store = again(&medium);
    let before = heads(&store);
    store.config.retention_bytes = Some(25 * 4_096);
    work(&mut store);
    store.checkpoint().expect("checkpoint");
    assert!(in_order(&store).len() < 12, "{} segments", in_order(&store).len());
    let medium = store.medium.clone();
    drop(store);
    assert_eq!(heads(&again(&medium)), before);
}

#[test]
fn what_can_not_be_read_is_read_elsewhere() {
    let medium = with_segments(6);
    for (path, blocks) in medium.files().into_iter().filter(|(path, _)| path.ends_with(".silt")) {
        for block in 0..blocks {
            let damaged = medium.after_kill();
            assert!(damaged.flip(&path, block, 400, 2));
            again(&damaged);
        }
    }
    // Other partitions: what was said of the old ones is not taken for theirs.
    for partition in [PartitionSpan::Day, PartitionSpan::Hour] {
        let config = StoreConfig { partition, ..tiny() };
        let mut store = Store::open(medium.clone(), config, DEVICE).expect("open").0;
        store.make_way(FROM).map_err(medium_error).expect("a partition");
        assert_eq!(heads(&store), naive(&store), "{partition:?}");
        store.seal().expect("seal");
    }
}

/// A store of which the newest segment speaks for all others, and says of series 0 that it ends at `at`.
fn with_a_word_for_all(at: i64, sealed_epoch: impl Fn(u32) -> u32) -> SimStore {
    let medium = with_segments(3);
    let mut store = again(&medium);
    store.seal().expect("seal");
    let files = in_order(&store);
    let number = |file: &&SegmentFile| {
        let number = file.sealed_number()?;
        Some(SealedNumber { sealed_epoch: sealed_epoch(number.sealed_epoch), ..number })
    };
    let segments: Vec<SealedNumber> = files.iter().filter_map(number).collect();
    let header = SegmentHeader {
        id: SegmentId { device: DEVICE, epoch: 7, number: 77 },
        rank: 1_000,
        ..files.last().expect("one").header
    };
    assert_eq!((segments.len(), header.kind), (4, SegmentKind::InOrder));
    let mut writer = Writer::new(header, 7);
    let index = writer.define(name(4), ValueKind::Float, "");
    let point = Point { timestamp: Timestamp(FROM), value: Value::Gap };
    writer.append(index, &point, 0).expect("in order");
    let told = |series: u64, at| CarriedHead {
        name: name(series).clone(),
        kind: ValueKind::Float,
        unit: String::new(),
        at: FROM + at,
    };
    writer.carry(Carried { segments, heads: vec![told(0, at), told(1, 2_000), told(2, 1_000)] });
    let mut medium = store.medium.clone();
    let partition = super::super::Partition::of(PartitionSpan::Hour, FROM).name();
    write_late(&mut medium, &partition, writer, &mut Written::default()).expect("written");
    drop(store);
    let mut store = open(&medium).expect("open").0;
    store.make_way(FROM).map_err(medium_error).expect("a partition");
    store
}

#[test]
fn a_wrong_word_is_found_out_and_one_about_another_state_is_not_believed() {
    assert_eq!(check_heads(&with_a_word_for_all(3_000, |epoch| epoch)), Ok(()));
    let wrong = check_heads(&with_a_word_for_all(2_999, |epoch| epoch));
    assert!(matches!(wrong, Err(Violation::Refused(_))), "{wrong:?}");
    // The segments were sealed at another time than it says: they are read themselves.
    assert_eq!(check_heads(&with_a_word_for_all(2_999, |epoch| epoch + 1)), Ok(()));
}

#[test]
fn a_message_that_is_cut_by_a_seal_counts_as_far_as_it_is_written() {
    let medium = SimMedium::new();
    let (mut store, _) = open(&medium).expect("open");
    put(&mut store, 1, 5);
    store.seal().expect("seal");
    let mut random = Random::new(5);
    let many = (0..30_000).map(|n| (0, FROM + n * 1_000, Owned::Float(random.next_u64() as f64)));
    let last = [(1, FROM + 40_000_000, Owned::Float(1.0))];
    let message: Vec<_> = many.chain(last).collect();
    send(&mut store, &mut Oracle::new(), None, &message).expect("append");
    assert!(in_order(&store).len() > 4, "it was cut");
    for file in &in_order(&store)[1..] {
        let (_, ends) = carried_by(&store, file).expect("a section");
        let of_1 = ends.iter().find(|(found, ..)| found == name(1)).map(|(.., at)| *at);
        assert_eq!(of_1, Some(FROM + 5), "{}", file.path);
    }
}
