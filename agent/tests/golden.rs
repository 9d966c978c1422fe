//! A store that an earlier build wrote, kept in `tests/golden/v0`: what is in it must come out to the last bit.
//!
//! It has everything that the format knows: each kind of value, sealed and unsealed segments, late ones, a merged one, a
//! tombstone, and readings that are only in the journal. While the format has version 0 it may change: then
//! `SILTSTONE_GOLDEN=write cargo test -p siltstone --test golden` writes the store anew (the readings stay the same), and
//! the changelog says that older files do not read any more. From version 1 on a folder is never written again.

use std::path::{Path, PathBuf};
use std::process::Command;

use siltstone::files::FileMedium;
use siltstone_core::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use siltstone_core::series::SeriesName;
use siltstone_core::store::{PartitionSpan, Reading, SeriesId, Store, StoreConfig, Work};

/// 2023-11-15T00:00:00Z, and a day.
const BEGIN_NS: i64 = 1_700_006_400_000_000_000;
const DAY_NS: i64 = 86_400_000_000_000;
const STEP_NS: i64 = 60_000_000_000;
const TEXTS: [&str; 4] = ["on", "off", "heating up, slowly", "ü \"7\""];

/// Small in everything, so that it is no burden to keep.
fn small() -> StoreConfig {
    StoreConfig {
        partition: PartitionSpan::Day,
        journal_files: 2,
        journal_file_blocks: 8,
        segment_grow_blocks: 1,
        merge_neighbours: 2,
        merge_percent: 10_000,
        writer: "golden",
        ..StoreConfig::default()
    }
}

fn open(folder: &Path) -> Store<FileMedium> {
    let medium = FileMedium::open(folder).expect("a medium");
    Store::open(medium, small(), [7; 16]).expect("a store").0
}

/// The value of a series in a row: grids, noise, integers beyond what floats hold, states, booleans and gaps.
fn value(series: usize, row: i64) -> Value<'static> {
    let noise = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    match series {
        0 => Value::Float((2_100 + row * 7 % 90) as f64 / 100.0),
        1 => Value::Float(f64::from_bits(0x3FF0_0000_0000_0000 | noise >> 12)),
        2 if row % 13 == 0 => Value::Gap,
        2 => Value::Float(if row % 5 == 0 { -0.0 } else { row as f64 }),
        3 => Value::Integer(i64::MAX - row * row),
        4 => Value::Boolean(noise >> 62 == 0),
        _ => Value::State(TEXTS[(noise >> 62) as usize]),
    }
}

fn series(store: &mut Store<FileMedium>) -> Vec<SeriesId> {
    let kinds = [
        ValueKind::Float,
        ValueKind::Float,
        ValueKind::Float,
        ValueKind::Integer,
        ValueKind::Boolean,
        ValueKind::State,
    ];
    let named = |(at, kind): (usize, ValueKind)| {
        let metric = ["temperature", "noise", "level", "pulses", "door", "mode"][at];
        let name = SeriesName::new(metric, [("device", "attic"), ("größe", "a \"b\"")]).expect("a good name");
        (name, kind, if at == 0 { "°C" } else { "" })
    };
    kinds
        .into_iter()
        .enumerate()
        .map(named)
        .map(|(name, kind, unit)| store.series(&name, kind, unit).expect("new"))
        .collect()
}

fn put(store: &mut Store<FileMedium>, ids: &[SeriesId], day: i64, rows: impl Iterator<Item = i64>) {
    for row in rows {
        for (at, id) in ids.iter().enumerate() {
            let timestamp = Timestamp(BEGIN_NS + day * DAY_NS + row * STEP_NS + at as i64);
            let reading = Reading { series: *id, point: Point { timestamp, value: value(at, row) } };
            store.append(&[reading], None).expect("stored");
        }
    }
    store.commit().expect("durable");
}

/// Writes the store as the agent would leave it that is killed.
fn write(folder: &Path) {
    let mut store = open(folder);
    let ids = series(&mut store);
    put(&mut store, &ids, 0, (0..120).map(|row| row * 2));
    store.seal().expect("sealed");
    for late in 0..2 {
        put(&mut store, &ids, 0, (late * 20..late * 20 + 15).map(|row| row * 2 + 1));
        store.checkpoint().expect("a late segment");
    }
    while store.work(1_000).expect("a step") == Work::More {}
    let door = SeriesName::parse(r#"door{device="attic","größe"="a \"b\""}"#).expect("a name");
    store
        .delete(&[door], TimeRange::new(BEGIN_NS + 100 * STEP_NS, BEGIN_NS + 140 * STEP_NS))
        .expect("deleted");
    put(&mut store, &ids, 0, (100..104).map(|row| row * 2 + 1));
    store.checkpoint().expect("another late segment");
    put(&mut store, &ids, 1, 0..80);
    store.checkpoint().expect("flushed");
    put(&mut store, &ids, 1, 80..100);
}

fn siltstone(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_siltstone")).args(arguments).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Everything that a store holds, the journal included.
fn readings(folder: &Path) -> String {
    open(folder).close().expect("closed");
    siltstone(&["export", "--data", &folder.display().to_string()])
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_store_of_format_version_0_reads_as_it_was_written() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v0");
    let scratch = tempfile::tempdir().expect("a folder");
    let fresh = scratch.path().join("fresh");
    write(&fresh);
    if std::env::var("SILTSTONE_GOLDEN").is_ok_and(|word| word == "write") {
        let _ = std::fs::remove_dir_all(golden.join("store"));
        copy(&fresh, &golden.join("store"));
        std::fs::write(golden.join("readings.csv"), readings(&fresh)).expect("written");
    }
    let expected = std::fs::read_to_string(golden.join("readings.csv")).expect("it is in the repository");
    assert_eq!(readings(&fresh), expected, "what is written today reads as what is kept");
    let kept = scratch.path().join("kept");
    copy(&golden.join("store"), &kept);
    siltstone(&["verify", &kept.display().to_string()]);
    let segments: Vec<PathBuf> =
        files(&kept).into_iter().filter(|path| path.extension().is_some_and(|is| is == "silt")).collect();
    assert!(segments.len() >= 4, "merged, tombstone, late, open: {segments:?}");
    assert_eq!(readings(&kept), expected);
}
