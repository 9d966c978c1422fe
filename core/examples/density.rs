//! Bytes a point and speed of the codecs on the data sets, one column a series, in leaves of 4096 bytes.
//!
//! ```sh
//! cargo run --release -p siltstone-core --example density [-- columns] [SET...]
//! ```
//!
//! Every leaf is chosen, cut, encoded and decoded alone. A full leaf counts as 4096 bytes, the last one of
//! a series as its header and payload. `columns` prints a line a column; naming sets leaves out the others.
//! Rows are taken in their order of arrival.

#[path = "../tests/data_sets/mod.rs"]
mod data_sets;

use siltstone_core::codec::{
    Chunk, Plan, ROWS_MAX, Rows, ScratchBuffer, Values, choose, decode, encode, fit,
};
use std::{collections::BTreeMap, env, time::Instant};

const LEAF_BYTES: usize = 4096;
/// Block header and the directory entry of one chunk.
const HEADER_BYTES: usize = 60;
/// Each leaf is coded this often, for the clock.
const REPEATS: u32 = 3;

#[derive(Clone, Copy, Default)]
struct Cost {
    points: usize,
    bytes: usize,
    timestamp_bytes: usize,
    value_bytes: usize,
    seconds: [f64; 4],
}

impl Cost {
    fn add(&mut self, other: &Self) {
        self.points += other.points;
        self.bytes += other.bytes;
        self.timestamp_bytes += other.timestamp_bytes;
        self.value_bytes += other.value_bytes;
        for (sum, seconds) in self.seconds.iter_mut().zip(other.seconds) {
            *sum += seconds;
        }
    }

    fn print(&self, name: &str, note: &str) {
        let a_point = |bytes: usize| bytes as f64 / self.points as f64;
        let speed = |seconds: f64| self.points as f64 / seconds / 1e6;
        let [choose, fit, encode, decode] = self.seconds;
        println!(
            "{name:<28} {:>8} {:>6.3} {:>6.3} {:>6.3}  {:>5.0} {:>5.0} {:>5.0} {:>5.0} {:>5.0}  {note}",
            self.points,
            a_point(self.bytes),
            a_point(self.timestamp_bytes),
            a_point(self.value_bytes),
            speed(choose),
            speed(fit),
            speed(encode),
            speed(choose + fit + encode),
            speed(decode),
        );
    }
}

/// Runs `work` a few times and gives the least time of one run, in seconds, and its result.
fn clock<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut least = f64::INFINITY;
    let mut result = None;
    for _ in 0..REPEATS {
        let begin = Instant::now();
        result = Some(work());
        least = least.min(begin.elapsed().as_secs_f64());
    }
    (least, result.expect("work was done"))
}

/// Cuts a column into leaves, and counts.
fn measure(timestamps: &[i64], values: &[f64], codecs: &mut BTreeMap<String, usize>) -> Cost {
    let mut cost = Cost { points: values.len(), ..Cost::default() };
    let mut memory = ScratchBuffer::default();
    let mut chunk = Chunk::default();
    let mut plan = Plan::default();
    let mut begin = 0;
    let mut window = 1024;
    while begin < values.len() {
        let end = (begin + window).min(values.len());
        let rows = Rows {
            timestamps: &timestamps[begin..end],
            values: Values::Float(&values[begin..end]),
            gaps: &[],
        };
        let mut scratch = memory.lend(rows.len());
        let (choose_seconds, chosen) = clock(|| choose(&rows, &plan, &mut scratch));
        let (fit_seconds, count) = clock(|| fit(&rows, &chosen, &mut scratch, LEAF_BYTES - HEADER_BYTES));
        if count == rows.len() && end < values.len() && window < ROWS_MAX {
            // The leaf is not full yet: a writer goes on buffering.
            window = (2 * window).min(ROWS_MAX);
            continue;
        }
        plan = chosen;
        let leaf = rows.prefix(count);
        let mut bytes = [0; LEAF_BYTES - HEADER_BYTES];
        let (encode_seconds, encoded) =
            clock(|| encode(&leaf, &plan, &mut scratch, &mut bytes).expect("what fits can be encoded"));
        let bytes = &bytes[..encoded.len];
        let (decode_seconds, ()) = clock(|| {
            decode(bytes, count as u16, leaf.timestamps[0], &mut chunk)
                .expect("what was encoded can be decoded");
        });
        *codecs.entry(format!("{:?}", plan.values.model)).or_default() += 1;
        begin += count;
        let last = begin == values.len();
        cost.bytes += if last { HEADER_BYTES + encoded.len } else { LEAF_BYTES };
        cost.timestamp_bytes += encoded.timestamp_len;
        cost.value_bytes += encoded.value_len;
        for (sum, seconds) in
            cost.seconds.iter_mut().zip([choose_seconds, fit_seconds, encode_seconds, decode_seconds])
        {
            *sum += seconds;
        }
        window = count + count / 8 + 64;
    }
    cost
}

fn main() {
    let (flags, sets): (Vec<String>, Vec<String>) = env::args().skip(1).partition(|word| word == "columns");
    let mut totals: BTreeMap<String, Cost> = BTreeMap::new();
    let mut codecs = BTreeMap::new();
    println!(
        "{:<28} {:>8} {:>6} {:>6} {:>6}  {:>5} {:>5} {:>5} {:>5} {:>5}",
        "bytes a point, M points/s", "points", "leaf", "time", "value", "chse", "fit", "enc", "all", "dec"
    );
    for column in data_sets::load() {
        if column.values.is_empty() || !sets.is_empty() && !sets.contains(&column.set) {
            continue;
        }
        let mut own = BTreeMap::new();
        let cost = measure(&column.timestamps, &column.values, &mut own);
        if !flags.is_empty() {
            cost.print(&format!("{} {}", column.set, column.name), &format!("{own:?}"));
        }
        for (codec, leaves) in own {
            *codecs.entry(codec).or_insert(0) += leaves;
        }
        totals.entry(column.set).or_default().add(&cost);
    }
    println!();
    let (mut sum, mut log_sum, mut real) = (Cost::default(), 0.0, 0);
    for (set, cost) in &totals {
        cost.print(set, "");
        sum.add(cost);
        if !set.starts_with("synth") {
            log_sum += (cost.bytes as f64 / cost.points as f64).ln();
            real += 1;
        }
    }
    if real > 0 {
        sum.print("all", "");
        println!(
            "\ngeometric mean of {real} real sets: {:.3} bytes a point",
            (log_sum / f64::from(real)).exp()
        );
        println!("leaves by codec: {codecs:?}");
    }
}
