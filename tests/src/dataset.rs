//! The sensor data sets (`timestamp_ms,<column>,...`, gzip): rows with the text of each cell, and the
//! readings that must be stored for them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;

/// A data set in memory.
pub struct Dataset {
    /// Names of the columns, the time left out.
    pub columns: Vec<String>,
    /// Rows in order of arrival.
    pub rows: Vec<Row>,
}

/// One row: a time, and the cells that hold a reading.
pub struct Row {
    /// Milliseconds since the epoch.
    pub timestamp_ms: i64,
    /// Column and the number's text, as the file has it.
    pub cells: Vec<(usize, String)>,
}

/// The readings of one series: nanoseconds to the bits of the value.
pub type Readings = BTreeMap<i64, u64>;

impl Dataset {
    /// Reads a data set.
    pub fn read(path: &Path) -> Self {
        let file = File::open(path).expect("the data set can be opened");
        let mut lines =
            BufReader::new(GzDecoder::new(file)).lines().map(|l| l.expect("the data set is text"));
        let header = lines.next().expect("the data set has a header");
        let columns: Vec<String> = header.split(',').skip(1).map(str::to_owned).collect();
        let rows = lines.map(|line| Row::parse(&line)).collect();
        Self { columns, rows }
    }

    /// What must be stored for each column: of two readings with one time the later row counts.
    pub fn readings(&self) -> Vec<Readings> {
        let mut series = vec![Readings::new(); self.columns.len()];
        for row in &self.rows {
            for (column, text) in &row.cells {
                let value: f64 = text.parse().expect("a cell is a number");
                series[*column].insert(row.timestamp_ms * 1_000_000, value.to_bits());
            }
        }
        series
    }
}

impl Row {
    fn parse(line: &str) -> Self {
        let mut cells = line.split(',');
        let timestamp_ms = cells.next().and_then(|c| c.parse().ok()).expect("a row begins with its time");
        let cells = cells
            .enumerate()
            .filter(|(_, text)| !text.is_empty())
            .map(|(column, text)| (column, text.to_owned()))
            .collect();
        Self { timestamp_ms, cells }
    }
}
