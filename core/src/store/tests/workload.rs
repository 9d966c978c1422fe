//! What a gateway does to a store, from a seed: messages in order, late, repeated, stray and large; commits,
//! checkpoints and seals. The oracle is told everything.

use std::sync::OnceLock;

use crate::block::DeviceId;
use crate::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use crate::series::SeriesName;
use crate::store::sim::{Oracle, Random, SimError, SimMedium};
use crate::store::{
    Appended, Identity, PartitionSpan, Reading, Recovery, Store, StoreConfig, StoreError, Work,
};

pub(super) const DEVICE: DeviceId = *b"sixteen bytes id";
/// When the workloads take place.
pub(super) const FROM: i64 = 1_700_000_000_000_000_000;
/// Length of the partitions of these tests.
pub(super) const HOUR_NS: i64 = 3_600_000_000_000;
/// States; the long ones make messages of several records.
const STATES: [&str; 3] = ["open", "closed", LONG];
const LONG: &str = "a text as long as the state of a machine that tells its whole life in one word may be, \
    which is two hundred and fifty-five bytes and no more, because a longer one is a document and not a \
    state, and documents are kept elsewhere by those who need them.";

/// Rows of one step of a merge: so few that it takes several.
pub(super) const WORK_ROWS: usize = 200;

pub(super) type SimStore = Store<SimMedium>;

/// A store so small that a few messages turn everything over.
pub(super) fn tiny() -> StoreConfig {
    StoreConfig {
        partition: PartitionSpan::Hour,
        journal_files: 3,
        journal_file_blocks: 16,
        segment_blocks_max: 12,
        segment_grow_blocks: 4,
        late_bytes_max: 2_000,
        merge_neighbours: 2,
        merge_percent: 10_000,
        ..StoreConfig::default()
    }
}

/// Opens the store on `medium`; the power may go.
pub(super) fn open(medium: &SimMedium) -> Result<(SimStore, Recovery), SimError> {
    Store::open(medium.clone(), tiny(), DEVICE).map_err(medium_error)
}

/// The only failure that a workload may meet is that of the medium.
pub(super) fn medium_error(error: StoreError<SimError>) -> SimError {
    match error {
        StoreError::Medium(error) => error,
        other => panic!("{other:?}"),
    }
}

/// The six series of the workloads.
pub(super) fn name(series: u64) -> &'static SeriesName {
    static NAMES: OnceLock<Vec<SeriesName>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let name = |series: u64| {
            // Some are so long that their definitions fill records, so that one flush covers several.
            let filler = "x".repeat(if series > 2 { 1_900 } else { 0 });
            SeriesName::parse(&format!("m{}{{device=\"d{series}{filler}\"}}", series % 3)).expect("a name")
        };
        (0..6).map(name).collect()
    });
    &names[series as usize]
}

/// A short name for a series, for tests to compare.
pub(super) fn label(name: &str) -> &str {
    name.split('x').next().unwrap_or_default()
}

/// One thing that is done to a store.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Message(Identity, Vec<(u64, i64, Owned)>),
    Commit,
    Checkpoint,
    Seal,
    /// The process is killed and started again.
    Reopen,
    /// Everything of a series in a span is deleted.
    Delete(u64, TimeRange),
    /// There is time for what can wait, until nothing can.
    Work,
    /// All partitions are over, and there is time for one step.
    Over,
    /// There is room for so many blocks of segments.
    Expire(u64),
}

/// A value that a step owns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owned {
    Float(f64),
    Integer(i64),
    Boolean(bool),
    State(usize),
    Gap,
}

impl Owned {
    pub(super) fn value(self) -> Value<'static> {
        match self {
            Self::Float(float) => Value::Float(float),
            Self::Integer(integer) => Value::Integer(integer),
            Self::Boolean(boolean) => Value::Boolean(boolean),
            Self::State(at) => Value::State(STATES[at]),
            Self::Gap => Value::Gap,
        }
    }
}

/// The kind of a series: in a numeric one a boolean would be 1 or 0.
fn kind(series: u64) -> ValueKind {
    match series % 4 {
        2 => ValueKind::Boolean,
        3 => ValueKind::State,
        _ => ValueKind::Float,
    }
}

fn value(random: &mut Random, series: u64) -> Owned {
    match (series % 4, random.below(12)) {
        (_, 0) => Owned::Gap,
        (0, 1) => Owned::Float(f64::from_bits(random.next_u64() | 0x7FF8 << 48)),
        (0, _) => Owned::Float(random.below(1_000) as f64 / 10.0),
        (1, 1) => Owned::Integer(i64::MAX - random.below(100) as i64),
        (1, _) => Owned::Float(random.next_u64() as f64 / 3.0),
        (2, _) => Owned::Boolean(random.one_in(2)),
        _ => Owned::State((random.below(8) as usize).min(2)),
    }
}

/// `count` steps from a seed, beginning at the time `from`.
pub(super) fn steps(random: &mut Random, count: usize, from: i64) -> Vec<Step> {
    let mut now = from;
    let mut steps = Vec::new();
    for n in 0..count {
        let step = match random.below(40) {
            0..=4 => Step::Commit,
            5 => Step::Checkpoint,
            6 => Step::Seal,
            13 => Step::Work,
            15 => Step::Over,
            16 if random.one_in(4) => Step::Expire(20 + random.below(80)),
            14 => {
                let begin = now - random.below(4_000) as i64 * 1_000_000_000;
                Step::Delete(random.below(6), TimeRange::new(begin, begin + HOUR_NS))
            }
            kind => {
                now += match random.below(30) {
                    0 => HOUR_NS,
                    1 => HOUR_NS / 2,
                    2 => 5 * HOUR_NS,
                    _ => 1_000_000_000,
                };
                let len = match kind {
                    7 => 150,
                    8..=12 => 40,
                    _ => 1 + random.below(5),
                };
                let [a, b, c, d, e, ..] = random.next_u64().to_le_bytes();
                let hash = [a, b, c, d, e];
                let points = (0..len).map(|_| {
                    let series = random.below(6);
                    let at = match random.below(24) {
                        0 => now - random.below(3_000) as i64 * 1_000_000_000,
                        1 => now - 40 * HOUR_NS,
                        2 => now + 1_000 * HOUR_NS,
                        3 => now,
                        _ => {
                            now += 1_000_000_000 + random.below(2) as i64;
                            now
                        }
                    };
                    (series, at, value(random, series))
                });
                let identity = Identity { session: from as u64, packet: n as u16, hash };
                Step::Message(identity, points.collect())
            }
        };
        steps.push(step);
    }
    steps.push(Step::Commit);
    steps
}

/// Tells the oracle of a point.
pub(super) fn tell(oracle: &mut Oracle, (series, at, value): &(u64, i64, Owned)) {
    oracle.write(label(name(*series).as_str()), *at, value.value());
}

/// Gives a message to the store.
pub(super) fn append(
    store: &mut SimStore,
    identity: Option<Identity>,
    points: &[(u64, i64, Owned)],
) -> Result<Appended, StoreError<SimError>> {
    let mut readings = Vec::new();
    for (series, at, value) in points {
        let series = store.series(name(*series), kind(*series), "W")?;
        readings.push(Reading { series, point: Point { timestamp: Timestamp(*at), value: value.value() } });
    }
    store.append(&readings, identity)
}

/// All partitions are over, and there is time for one step.
pub(super) fn over(store: &mut SimStore) -> Result<(), StoreError<SimError>> {
    store.set_time(Some(FROM + 10_000 * HOUR_NS), true);
    let worked = store.work(WORK_ROWS);
    store.set_time(None, true);
    worked.map(|_| ())
}

/// There is room for so many blocks of segments, until nothing is left to do.
pub(super) fn expire(store: &mut SimStore, blocks: u64) -> Result<(), StoreError<SimError>> {
    store.config.retention_bytes = Some(blocks * 4_096);
    let worked = (|| loop {
        if store.work(WORK_ROWS)? == Work::Idle {
            return Ok(());
        }
    })();
    store.config.retention_bytes = None;
    worked
}

/// Gives a message to the store and to the oracle.
pub(super) fn send(
    store: &mut SimStore,
    oracle: &mut Oracle,
    identity: Option<Identity>,
    points: &[(u64, i64, Owned)],
) -> Result<Appended, SimError> {
    points.iter().for_each(|point| tell(oracle, point));
    append(store, identity, points).map_err(medium_error)
}

/// Plays steps until the power goes.
pub(super) fn play(store: &mut SimStore, oracle: &mut Oracle, steps: &[Step]) -> Result<(), SimError> {
    play_noting(store, oracle, steps, false, &mut |_| {})
}

/// Plays steps until the power goes; `note` sees the oracle whenever it is told something. One that
/// acknowledges early does so before the commit: a fault that must be noticed.
pub(super) fn play_noting(
    store: &mut SimStore,
    oracle: &mut Oracle,
    steps: &[Step],
    acknowledges_early: bool,
    note: &mut dyn FnMut(&Oracle),
) -> Result<(), SimError> {
    for step in steps {
        match step {
            Step::Message(identity, points) => {
                points.iter().for_each(|point| tell(oracle, point));
                note(oracle);
                append(store, Some(*identity), points).map_err(medium_error)?;
            }
            Step::Commit => {
                if acknowledges_early {
                    oracle.acknowledge();
                    note(oracle);
                }
                store.commit().map_err(medium_error)?;
                oracle.acknowledge();
                note(oracle);
            }
            Step::Checkpoint => store.checkpoint().map_err(medium_error)?,
            Step::Seal => store.seal().map_err(medium_error)?,
            Step::Delete(series, span) => {
                let name = name(*series);
                oracle.delete(label(name.as_str()), span.begin, span.end);
                note(oracle);
                store.delete(core::slice::from_ref(name), *span).map_err(medium_error)?;
                oracle.acknowledge();
                note(oracle);
            }
            Step::Over => {
                over(store).map_err(medium_error)?;
            }
            Step::Expire(blocks) => {
                oracle.expire();
                note(oracle);
                expire(store, *blocks).map_err(medium_error)?;
            }
            Step::Work => while store.work(WORK_ROWS).map_err(medium_error)? == Work::More {},
            Step::Reopen => {
                let medium = store.medium.clone();
                oracle.restart();
                note(oracle);
                *store = open(&medium)?.0;
            }
        }
    }
    Ok(())
}
