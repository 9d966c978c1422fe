//! What a store takes of memory, counted by the allocator: so much, so much a series, and a share of the open segment.
//!
//! `docs/reliability.md`, chapter "Memory", has the figures that `cargo test -p siltstone --test memory --
//! --nocapture` prints; here they are held. Counted are the bytes that were asked for, so the figures are
//! the same on every run; what the allocator loses between them comes on top.

use std::sync::{Mutex, MutexGuard, PoisonError};

use peak_alloc::PeakAlloc;
use siltstone::files::FileMedium;
use siltstone_core::point::{Point, Timestamp, Value, ValueKind};
use siltstone_core::series::SeriesName;
use siltstone_core::store::{PartitionSpan, Reading, SeriesId, Store, StoreConfig};
use tempfile::TempDir;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The allocator counts for the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A store under observation.
struct Observed {
    store: Store<FileMedium>,
    ids: Vec<SeriesId>,
    /// Bytes before it was there.
    before: usize,
    round: i64,
    walk: u64,
    _folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Observed {
    fn new(config: StoreConfig) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a folder");
        let before = MEMORY.current_usage();
        let medium = FileMedium::open(folder.path()).expect("a medium");
        let (store, _) = Store::open(medium, config, [7; 16]).expect("a store");
        Self { store, ids: Vec::new(), before, round: 0, walk: 1, _folder: folder, _alone: alone }
    }

    /// Bytes that the store takes, and the list of ids here.
    fn bytes(&self) -> usize {
        MEMORY.current_usage() - self.before
    }

    /// What was written of leaves.
    fn segment_bytes(&self) -> u64 {
        self.store.written().leaves * 4096
    }

    /// Names as many series: 47 bytes of text, two tags, one of them theirs alone.
    fn name(&mut self, count: usize) {
        for at in 0..count {
            let tags = [("device", format!("sensor_{at:06}")), ("room", format!("room {}", at % 97))];
            let tags = tags.iter().map(|(tag, value)| (*tag, value.as_str()));
            let name = SeriesName::new("temperature", tags).expect("a good name");
            self.ids.push(self.store.series(&name, ValueKind::Float, "°C").expect("a new series"));
        }
    }

    /// A point of each of the first `count` series, ten seconds after the last one.
    fn round(&mut self, count: usize) {
        self.round += 1;
        let timestamp = Timestamp(1_700_000_000_000_000_000 + self.round * 10_000_000_000);
        for (at, series) in self.ids[..count].iter().enumerate() {
            self.walk =
                self.walk.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // A day's course with noise, in hundredths.
            let value = (self.round % 8_640) / 8 + (self.walk >> 52) as i64 + at as i64 % 50;
            let point = Point { timestamp, value: Value::Float(value as f64 / 100.0) };
            self.store.append(&[Reading { series: *series, point }], None).expect("stored");
        }
    }
}

/// A year, so that nothing is sealed, and a journal that is not full before all rows are raw or coded.
fn one_partition() -> StoreConfig {
    StoreConfig { partition: PartitionSpan::Year, ..StoreConfig::default() }
}

#[test]
fn a_store_takes_so_much_and_so_much_a_series() {
    const COUNT: usize = 4_000;
    let mut observed = Observed::new(one_partition());
    // What coding takes is there from the first checkpoint on, whatever the number of series.
    observed.name(1);
    observed.round(1);
    observed.store.checkpoint().expect("a checkpoint");
    let fixed = observed.bytes();
    let a_series = |observed: &Observed| (observed.bytes() - fixed) / COUNT;
    observed.name(COUNT);
    let named = a_series(&observed);
    observed.round(COUNT);
    let with_one = a_series(&observed);
    (0..255).for_each(|_| observed.round(COUNT));
    let with_raw = a_series(&observed);
    observed.store.checkpoint().expect("a checkpoint");
    let at_rest = a_series(&observed);
    observed.store.seal().expect("sealed");
    let sealed = a_series(&observed);
    println!("a store with an open segment: {fixed} bytes");
    println!("a series, bytes: named {named}, with 1 row {with_one}, with 256 rows {with_raw}");
    println!("a series, bytes: at rest {at_rest}, in no open segment {sealed}");
    assert!(fixed < 1 << 20, "{fixed}");
    assert!(named < 330 && with_one < 1_000 && with_raw < 5_200, "{named} {with_one} {with_raw}");
    assert!(at_rest < 750 && sealed < 420, "{at_rest} {sealed}");
}

#[test]
fn rows_of_a_busy_series_are_bounded() {
    const COUNT: usize = 200;
    let mut observed = Observed::new(one_partition());
    observed.name(COUNT);
    let mut most = 0;
    for _ in 0..5_000 {
        observed.round(COUNT);
        most = most.max(observed.bytes());
    }
    observed.store.checkpoint().expect("a checkpoint");
    let rows = (most - observed.bytes()) / COUNT;
    println!("a busy series: rows take {rows} bytes at most, what coding takes included");
    assert!(rows < 16_384, "{rows}");
}

#[test]
fn nodes_of_an_open_segment_are_a_share_of_it() {
    const COUNT: usize = 4;
    let mut observed = Observed::new(one_partition());
    observed.name(COUNT);
    let mut looks = [(0, 0); 2];
    for look in &mut looks {
        (0..600_000).for_each(|_| observed.round(COUNT));
        observed.store.checkpoint().expect("a checkpoint");
        *look = (observed.bytes(), observed.segment_bytes());
    }
    let [(early_bytes, early_segment), (bytes, segment)] = looks;
    let percent = (bytes - early_bytes) as f64 * 100.0 / (segment - early_segment) as f64;
    println!("nodes in memory: {percent:.2} % of what a segment grows by ({segment} bytes)");
    assert!(percent < 1.0, "{percent}");
}

#[test]
fn series_that_get_no_points_hold_next_to_nothing() {
    const ALL: usize = 100_000;
    const ACTIVE: usize = 1_000;
    let mut observed = Observed::new(one_partition());
    observed.name(ALL);
    let named = observed.bytes();
    let mut most = 0;
    for _ in 0..14 {
        observed.round(ALL);
        most = most.max(observed.bytes());
    }
    // As many points as fill a journal file: a checkpoint closes what rests.
    (0..1_800).for_each(|_| observed.round(ACTIVE));
    let resting = (observed.bytes() - named) / ALL;
    println!("{ALL} series, bytes beyond names: {} all open, {resting} with {ACTIVE}", (most - named) / ALL);
    assert!(resting < 520, "{resting}");
    // No more after more of them.
    let before = observed.bytes();
    (0..2_400).for_each(|_| observed.round(ACTIVE));
    assert!(observed.bytes() < before + ACTIVE * 8_192, "{before} {}", observed.bytes());
    // And one that rested goes on where it was.
    observed.round(ALL);
    let (late, last) = (observed.store.late_points(), observed.store.last_time(observed.ids[ALL - 1]));
    assert_eq!(
        (late, last.map(|at| at.0 % 1_700_000_000_000_000_000 / 10_000_000_000)),
        (0, Some(observed.round))
    );
}
