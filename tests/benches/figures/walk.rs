//! The one-year series of the benchmarks: a reading a second, two decimals, a walk that returns to
//! 21 degrees under a daily swing, and 25 outliers of 95 to 99; the same numbers at every run.
//!
//! The recipe is that of the Parquet files the figures are compared with, except for the generator
//! of the random numbers.

use std::f64::consts::TAU;
use std::io::{BufWriter, Write};
use std::path::Path;

/// 2025-01-01T00:00:00Z.
pub(crate) const BEGIN_S: i64 = 1_735_689_600;
/// Readings of a year, a second apart.
pub(crate) const COUNT: usize = 365 * 86_400;
/// The walk is pulled back over spans of six hours.
const SPAN: usize = 6 * 3_600;
const OUTLIER_COUNT: usize = 25;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// The first `count` values of the series, in hundredths: value = hundredths / 100.
pub(crate) fn hundredths(count: usize) -> Vec<i64> {
    let mut random = Random(42);
    let mut values = Vec::with_capacity(count + SPAN);
    while values.len() < count {
        // The walk over one span, and the straight line through its ends that is taken off.
        let begin = values.len();
        let mut walk = 0i64;
        let span: Vec<i64> = (0..SPAN)
            .map(|_| {
                let now = walk;
                walk += random.below(5) as i64 - 2;
                now
            })
            .collect();
        let slope = walk as f64 / SPAN as f64;
        for (at, step) in span.iter().enumerate() {
            let day = 150.0 * ((begin + at) as f64 * TAU / 86_400.0).sin();
            values.push(2_100 + (*step as f64 - slope * at as f64 + day).round() as i64);
        }
    }
    values.truncate(count);
    let mut random = Random(43);
    for _ in 0..OUTLIER_COUNT * count / COUNT {
        let at = random.below(count as u64) as usize;
        values[at] = 9_500 + random.below(401) as i64;
    }
    values
}

/// Writes the series as `timestamp_s,value`.
pub(crate) fn write_csv(path: &Path, count: usize) -> std::io::Result<()> {
    let part = path.with_extension("part");
    let mut file = BufWriter::with_capacity(1 << 20, std::fs::File::create(&part)?);
    writeln!(file, "timestamp_s,value")?;
    for (second, value) in (BEGIN_S..).zip(hundredths(count)) {
        writeln!(file, "{second},{}.{:02}", value / 100, value % 100)?;
    }
    file.into_inner()?.sync_all()?;
    // Whole or not there: a later run takes it as it is.
    std::fs::rename(part, path)
}
