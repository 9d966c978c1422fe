//! The home whose readings are replayed: the data set `home_climate`, or one like it from a generator.
//!
//! Columns are named `<room>_<field>`. A row is published as one JSON message a room, with the fields
//! that have a reading and the row's own time; it must be stored as `<field>{device="home/<room>"}`.

use std::collections::BTreeMap;

use crate::dataset::{Dataset, Row};
use crate::stored::Series;
use crate::workspace;

/// Rows of the generated home that stands in for the data set.
const GENERATED_ROWS: usize = 30_000;

/// The readings of a home.
pub struct Home(pub Dataset);

impl Home {
    /// The data set, or the generator's where the data sets are absent, which is said loudly.
    pub fn real() -> Self {
        match workspace::shared_data("home_climate.csv.gz") {
            Some(path) => Self(Dataset::read(&path)),
            None => {
                eprintln!("a generated home of {GENERATED_ROWS} rows takes the place of home_climate");
                Self::generated(GENERATED_ROWS)
            }
        }
    }

    /// A home of three rooms over a bit more than three months, whatever the number of rows: uneven
    /// times, readings left out, decimals and whole numbers, the same on every machine.
    pub fn generated(rows: usize) -> Self {
        let columns = ["attic", "kitchen", "cellar"]
            .iter()
            .flat_map(|room| ["temperature", "humidity", "brightness"].map(|field| format!("{room}_{field}")))
            .collect();
        let step_ms = 100 * 86_400_000 / rows.max(1) as u64;
        let mut random = Random(1);
        let mut timestamp_ms = 1_756_000_000_000u64;
        let rows = (0..rows)
            .map(|at| {
                timestamp_ms += 1 + step_ms / 2 + random.below(step_ms);
                let cells = (0..9).filter(|_| random.below(4) > 0).collect::<Vec<_>>();
                let text = |column: usize, random: &mut Random| {
                    let slow = (at as f64 / 230.0 + column as f64).sin();
                    match column % 3 {
                        0 => format!("{:.2}", 20.0 + 6.0 * slow + random.below(60) as f64 / 100.0),
                        1 => format!("{}", 50 + (20.0 * slow) as i64 + random.below(3) as i64),
                        _ => format!("{:.1}", random.below(9_000) as f64 / 10.0),
                    }
                };
                let cells = cells.into_iter().map(|column| (column, text(column, &mut random))).collect();
                Row { timestamp_ms: timestamp_ms as i64, cells }
            })
            .collect();
        Self(Dataset { columns, rows })
    }

    /// The messages of one row: topic and payload.
    pub fn messages(&self, row: &Row) -> Vec<(String, String)> {
        let mut rooms: BTreeMap<&str, String> = BTreeMap::new();
        for (column, text) in &row.cells {
            let (room, field) = split(&self.0.columns[*column]);
            let payload = rooms.entry(room).or_insert_with(|| format!("{{\"ts\":{}", row.timestamp_ms));
            payload.push_str(&format!(",\"{field}\":{text}"));
        }
        rooms.into_iter().map(|(room, payload)| (format!("home/{room}"), payload + "}")).collect()
    }

    /// What must be stored.
    pub fn expected(&self) -> Series {
        let name = |column: &String| {
            let (room, field) = split(column);
            format!("{field}{{device=\"home/{room}\"}}")
        };
        self.0.columns.iter().map(name).zip(self.0.readings()).collect()
    }

    /// The same as a CSV file of `timestamp_ms` and the columns.
    pub fn csv(&self) -> String {
        let mut text = format!("timestamp_ms,{}\n", self.0.columns.join(","));
        for row in &self.0.rows {
            let mut cells = vec![""; self.0.columns.len()];
            for (column, cell) in &row.cells {
                cells[*column] = cell;
            }
            text.push_str(&format!("{},{}\n", row.timestamp_ms, cells.join(",")));
        }
        text
    }
}

fn split(column: &str) -> (&str, &str) {
    column.split_once('_').expect("columns are named room_field")
}

/// A small generator of random numbers (xorshift64*).
struct Random(u64);

impl Random {
    /// A number of `0..end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) % end.max(1)
    }
}
