//! Memory of a running store, and disk of small series: resident bytes a series, open and at rest.
//!
//! Each case is a process of its own, so that what one allocated does not serve the next.

use std::process::Command;

use siltstone::files::FileMedium;
use siltstone_core::point::{Point, Timestamp, Value, ValueKind};
use siltstone_core::series::SeriesName;
use siltstone_core::store::{PartitionSpan, Reading, SeriesId, Store, StoreConfig};

use crate::{Row, walk};

/// The argument that makes the process measure one case and print it.
pub(crate) const CASE: &str = "--memory-case";

/// Series of the two cases, and points of each.
const MANY: (usize, usize) = (100_000, 20);
const BUSY: (usize, usize) = (1_000, 5_000);

/// The rows of the table.
pub(crate) fn rows() -> Vec<Row> {
    let [open, at_rest, disk, names] = measured("many");
    let [busy, busy_at_rest, busy_disk, _] = measured("busy");
    let bytes = |value: f64| format!("{value:.0}");
    vec![
        Row::new("100,000 series × 20 points: resident bytes a series, open", bytes(open), "≤ 800"),
        Row::new("the same after a checkpoint", bytes(at_rest), ""),
        Row::new("the same, sealed: bytes a point on disk, names counted", format!("{disk:.2}"), "≤ 5"),
        Row::new("of which names (their canonical text), bytes a point", format!("{names:.2}"), ""),
        Row::new("1,000 series × 5,000 points: resident bytes a series, open", bytes(busy), "≤ 8,388"),
        Row::new("the same after a checkpoint", bytes(busy_at_rest), ""),
        Row::new("the same, sealed: bytes a point on disk", format!("{busy_disk:.2}"), ""),
    ]
}

/// What a process of its own measured.
fn measured(case: &str) -> [f64; 4] {
    let this = std::env::current_exe().expect("this program has a path");
    let output = Command::new(this).args([CASE, case]).output().expect("it runs again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("numbers are text");
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().expect("four numbers")
}

/// Measures a case and prints its numbers.
pub(crate) fn print_case(case: &str) {
    let (series_count, points) = if case == "many" { MANY } else { BUSY };
    let folder = tempfile::tempdir().expect("a folder");
    let medium = FileMedium::open(folder.path()).expect("a medium");
    let config = StoreConfig { partition: PartitionSpan::Year, ..StoreConfig::default() };
    let (mut store, _) = Store::open(medium, config, [7; 16]).expect("a store");
    let values = walk::hundredths(points);
    let before = resident_bytes();
    let mut names_len = 0;
    let ids: Vec<SeriesId> = (0..series_count)
        .map(|at| {
            let tags = [("device", format!("sensor_{at:06}")), ("room", format!("room {}", at % 97))];
            let tags = tags.iter().map(|(tag, value)| (*tag, value.as_str()));
            let name = SeriesName::new("temperature", tags).expect("a good name");
            names_len += name.as_str().len();
            store.series(&name, ValueKind::Float, "°C").expect("a new series")
        })
        .collect();
    for (at, value) in values.iter().enumerate() {
        let timestamp = Timestamp((walk::BEGIN_S + at as i64 * 10) * 1_000_000_000);
        for (n, series) in ids.iter().enumerate() {
            let value = Value::Float((*value + n as i64 % 50) as f64 / 100.0);
            store
                .append(&[Reading { series: *series, point: Point { timestamp, value } }], None)
                .expect("stored");
        }
        store.commit().expect("committed");
    }
    let open = resident_bytes() - before;
    store.checkpoint().expect("a checkpoint");
    let at_rest = resident_bytes() - before;
    store.seal().expect("sealed");
    let blocks: u64 = store.segments().iter().map(|file| u64::from(file.block_count)).sum();
    let all = (series_count * points) as f64;
    let count = series_count as f64;
    println!(
        "{} {} {} {}",
        open / count,
        at_rest / count,
        blocks as f64 * 4096.0 / all,
        names_len as f64 / all
    );
}

/// Bytes of this process in memory.
fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
    let pages: f64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("its second number");
    pages * 4096.0
}
