//! Leaf bytes a point: every column of the data sets as a series of its own, through the segment
//! writer.
//!
//! A leaf counts with its header and its padding, the last one of a series by its payload. Points
//! that come late go into a second writer, as in a store. One partition.

use std::collections::BTreeMap;

use siltstone_core::block::{BLOCK_LEN, BlockKind, HEADER_LEN, SegmentId, peek};
use siltstone_core::point::{Point, TimeRange, Timestamp, Value, ValueKind};
use siltstone_core::segment::{AppendError, Appended, SegmentHeader, SegmentKind, Writer};
use siltstone_core::series::SeriesName;
use siltstone_tests::dataset::Dataset;
use siltstone_tests::workspace::shared_data;

use crate::{Row, walk};

/// The data sets that somebody measured; the generated ones are no part of the mean.
const REAL: [&str; 12] = [
    "home_climate",
    "room_occupancy",
    "house_appliances",
    "household_power",
    "air_quality_gas",
    "beijing_pm25",
    "nab_machine",
    "nab_cloud",
    "nab_traffic",
    "fan_accelerometer",
    "fleet_capmetro",
    "ett_transformer",
];
const GENERATED: [&str; 3] = ["synth_walk_temp", "synth_devops_cpu", "synth_edge_node"];

/// Bytes and points.
#[derive(Clone, Copy, Default)]
struct Cost {
    bytes: u64,
    points: u64,
}

impl Cost {
    fn a_point(self) -> f64 {
        self.bytes as f64 / self.points as f64
    }

    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.points += other.points;
    }
}

/// A writer of one segment that takes every time.
pub(crate) fn writer() -> Writer {
    let header = SegmentHeader {
        id: SegmentId { device: [7; 16], epoch: 1, number: 1 },
        kind: SegmentKind::InOrder,
        rank: 1,
        partition: TimeRange::ALL,
        max_hold_ns: 3_600_000_000_000,
        covered_lsn: 0,
        writer: SegmentHeader::writer_name("bench"),
    };
    Writer::new(header, 1)
}

/// The rows of the table.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut logs = 0.0;
    for name in REAL {
        let Some(cost) = data_set(name) else { return rows };
        logs += cost.a_point().ln();
        rows.push(Row::new(format!("leaf bytes a point, {name}"), format!("{:.3}", cost.a_point()), ""));
    }
    let mean = (logs / REAL.len() as f64).exp();
    rows.push(Row::new(
        "**leaf bytes a point, geometric mean of the 12**",
        format!("**{mean:.3}**"),
        "≤ 1.8",
    ));
    for name in GENERATED {
        let Some(cost) = data_set(name) else { return rows };
        rows.push(Row::new(format!("leaf bytes a point, {name}"), format!("{:.3}", cost.a_point()), ""));
    }
    let walk: Vec<(i64, f64)> = (walk::BEGIN_S..)
        .zip(walk::hundredths(2_000_000))
        .map(|(second, value)| (second * 1_000_000_000, value as f64 / 100.0))
        .collect();
    let cost = column(&walk);
    rows.push(Row::new("leaf bytes a point, walk of 2 decimals, 1 s", format!("{:.3}", cost.a_point()), ""));
    rows
}

fn data_set(name: &str) -> Option<Cost> {
    let set = Dataset::read(&shared_data(&format!("{name}.csv.gz"))?);
    let mut columns: Vec<Vec<(i64, f64)>> = vec![Vec::new(); set.columns.len()];
    for row in &set.rows {
        for (at, text) in &row.cells {
            columns[*at].push((row.timestamp_ms * 1_000_000, text.parse().expect("a cell is a number")));
        }
    }
    let mut sum = Cost::default();
    columns.iter().for_each(|readings| sum.add(column(readings)));
    Some(sum)
}

/// One series, in order of arrival.
fn column(readings: &[(i64, f64)]) -> Cost {
    let mut late = BTreeMap::new();
    // Of two late readings with one time the later to arrive counts.
    let mut cost = write(readings, |(at, value)| _ = late.insert(at, value));
    if !late.is_empty() {
        let late: Vec<(i64, f64)> = late.into_iter().collect();
        cost.add(write(&late, |reading| panic!("{reading:?} is late among sorted ones")));
    }
    cost
}

fn write(readings: &[(i64, f64)], mut on_late: impl FnMut((i64, f64))) -> Cost {
    let mut writer = writer();
    let name = SeriesName::parse("column").expect("a good name");
    let series = writer.define(&name, ValueKind::Float, "");
    let mut points = 0;
    for reading in readings {
        let point = Point { timestamp: Timestamp(reading.0), value: Value::Float(reading.1) };
        match writer.append(series, &point, 0) {
            Ok(Appended::Replaced) => {}
            Ok(_) => points += 1,
            Err(AppendError::Late) => on_late(*reading),
            Err(error) => panic!("{error}"),
        }
    }
    writer.flush();
    let mut bytes = 0;
    let mut last = 0;
    for block in writer.take_blocks() {
        let (header, payload) = peek(&block.bytes[..]).expect("a finished block is a block");
        if header.kind == BlockKind::Leaf {
            bytes += BLOCK_LEN;
            last = BLOCK_LEN - HEADER_LEN - payload.len();
        }
    }
    Cost { bytes: (bytes - last) as u64, points }
}
