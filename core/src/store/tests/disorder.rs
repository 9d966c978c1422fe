//! Disorder against a plain map: the mix of a fleet of trucks, points that come hours and a year late, months that are
//! filled in, and duplicates; with restarts, power cuts and the work of idle time going on in between. Every point
//! and every function over random spans must be what the map says.

use std::collections::{BTreeMap, VecDeque};

use super::asked::Asked;
use super::reader::{Points, read_ignoring_ranks, try_read};
use super::workload::{DEVICE, FROM, HOUR_NS, SimStore, tiny};
use crate::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use crate::query::tests::naive;
use crate::query::{Answer, Bucket, Buckets, Function, Holding, Question, Rows};
use crate::series::SeriesName;
use crate::store::sim::{
    Delivery, Disorder, INTERVAL_NS, OwnedValue, Random, SERIES_A_TRUCK, SimMedium, Trucks, Violation,
};
use crate::store::{Appended, PartitionSpan, Reading, SeriesId, Store, StoreConfig, Work};

const DAY_NS: i64 = 24 * HOUR_NS;
const WORDS: [&str; 6] = ["parked", "idle", "loading", "driving", "braking", "towed"];
/// Messages that may come again.
const RECENT_MAX: usize = 400;

/// A point as it is sent: series of the fleet, time, value.
type Sent = (u32, i64, OwnedValue);
pub(super) type Series = BTreeMap<i64, OwnedValue>;

/// How big a store and a fleet are.
#[derive(Clone)]
struct Scale {
    config: StoreConfig,
    trucks: usize,
    ticks: usize,
    disorder: Disorder,
    /// One message in so many is followed by something out of its order.
    odd_one_in: u64,
    restarts: u64,
}

/// Values are held for as long as the naive twin holds them.
pub(super) fn held(config: StoreConfig) -> StoreConfig {
    StoreConfig { max_hold_ns: 50_000_000_000, ..config }
}

impl Scale {
    /// A few messages turn everything over.
    fn tiny() -> Self {
        let disorder = Disorder { batches_late: 5, delay_ns: HOUR_NS / 4..4 * HOUR_NS, ..Disorder::IOT };
        Self { config: held(tiny()), trucks: 1, ticks: 1_500, disorder, odd_one_in: 12, restarts: 6 }
    }

    /// Limits a sixteenth of the usual ones, days as partitions.
    fn small() -> Self {
        let config = StoreConfig {
            partition: PartitionSpan::Day,
            journal_file_blocks: 256,
            segment_blocks_max: 1_024,
            segment_grow_blocks: 64,
            late_bytes_max: 1 << 17,
            ..StoreConfig::default()
        };
        let disorder = Disorder { batches_late: 5, delay_ns: HOUR_NS..30 * HOUR_NS, ..Disorder::IOT };
        Self { config: held(config), trucks: 3, ticks: 1_500, disorder, odd_one_in: 40, restarts: 4 }
    }

    /// The limits that a store has if nobody says otherwise.
    fn usual() -> Self {
        let config = held(StoreConfig::default());
        Self { config, trucks: 5, ticks: 1_000, disorder: Disorder::IOT, odd_one_in: 100, restarts: 2 }
    }
}

/// A fleet that is played into a store, and what must be there.
struct Played {
    store: SimStore,
    config: StoreConfig,
    trucks: Trucks,
    ids: BTreeMap<u32, SeriesId>,
    expected: BTreeMap<SeriesName, Series>,
    recent: VecDeque<Vec<Sent>>,
    random: Random,
    /// The newest time so far.
    now_ns: i64,
    appended: Appended,
}

impl Played {
    fn new(seed: u64, scale: &Scale) -> Self {
        let config = scale.config.clone();
        let (store, _) = Store::open(SimMedium::new(), config.clone(), DEVICE).expect("open");
        Self {
            store,
            config,
            trucks: Trucks::new(seed, scale.trucks, FROM),
            ids: BTreeMap::new(),
            expected: BTreeMap::new(),
            recent: VecDeque::new(),
            random: Random::new(seed),
            now_ns: FROM,
            appended: Appended::default(),
        }
    }

    fn id(&mut self, series: u32) -> SeriesId {
        let (trucks, store) = (&self.trucks, &mut self.store);
        let kind = if series % 10 == 9 { ValueKind::State } else { ValueKind::Float };
        *self
            .ids
            .entry(series)
            .or_insert_with(|| store.series(&trucks.name(series), kind, "").expect("a series"))
    }

    fn send(&mut self, message: &[Sent]) {
        let mut readings = Vec::new();
        for (series, at, value) in message {
            let point = Point { timestamp: Timestamp(*at), value: value.value() };
            readings.push(Reading { series: self.id(*series), point });
            let name = self.trucks.name(*series);
            self.expected.entry(name).or_default().insert(*at, value.clone());
        }
        let appended = self.store.append(&readings, None).expect("append");
        self.appended.in_order += appended.in_order;
        self.appended.late += appended.late;
        self.appended.repeats += appended.repeats;
    }

    /// Something that the fleet alone does not do.
    fn odd(&mut self) {
        let any = self.random.below(self.recent.len() as u64) as usize;
        let message = self.recent[any].clone();
        match self.random.below(6) {
            // The same again, and again with other values.
            0 => self.send(&message),
            1 | 2 => {
                let other = |(series, at, _): &Sent| (*series, *at, Value::Float(*at as f64 / 7e9).into());
                let others: Vec<Sent> =
                    message.iter().filter(|(series, ..)| series % 10 != 9).map(other).collect();
                self.send(&others);
            }
            3 => {
                let year = |(series, at, value): &Sent| (*series, at - 365 * DAY_NS, value.clone());
                self.send(&message.iter().map(year).collect::<Vec<_>>());
            }
            // A whole month of some fields, an hour apart or half a day, forward or backward.
            4 if self.random.one_in(4) => self.backfill(),
            _ => {
                let back = self.random.below(40) as i64 * HOUR_NS + 1_000_000_000;
                let older = |(series, at, value): &Sent| (*series, at - back, value.clone());
                self.send(&message.iter().map(older).collect::<Vec<_>>());
            }
        }
    }

    fn backfill(&mut self) {
        let begin = FROM - (30 + self.random.below(90) as i64) * DAY_NS;
        let first = self.random.below(self.trucks.truck_count() as u64) as u32 * SERIES_A_TRUCK;
        let step = if self.random.one_in(2) { HOUR_NS } else { 12 * HOUR_NS };
        let mut times: Vec<i64> = (0..30 * DAY_NS / step).map(|n| begin + n * step).collect();
        if self.random.one_in(2) {
            times.reverse();
        }
        for some in times.chunks(20) {
            let value =
                |at: i64, field: u32| Value::Float((at / HOUR_NS % 977) as f64 + f64::from(field)).into();
            let fields = |at: &i64| [0, 1].map(|field| (first + field, *at, value(*at, field)));
            self.send(&some.iter().flat_map(fields).collect::<Vec<_>>());
        }
        self.store.commit().expect("commit");
    }

    /// What goes on in a store besides: commits, checkpoints, seals, and the work of idle time.
    fn aside(&mut self) {
        match self.random.below(240) {
            0..30 => self.store.commit().expect("commit"),
            30 => self.store.checkpoint().expect("checkpoint"),
            31 => self.store.seal().expect("seal"),
            32 => while self.store.work(500).expect("work") == Work::More {},
            33..60 => {
                let is_known = self.random.one_in(3);
                self.store.set_time(is_known.then_some(self.now_ns), is_known);
                let rows = 1 + self.random.below(2_000) as usize;
                (0..4).for_each(|_| assert!(self.store.work(rows).is_ok()));
                self.store.set_time(None, false);
            }
            _ => {}
        }
    }

    /// A kill, or a power cut that takes everything which was not flushed.
    fn restart(&mut self) {
        self.store.commit().expect("commit");
        let medium = self.store.medium.clone();
        let medium = match self.random.below(2) {
            0 => medium.after_kill(),
            _ => medium.after_crash(&[], &mut self.random),
        };
        (self.store, _) = Store::open(medium, self.config.clone(), DEVICE).expect("open again");
        self.ids.clear();
    }
}

/// Plays a fleet; what became of its points.
fn play(seed: u64, scale: &Scale) -> Played {
    let mut played = Played::new(seed, scale);
    let delivery = Delivery::new(played.trucks.clone(), scale.ticks, seed, scale.disorder.clone());
    let batches: Vec<_> = delivery.collect();
    let restart_every = batches.len() as u64 / (scale.restarts + 1) + 1;
    for (at, batch) in (1..).zip(batches) {
        let mut message = Vec::new();
        for entry in batch {
            played.now_ns = played.now_ns.max(entry.at_ns);
            message.extend(entry.points().map(|(series, value)| (series, entry.at_ns, kept(series, value))));
            if played.random.one_in(3) {
                played.send(&message);
                played.remember(core::mem::take(&mut message));
            }
        }
        played.send(&message);
        played.remember(message);
        if played.random.one_in(scale.odd_one_in) {
            played.odd();
        }
        played.aside();
        if at % restart_every == 0 {
            played.restart();
            check(&mut played, 1);
        }
    }
    check(&mut played, 10);
    played.store.seal().expect("seal");
    while played.store.work(10_000).expect("work") == Work::More {}
    check(&mut played, 10);
    played
}

impl Played {
    fn remember(&mut self, message: Vec<Sent>) {
        self.recent.push_back(message);
        if self.recent.len() > RECENT_MAX {
            self.recent.pop_front();
        }
    }
}

/// The fleet's number as what a series holds: words, gaps, integers beyond floats, NaN.
fn kept(series: u32, value: f64) -> OwnedValue {
    match (series % 10, value as i64) {
        (9, at) => Value::State(WORDS[at as usize % WORDS.len()]).into(),
        (8, at) if at % 97 == 0 => Value::Integer(i64::MAX - at).into(),
        (7, _) if value == 0.0 => Value::Gap.into(),
        (2, at) if at % 89 == 0 => Value::Float(f64::NAN).into(),
        _ => Value::Float(value).into(),
    }
}

/// One number, one value: a chunk of integers also holds what floats could.
fn normal(value: Value<'_>) -> OwnedValue {
    match value {
        Value::Integer(integer) => Value::from_integer(integer).into(),
        other => other.into(),
    }
}

/// Holds what was read against the map.
fn compare(read: &Points, expected: &BTreeMap<SeriesName, Series>) -> Result<(), Violation> {
    let mut count = 0;
    for ((name, at), value) in read {
        let series = SeriesName::parse(name).expect("a name");
        match expected.get(&series).and_then(|series| series.get(at)) {
            Some(written) if written == value => count += 1,
            Some(_) => return Err(Violation::Wrong(name.clone(), *at, value.clone())),
            None => return Err(Violation::Invented(name.clone(), *at, value.clone())),
        }
    }
    let all = expected.iter().flat_map(|(name, series)| series.keys().map(move |at| (name, at)));
    let lost = |(name, at): &(&SeriesName, &i64)| !read.contains_key(&(name.as_str().to_string(), **at));
    match all.clone().find(lost) {
        Some((name, at)) => Err(Violation::Lost(name.as_str().to_string(), *at)),
        None => {
            assert_eq!(all.count(), count, "two names are one");
            Ok(())
        }
    }
}

/// Holds all points, and `questions` random questions, against the map.
fn check(played: &mut Played, questions: usize) {
    let read = try_read(&mut played.store, true).unwrap_or_else(|violation| panic!("{violation:?}"));
    assert_eq!(compare(&read, &played.expected), Ok(()));
    let mut asked = Asked::of(&mut played.store);
    let holdings = asked.holdings();
    assert!(holdings.iter().map(|holding| &holding.name).eq(played.expected.keys()));
    let mut seen: BTreeMap<SeriesName, Series> = BTreeMap::new();
    for (name, rows) in asked.ask(Question::select(TimeRange::ALL), holdings.clone()).0 {
        let Rows::Points(chunk) = rows else { panic!("points were asked for") };
        let series = seen.entry(name).or_default();
        for point in chunk.points() {
            assert_eq!(series.insert(point.timestamp.0, normal(point.value)), None, "twice");
        }
    }
    assert!(seen == played.expected, "a select says something else");
    for _ in 0..questions {
        let some: Vec<Holding> =
            (0..5).map(|_| holdings[played.random.below(holdings.len() as u64) as usize].clone()).collect();
        let (range, buckets) = question(&mut played.random, played.now_ns);
        functions(&asked, &played.expected, some, range, &buckets);
    }
}

/// A random span, mostly where the fleet is, and how it is cut.
fn question(random: &mut Random, now_ns: i64) -> (TimeRange, Buckets) {
    let whole = now_ns - FROM + 2 * INTERVAL_NS;
    let mut at = |far: i64| FROM - far + random.below((whole + far) as u64) as i64;
    let (a, b) = (at(INTERVAL_NS), at(INTERVAL_NS));
    let (far_a, far_b) = (at(400 * DAY_NS), at(400 * DAY_NS));
    let near = TimeRange::new(a.min(b), a.max(b) + 1);
    let buckets = match random.below(3) {
        0 => Buckets::Whole,
        1 => {
            let step_ns = (near.end - near.begin) / (1 + random.below(20) as i64) + 1;
            Buckets::Step { origin_ns: random.below(1_000) as i64, step_ns }
        }
        _ => {
            let mut edges: Vec<i64> = (0..9).map(|_| FROM + random.below(whole as u64) as i64).collect();
            edges.sort_unstable();
            edges.dedup();
            if edges.len() < 2 { Buckets::Whole } else { Buckets::Edges(edges) }
        }
    };
    match random.below(4) {
        0 => (TimeRange::ALL, if matches!(buckets, Buckets::Step { .. }) { Buckets::Whole } else { buckets }),
        1 => (TimeRange::new(far_a.min(far_b), far_a.max(far_b) + 1), Buckets::Whole),
        _ => (near, buckets),
    }
}

/// Asks for every function, and asks the naive twin.
pub(super) fn functions(
    asked: &Asked,
    expected: &BTreeMap<SeriesName, Series>,
    holdings: Vec<Holding>,
    range: TimeRange,
    buckets: &Buckets,
) {
    let held = TimeRange::hull(holdings.iter().filter_map(Holding::span)).expect("they have rows");
    let names: Vec<SeriesName> = holdings.iter().map(|holding| holding.name.clone()).collect();
    let all: Vec<Function> = Function::all().collect();
    for (name, holding) in names.iter().zip(holdings) {
        let range = range.with_ends_of(holding.span().unwrap_or(held));
        let question = Question::group(range, buckets.clone(), all.clone());
        let rows = asked.ask(question, vec![holding]).0;
        let found: Vec<Bucket> = rows
            .into_iter()
            .flat_map(|(_, rows)| match rows {
                Rows::Buckets(buckets) => buckets,
                Rows::Points(_) => panic!("buckets were asked for"),
            })
            .collect();
        let points: Vec<(i64, Value<'_>)> =
            expected[name].iter().map(|(at, value)| (*at, value.value())).collect();
        let has_row = |span: &TimeRange| {
            let has_point = points.iter().any(|(at, _)| span.contains(*at));
            has_point || naive::integrals(&points, *span).2 > 0.0
        };
        let wanted: Vec<TimeRange> = naive::spans(buckets, range).into_iter().filter(has_row).collect();
        assert_eq!(found.iter().map(|bucket| bucket.span).collect::<Vec<_>>(), wanted, "{name}, {range:?}");
        for bucket in &found {
            for function in &all {
                let twin: Answer = naive::answer(*function, &points, bucket.span);
                let answer = bucket.answer(*function);
                assert!(
                    naive::agree(*function, &answer, &twin, &points),
                    "{function:?} of {name} in {:?}: {answer:?}, but the points say {twin:?}",
                    bucket.span
                );
            }
        }
    }
}

/// What a soak plays: a larger fleet, another mix for every seed. How often everything was compared after a restart.
pub(super) fn soak(seed: u64) -> u64 {
    let mut scale = [Scale::tiny(), Scale::small(), Scale::usual()][seed as usize % 3].clone();
    scale.trucks += seed as usize / 3 % 4;
    scale.ticks *= 1 + seed as usize / 12 % 3;
    play(seed, &scale);
    scale.restarts
}

#[test]
fn a_store_of_a_few_messages_holds_what_the_map_says() {
    for seed in 0..3 {
        let played = play(seed, &Scale::tiny());
        let (appended, written) = (played.appended, played.store.written());
        assert!(appended.late > 500 && written.merges > 0, "seed {seed}: {appended:?}, {written:?}");
    }
}

/// The control: the same store, read as one that does not know which segment was written later, is wrong.
#[test]
fn without_ranks_what_was_written_over_counts() {
    // Nothing is merged, so that what was written over is still there.
    let mut scale = Scale::tiny();
    scale.config.merge_percent = 0;
    let mut played = play(1, &scale);
    let read = read_ignoring_ranks(&mut played.store).unwrap_or_else(|violation| panic!("{violation:?}"));
    let compared = compare(&read, &played.expected);
    assert!(matches!(compared, Err(Violation::Wrong(..))), "{compared:?}");
}

#[test]
fn a_small_store_holds_what_the_map_says() {
    let played = play(11, &Scale::small());
    let Appended { in_order, late, repeats } = played.appended;
    assert!(in_order > 20_000 && late > 2_000 && repeats > 0, "{:?}", played.appended);
    assert!(played.store.written().merges > 0);
}

#[test]
fn a_store_with_the_usual_limits_holds_what_the_map_says() {
    let played = play(5, &Scale::usual());
    assert!(played.appended.in_order > 30_000 && played.appended.late > 100, "{:?}", played.appended);
}
