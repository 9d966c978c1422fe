//! How much is written and kept for what comes in, counted by the simulated medium: in order nothing twice, and with
//! disorder within bounds. Larger fleets are a table in `docs/reliability.md`.

use super::workload::{DEVICE, FROM};
use crate::block::BlockKind;
use crate::point::{Point, Timestamp, Value, ValueKind};
use crate::store::sim::{Delivery, Disorder, SERIES_A_TRUCK, SimMedium, Trucks};
use crate::store::{PartitionSpan, Reading, Store, StoreConfig, Work};

const TRUCKS: usize = 4;
const TICKS: usize = 6_000;
const SEED: u64 = 123;

/// Blocks of segments that were written, of them by merges, and that are left.
#[derive(Debug)]
struct Blocks {
    written: u64,
    merged: u64,
    held: u64,
    late: u64,
}

/// Limits a sixteenth of the usual ones and less, so that journal files and segments fill up and are turned over.
fn config() -> StoreConfig {
    StoreConfig {
        partition: PartitionSpan::Day,
        journal_file_blocks: 64,
        segment_blocks_max: 256,
        segment_grow_blocks: 16,
        late_bytes_max: 1 << 17,
        ..StoreConfig::default()
    }
}

/// Plays a fleet into a new store until it rests.
fn play(disorder: Disorder) -> Blocks {
    let trucks = Trucks::new(SEED, TRUCKS, FROM);
    let medium = SimMedium::new();
    let (mut store, _) = Store::open(medium.clone(), config(), DEVICE).expect("open");
    let mut ids = vec![None; TRUCKS * SERIES_A_TRUCK as usize];
    let mut late = 0;
    for (at, batch) in Delivery::new(trucks.clone(), TICKS, SEED, disorder).enumerate() {
        let mut readings = Vec::new();
        for entry in &batch {
            for (series, value) in entry.points() {
                let id = *ids[series as usize].get_or_insert_with(|| {
                    store.series(&trucks.name(series), ValueKind::Float, "").expect("a series")
                });
                let point = Point { timestamp: Timestamp(entry.at_ns), value: Value::Float(value) };
                readings.push(Reading { series: id, point });
            }
        }
        late += store.append(&readings, None).expect("append").late;
        if at % 50 == 0 {
            store.commit().expect("commit");
            for _ in 0..10 {
                if store.work(4_000).expect("work") == Work::Idle {
                    break;
                }
            }
        }
    }
    store.seal().expect("seal");
    while store.work(4_000).expect("work") == Work::More {}
    // What the medium saw, and not what the store says of itself.
    let is_of_segment = |((path, kind), _): &((String, u8), u64)| {
        path.starts_with("segments/") && BlockKind::from_code(*kind).is_some()
    };
    let written = medium.wear().into_iter().filter(is_of_segment).map(|(_, blocks)| blocks).sum();
    let held = store.segments().iter().map(|file| u64::from(file.block_count)).sum();
    Blocks { written, merged: store.written().merges, held, late }
}

#[test]
fn in_order_nothing_is_written_twice_and_disorder_stays_within_its_bounds() {
    let in_order = play(Disorder::NONE);
    let times = |blocks: u64| blocks as f64 / in_order.held as f64;
    eprintln!("in order: {in_order:?}, {:.3} written", times(in_order.written));
    assert!(in_order.held > 100 && in_order.late == 0, "{in_order:?}");
    assert_eq!(in_order.merged, 0);
    assert!(times(in_order.written) <= 1.05, "{in_order:?}");
    let mixed = play(Disorder::IOT);
    let (written, held) = (times(mixed.written), times(mixed.held));
    eprintln!("the mix: {mixed:?}, {written:.3} written, {held:.3} held");
    assert!(written <= 1.5 && held <= 1.4, "{mixed:?}, in order {in_order:?}");
}
