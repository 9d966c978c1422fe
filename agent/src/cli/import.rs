//! CSV into a store: rows in, committed now and then, sealed at the end.
//!
//! Rows out of order are taken like any late reading; of two with one time the later row counts.

use siltstone_core::point::{Point, Timestamp};
use siltstone_core::store::{Reading, SeriesId};

use super::arguments::ImportOptions;
use super::dispatch::{Failure, note};
use super::progress::bytes_bar;
use crate::config::DataConfig;
use crate::engine::Engine;
use crate::sheet::{ColumnRules, Row, SheetReader};

/// Readings between two commits.
const COMMIT_READINGS: u64 = 100_000;

pub(super) fn run(options: &ImportOptions) -> Result<(), Failure> {
    let rules = ColumnRules { metric: options.metric.clone(), tags: options.tags.clone() };
    // Heads are read before the store is touched: a wrong file costs nothing.
    for path in &options.files {
        SheetReader::open(path, &rules)?;
    }
    let config = DataConfig {
        dir: options.data.clone(),
        partition: options.partition,
        segment_max_bytes: Some(options.segment_max),
        ..DataConfig::default()
    };
    let (engine, _) = Engine::open(&config)?;
    let mut readings = 0;
    for path in &options.files {
        readings += import_file(&engine, path, &rules)?;
    }
    engine.store().seal().map_err(|error| Failure(format!("sealing failed: {error}")))?;
    note(&format!("{readings} readings are in {}", options.data.display()));
    Ok(())
}

fn import_file(engine: &Engine, path: &std::path::Path, rules: &ColumnRules) -> Result<u64, Failure> {
    let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let bar = bytes_bar(length, &path.display().to_string());
    let mut sheet = SheetReader::open(path, rules)?;
    let mut ids: Vec<Option<SeriesId>> = vec![None; sheet.series().len()];
    let (mut row, mut total, mut uncommitted) = (Row::default(), 0, 0);
    while sheet.next_row(&mut row)? {
        let mut store = engine.store();
        let mut readings = Vec::with_capacity(row.cells.len());
        for (column, value) in &row.cells {
            let (Some(slot), Some(name)) = (ids.get_mut(*column), sheet.series().get(*column)) else {
                continue;
            };
            let id = match *slot {
                Some(id) => id,
                None => *slot.insert(store.series(name, value.kind(), "")?),
            };
            let point = Point { timestamp: Timestamp(row.timestamp_ns), value: value.value() };
            readings.push(Reading { series: id, point });
        }
        let place = || format!("{}: at {}", path.display(), crate::api::format_instant(row.timestamp_ns));
        store.append(&readings, None).map_err(|error| Failure(format!("{}: {error}", place())))?;
        total += readings.len() as u64;
        uncommitted += readings.len() as u64;
        if uncommitted >= COMMIT_READINGS {
            store.commit()?;
            uncommitted = 0;
            bar.set_position(sheet.bytes_read());
        }
    }
    engine.store().commit()?;
    bar.finish_and_clear();
    Ok(total)
}
