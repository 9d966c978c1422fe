//! Points a second of processor time through the engine: points in, finished blocks out, no journal
//! and no device.

use siltstone_core::point::{Point, Timestamp, Value, ValueKind};
use siltstone_core::series::{SeriesIndex, SeriesName};

use crate::density::writer;
use crate::{Row, walk};

const POINTS: usize = 10_000_000;
const RUNS: usize = 5;
/// Of the second case: many open series at once.
const SERIES: usize = 1_000;

/// The rows of the table.
pub(crate) fn rows() -> Vec<Row> {
    let values: Vec<f64> = walk::hundredths(POINTS).into_iter().map(|v| v as f64 / 100.0).collect();
    let figure = |series: usize| {
        let mut rates: Vec<f64> = (0..RUNS).map(|_| POINTS as f64 / run(&values, series) / 1e6).collect();
        rates.sort_by(f64::total_cmp);
        format!("{:.1}", rates[RUNS / 2])
    };
    vec![
        Row::new("ingest through the engine without journal, 1 series, M points/CPU s", figure(1), "≥ 5"),
        Row::new("the same, 1,000 series in turn", figure(SERIES), ""),
    ]
}

/// Seconds of processor time for all values, dealt out to the series in turn, a second apart in each.
fn run(values: &[f64], series_count: usize) -> f64 {
    let mut writer = writer();
    let series: Vec<SeriesIndex> = (0..series_count)
        .map(|at| {
            let name = SeriesName::new("walk", [("n", at.to_string().as_str())]).expect("a good name");
            writer.define(&name, ValueKind::Float, "")
        })
        .collect();
    let begin = cpu_seconds();
    let mut bytes = 0;
    for (at, turn) in values.chunks(series_count).enumerate() {
        let timestamp = Timestamp((walk::BEGIN_S + at as i64) * 1_000_000_000);
        for (value, index) in turn.iter().zip(&series) {
            let point = Point { timestamp, value: Value::Float(*value) };
            writer.append(*index, &point, 0).expect("points rise in time");
        }
        if at % 1_024 == 0 {
            bytes += writer.take_blocks().len();
        }
    }
    writer.flush();
    bytes += writer.take_blocks().len();
    let seconds = cpu_seconds() - begin;
    assert!(bytes > 0);
    seconds
}

/// Time this thread was on a processor, by the kernel.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let nanoseconds: f64 =
        text.split(' ').next().and_then(|n| n.parse().ok()).expect("the first is the time");
    nanoseconds / 1e9
}
