//! What disorder costs on the medium: blocks written, held and read, beside a store that got the same points in
//! the order of their times.
//!
//! The fleet is that of the store's own tests (`siltstone_core::store::sim`), on a simulated medium that counts
//! blocks; so the figures are exact, and say nothing of times. A store has the usual limits, is worked on
//! between messages as the agent does, and is sealed and worked on until it rests before it is looked at.

use std::collections::VecDeque;

use siltstone_core::block::BLOCK_LEN;
use siltstone_core::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use siltstone_core::query::{Found, Function, Library, Question, Request, Step, Unreadable};
use siltstone_core::segment::{BlockMap, Opened};
use siltstone_core::series::{NoRegex, Selector};
use siltstone_core::store::sim::{Delivery, Disorder, Entry, INTERVAL_NS, SERIES_A_TRUCK, SimMedium, Trucks};
use siltstone_core::store::{Device, Medium, Reading, RunContent, SeriesId, Store, StoreConfig, Work};

use crate::Row;

const SEED: u64 = 123;
/// 2016-01-04T00:00:00Z, three days into a month; the backfill is of the month before.
const BEGIN_NS: i64 = 1_451_865_600_000_000_000;
const HOUR_NS: i64 = 3_600_000_000_000;
const DAYS: i64 = 3;
const TICKS: usize = (DAYS * 24 * HOUR_NS / INTERVAL_NS) as usize;
/// Messages between two looks at what can wait, and steps of it then, of so many rows as the agent's.
const MESSAGES: usize = 100;
const WORK_STEPS: usize = 50;
const WORK_ROWS: usize = 4_000;

/// What arrives, message by message.
type Messages = Box<dyn Iterator<Item = Vec<Entry>>>;

/// The rows of the table.
pub(crate) fn rows() -> Vec<Row> {
    let late = |percent| Disorder { batches_late: percent, delay_ns: HOUR_NS..24 * HOUR_NS, ..Disorder::IOT };
    let mut rows = Vec::new();
    for trucks in [10, 100] {
        let in_order = Played::of(trucks, fleet(trucks, Disorder::NONE));
        in_order.put(&format!("{trucks} trucks, in order"), &in_order, &mut rows);
        for (name, disorder) in
            [("the mix", Disorder::IOT), ("the mix, one batch in 20 late by 1 to 24 h", late(5))]
        {
            Played::of(trucks, fleet(trucks, disorder)).put(
                &format!("{trucks} trucks, {name}"),
                &in_order,
                &mut rows,
            );
        }
    }
    let trucks = 10;
    let in_order = Played::of(trucks, fleet(trucks, Disorder::NONE));
    let played = Played::of(trucks, corrected(trucks));
    played.put(
        "10 trucks, in order, and one batch in 20 again with other values after 3 h",
        &in_order,
        &mut rows,
    );
    let in_order = Played::of(trucks, Box::new(past(trucks).chain(fleet(trucks, Disorder::NONE))));
    for (name, is_backward) in [("truck by truck", false), ("truck by truck, the newest first", true)] {
        let played = Played::of(trucks, backfilled(trucks, is_backward));
        played.put(
            &format!("10 trucks, in order, and days of the month before {name}"),
            &in_order,
            &mut rows,
        );
    }
    rows
}

/// Three days of a fleet.
fn fleet(trucks: usize, disorder: Disorder) -> Messages {
    Box::new(Delivery::new(Trucks::new(SEED, trucks, BEGIN_NS), TICKS, SEED, disorder))
}

/// Three days of the same fleet in the month before, in order.
fn past(trucks: usize) -> Messages {
    let begin_ns = BEGIN_NS - 30 * 24 * HOUR_NS;
    Box::new(Delivery::new(Trucks::new(SEED, trucks, begin_ns), TICKS, !SEED, Disorder::NONE))
}

/// The same, truck after truck, while the present goes on in order.
fn backfilled(trucks: usize, is_backward: bool) -> Messages {
    let mut entries: Vec<Entry> = past(trucks).flatten().collect();
    if is_backward {
        entries.reverse();
    }
    let truck = |entry: &Entry| entry.points().next().map(|(series, _)| series / SERIES_A_TRUCK);
    entries.sort_by_key(truck);
    let mut old = entries.chunks(10).map(<[Entry]>::to_vec).collect::<Vec<_>>().into_iter();
    let new = fleet(trucks, Disorder::NONE);
    Box::new(new.flat_map(move |message| [Some(message), old.next()].into_iter().flatten()))
}

/// The present in order, and every 20th message again, with other values, after some hours.
fn corrected(trucks: usize) -> Messages {
    // A tick is two entries a truck, a message ten entries.
    let messages_an_hour = trucks * 2 * 360 / 10;
    let mut waiting = VecDeque::new();
    let messages = fleet(trucks, Disorder::NONE).enumerate();
    Box::new(messages.flat_map(move |(at, message)| {
        if at % 20 == 0 {
            waiting.push_back((at + 3 * messages_an_hour, message.iter().map(Entry::corrected).collect()));
        }
        let is_due = waiting.front().is_some_and(|(due, _)| *due <= at);
        let again = if is_due { waiting.pop_front().map(|(_, message)| message) } else { None };
        [Some(message), again].into_iter().flatten()
    }))
}

/// A store at rest.
struct Played {
    store: Store<SimMedium>,
    medium: SimMedium,
    points: u64,
    late: u64,
    /// Blocks of segments written, and those of them that merges wrote.
    written: u64,
    merged: u64,
    /// Blocks of segments that are left.
    held: u64,
    /// Blocks read for the mean of everything, and for everything.
    aggregate: u64,
    scan: u64,
}

impl Played {
    /// Plays messages into a new store until it rests.
    fn of(trucks: usize, messages: Messages) -> Self {
        let names = Trucks::new(SEED, trucks, BEGIN_NS);
        let medium = SimMedium::new();
        let (mut store, _) = Store::open(medium.clone(), StoreConfig::default(), [7; 16]).expect("a store");
        let mut ids: Vec<Option<SeriesId>> = vec![None; trucks * SERIES_A_TRUCK as usize];
        let (mut points, mut late) = (0, 0);
        for (at, message) in messages.enumerate() {
            let mut readings = Vec::new();
            for entry in &message {
                for (series, value) in entry.points() {
                    let id = *ids[series as usize].get_or_insert_with(|| {
                        store.series(&names.name(series), ValueKind::Float, "").expect("a series")
                    });
                    let point = Point { timestamp: Timestamp(entry.at_ns), value: Value::Float(value) };
                    readings.push(Reading { series: id, point });
                }
            }
            let appended = store.append(&readings, None).expect("stored");
            points += readings.len() as u64;
            late += appended.late;
            if at % MESSAGES == 0 {
                store.commit().expect("committed");
                for _ in 0..WORK_STEPS {
                    if store.work(WORK_ROWS).expect("work") == Work::Idle {
                        break;
                    }
                }
            }
        }
        store.seal().expect("sealed");
        while store.work(WORK_ROWS).expect("work") == Work::More {}
        let written = store.written();
        let mut played = Self {
            points,
            late,
            written: written.leaves + written.nodes + written.tails + written.merges,
            merged: written.merges,
            held: store.segments().iter().map(|file| u64::from(file.block_count)).sum(),
            store,
            medium,
            aggregate: 0,
            scan: 0,
        };
        let everything = TimeRange::ALL;
        played.aggregate =
            played.blocks_of(Question::aggregate(everything, [Function::Count, Function::Mean]));
        played.scan = played.blocks_of(Question::select(everything));
        played
    }

    /// Puts a row into the table: shares are of a store that got the same in order.
    fn put(&self, what: &str, in_order: &Self, rows: &mut Vec<Row>) {
        let is_in_order = core::ptr::eq(self, in_order);
        let share = |blocks: u64, of: u64| format!("{:.3}", blocks as f64 / of as f64);
        let late = 100.0 * self.late as f64 / self.points as f64;
        let million = self.points as f64 / 1e6;
        let figures = [
            ("written", share(self.written, in_order.held), if is_in_order { "≤ 1.05" } else { "≤ 1.5" }),
            ("of which by merges", share(self.merged, in_order.held), if is_in_order { "0" } else { "" }),
            ("held", share(self.held, in_order.held), if is_in_order { "" } else { "≤ 1.4" }),
            ("read for the mean of each series", share(self.aggregate, in_order.aggregate), ""),
            ("read for all points", share(self.scan, in_order.scan), ""),
        ];
        rows.push(Row::new(
            format!(
                "**{what}**: {million:.2} M points, {late:.1} % late; blocks held, read for means, for all"
            ),
            format!("{}, {}, {}", self.held, self.aggregate, self.scan),
            "",
        ));
        rows.extend(figures.map(|(figure, value, goal)| Row::new(figure, value, goal)));
    }

    /// Blocks that the medium gives for a question about every series, tails counted.
    fn blocks_of(&mut self, question: Question) -> u64 {
        let all = Selector::parse("{}").expect("a selector");
        let medium = &self.medium;
        let before = medium.blocks_read();
        let (mut library, mut devices) = (Library::new(), Vec::new());
        for run in self.store.snapshot(&all, &NoRegex).expect("a snapshot") {
            let RunContent::Sealed(sealed) = run.content else { panic!("everything is sealed") };
            library.add(Opened::Sealed { sealed, blocks: BlockMap::new() });
            devices.push(medium.open(&run.path.expect("a file")).expect("it opens").expect("it is there"));
        }
        let read = |request: &Request| {
            let mut bytes = vec![0; request.count as usize * BLOCK_LEN];
            devices[request.segment.0 as usize].read(request.block, &mut bytes).expect("blocks of the file");
            bytes
        };
        let holdings = loop {
            match library.select(&all, &NoRegex).expect("nothing is damaged") {
                Found::Ready(holdings) => break holdings,
                Found::Need(requests) => {
                    requests.iter().for_each(|request| {
                        library.feed(request.segment, request.block, &read(request));
                    });
                }
            }
        };
        let mut query = library.query(question, holdings).expect("a question");
        loop {
            match query.step(64) {
                Step::Need(requests) => {
                    requests.iter().for_each(|request| {
                        query.feed(request, Ok::<_, Unreadable>(&read(request)));
                    });
                }
                Step::Batch(_) => {}
                Step::Done(done) => {
                    assert!(!done.statistics.is_partial);
                    return medium.blocks_read() - before;
                }
            }
        }
    }
}
