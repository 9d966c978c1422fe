//! Times at which clocks and counters end or stumble: 2038, 2106, the last nanoseconds of 2262, before 1970, the first
//! nanoseconds there are, and the second that a leap second repeats. They are stored, found again after a kill and a
//! seal, and every function over them is what the points say.

use std::collections::BTreeMap;

use super::asked::Asked;
use super::disorder::{Series, functions, held};
use super::reader::read;
use super::workload::{DEVICE, HOUR_NS, SimStore, tiny};
use crate::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use crate::query::Buckets;
use crate::series::SeriesName;
use crate::store::sim::SimMedium;
use crate::store::{Partition, PartitionSpan, Reading, Store, StoreConfig, Work};

const SECOND_NS: i64 = 1_000_000_000;
const SPANS: [PartitionSpan; 4] =
    [PartitionSpan::Hour, PartitionSpan::Day, PartitionSpan::Month, PartitionSpan::Year];

/// Half seconds around a time.
fn around(at: i64) -> Vec<i64> {
    (-8..8).map(|n| at + n * SECOND_NS / 2).collect()
}

/// Each place, its name, and the times at which readings come, in the order of their coming.
fn places() -> Vec<(&'static str, Vec<i64>)> {
    let leap = 1_483_228_800 * SECOND_NS;
    // 23:59:59 of the last day of 2016 is there twice, with other values the second time.
    let repeated: Vec<i64> = [-4, -3, -2, -1, -2, -1, 0, 1, 2].map(|n| leap + n * SECOND_NS / 2).to_vec();
    vec![
        ("2038", around((1 << 31) * SECOND_NS)),
        ("2106", around((1 << 32) * SECOND_NS)),
        ("the end", (1..20).rev().map(|n| i64::MAX - n).collect()),
        ("1970", around(0)),
        ("1969", around(-HOUR_NS * 24 * 365)),
        ("the beginning", (0..20).map(|n| i64::MIN + n).collect()),
        ("a leap second", repeated),
    ]
}

fn name() -> SeriesName {
    SeriesName::parse("t{device=\"a\"}").expect("a name")
}

/// Everything there is, read and asked for, is what was sent.
fn check(store: &mut SimStore, expected: &Series, what: &str) {
    let points: Series = read(store).into_iter().map(|((_, at), value)| (at, value)).collect();
    assert_eq!(&points, expected, "{what}");
    let mut asked = Asked::of(store);
    let holdings = asked.holdings();
    let expected = BTreeMap::from([(name(), expected.clone())]);
    let span = TimeRange::hull(holdings.iter().filter_map(|holding| holding.span())).expect("rows");
    let step_ns = (span.end - span.begin) / 3;
    // Nobody asks for buckets of a few nanoseconds.
    let steps = (step_ns >= SECOND_NS).then_some(Buckets::Step { origin_ns: 0, step_ns });
    for buckets in [Some(Buckets::Whole), steps].into_iter().flatten() {
        functions(&asked, &expected, holdings.clone(), span, &buckets);
    }
    functions(&asked, &expected, holdings, TimeRange::ALL, &Buckets::Whole);
}

#[test]
fn what_comes_at_the_ends_of_time_is_stored_and_found() {
    for ((what, times), span) in
        places().into_iter().flat_map(|place| SPANS.map(|span| (place.clone(), span)))
    {
        let what = format!("{what}, {span:?}");
        let config = held(StoreConfig { partition: span, ..tiny() });
        let medium = SimMedium::new();
        let (mut store, _) = Store::open(medium.clone(), config.clone(), DEVICE).expect("open");
        let mut expected = Series::new();
        for (n, at) in times.iter().enumerate() {
            // A right clock, which shows that time.
            store.set_time(Some(*at), true);
            let series = store.series(&name(), ValueKind::Float, "").expect("a series");
            let value = Value::Float((n * n) as f64 / 4.0);
            let reading = Reading { series, point: Point { timestamp: Timestamp(*at), value } };
            store.append(&[reading], None).unwrap_or_else(|error| panic!("{what}: {error}"));
            expected.insert(*at, value.into());
            if n % 3 == 0 {
                store.commit().expect("commit");
                while store.work(100).expect("work") == Work::More {}
            }
        }
        store.commit().expect("commit");
        check(&mut store, &expected, &what);
        for file in store.segments() {
            assert!(times.iter().any(|at| file.header.partition.contains(*at)), "{what}: {}", file.path);
        }
        drop(store);
        let (mut store, _) = Store::open(medium.after_kill(), config.clone(), DEVICE).expect("open");
        check(&mut store, &expected, &format!("{what}, killed"));
        store.seal().expect("seal");
        check(&mut store, &expected, &format!("{what}, sealed"));
        // Kept for ever means for ever, whatever the clock shows.
        store.config.retention_ns = Some(i64::MAX);
        for now in [i64::MIN, 0, i64::MAX] {
            store.set_time(Some(now), true);
            while store.work(100).expect("work") == Work::More {}
        }
        check(&mut store, &expected, &format!("{what}, with clocks at the ends"));
    }
}

#[test]
fn partitions_hold_the_ends_of_time_and_meet() {
    for (what, times) in places() {
        for (span, at) in times.into_iter().flat_map(|at| SPANS.map(|span| (span, at))) {
            let partition = Partition::of(span, at);
            let range = partition.range;
            assert!(range.contains(at), "{what}, {span:?}: {at} in {range:?}");
            // Its neighbours begin where it ends, where there is time for them.
            if range.end < i64::MAX {
                assert_eq!(Partition::of(span, range.end).range.begin, range.end, "{what}, {span:?}");
            }
            if range.begin > i64::MIN {
                assert_eq!(Partition::of(span, range.begin - 1).range.end, range.begin, "{what}, {span:?}");
            }
        }
    }
    let hour = |at| Partition::of(PartitionSpan::Hour, at).name();
    assert_eq!(hour((1 << 31) * SECOND_NS), "2038-01-19T03");
    assert_eq!(hour((1 << 32) * SECOND_NS), "2106-02-07T06");
    assert_eq!(hour(i64::MAX - 1), "2262-04-11T23");
    assert_eq!(hour(i64::MIN), "1677-09-21T00");
    assert_eq!(hour(-1), "1969-12-31T23");
    assert_eq!(hour(1_483_228_799 * SECOND_NS), "2016-12-31T23");
    assert_eq!(hour(1_483_228_800 * SECOND_NS), "2017-01-01T00");
}
