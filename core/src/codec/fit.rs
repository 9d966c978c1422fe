//! Cutting: how many rows go into a given space.
//!
//! For columns of residuals, which are nearly all, one pass adds up mini-blocks until the space is
//! full. Other plans (runs, bitmaps, texts) are measured a few times, between a prefix that fits and one
//! that does not. What is given out always fits.

use super::{
    Model, Plan, Rows, Scratch, TimestampPlan, Values, divisor, floats, measure,
    numbers::{Stream, rows_that_fit},
    timestamps,
    varint::{self, zigzag},
};

/// Trials after which the best prefix so far is taken.
const TRIALS_MAX: usize = 24;
/// Space that may stay unused without a further trial.
const SLACK_BYTES: usize = 4;
/// Codec and columns byte.
const HEAD_BYTES: usize = 2;

/// The length of a prefix of `rows` whose encoding by `plan` fits `capacity` bytes, close to the longest.
///
/// 0 where not even one row fits, or where the rows are no chunk.
pub fn fit(rows: &Rows, plan: &Plan, scratch: &mut Scratch, capacity: usize) -> usize {
    if rows.check().is_err() || scratch.check(rows).is_err() {
        return 0;
    }
    match fit_residuals(rows, plan, scratch, capacity) {
        Some(Counted { rows: count, exact: true }) => count,
        // The estimate may be a few bytes off: shrink by little until it holds.
        Some(Counted { rows: count, exact: false }) => {
            let mut count = count;
            while count > 0 && size(&rows.prefix(count), plan, scratch) > capacity {
                count -= 1 + count / 64;
            }
            count
        }
        None => fit_by_trial(rows, plan, scratch, capacity),
    }
}

fn size(rows: &Rows, plan: &Plan, scratch: &mut Scratch) -> usize {
    measure(rows, plan, scratch).map_or(usize::MAX, |encoded| encoded.len)
}

/// A count of rows, and whether they are known to fit.
struct Counted {
    rows: usize,
    exact: bool,
}

/// Adds up mini-blocks; `None` where the plan codes other things than residuals.
fn fit_residuals(rows: &Rows, plan: &Plan, scratch: &mut Scratch, capacity: usize) -> Option<Counted> {
    let values = plan.values.for_kind(rows.values.kind());
    if values.runs || !rows.gaps.is_empty() {
        return None;
    }
    let numbers = scratch.a.get_mut(..rows.len())?;
    let mut head = HEAD_BYTES;
    let mut exceptions: &[i64] = &[];
    match rows.values {
        Values::Float(column) if values.model.predicts() => {
            let prepared = floats::prepare(column, values, numbers, scratch.c);
            if prepared.plan != values {
                return None;
            }
            exceptions = scratch.c.get(..prepared.exceptions)?;
            if values.model != Model::Bits {
                head += 1 + varint::len(exceptions.len() as u64) + divide(numbers);
            }
        }
        Values::Integer(column) if values.model == Model::Integers => {
            numbers.copy_from_slice(column);
            head += divide(numbers);
        }
        _ => return None,
    }
    head += varint::len(zigzag(numbers.first().copied().unwrap_or_default()));
    let step_plan = timestamps::resolve(rows.timestamps, plan.timestamps);
    let (unit, step_count) = match step_plan {
        TimestampPlan::ConstantStep => (1, 0),
        _ => timestamps::prepare(rows.timestamps, scratch.b),
    };
    let steps = scratch.b.get(..step_count)?;
    let first_step = rows.timestamps.get(1).map_or(0, |second| second.wrapping_sub(rows.timestamps[0]));
    head += match steps.first() {
        _ if rows.len() == 1 => 0,
        None => varint::len(zigzag(first_step)),
        Some(&first) => varint::len(unit) + varint::len(zigzag(first)),
    };
    let mut streams =
        [Stream::new(steps, step_plan.predictor(), 2), Stream::new(numbers, values.predictor, 1)];
    let count = rows_that_fit(&mut streams, rows.len(), |count| {
        let off_grid = exceptions.partition_point(|&row| row < count as i64);
        capacity.checked_sub(head + exception_bytes(off_grid, count))
    });
    let exact = count == rows.len() || {
        // The prefix is coded just so if its common divisors and exceptions lead to nothing else.
        let off_grid = exceptions.partition_point(|&row| row < count as i64);
        off_grid <= floats::exceptions_max(count)
            && divisor::coprime(differences(numbers.get(..count)?))
            && (steps.is_empty() || divisor::coprime(steps.iter().copied().take(count.saturating_sub(1))))
    };
    Some(Counted { rows: count, exact })
}

/// Divides by the common divisor; the bytes of divisor and remainder.
fn divide(numbers: &mut [i64]) -> usize {
    let (divisor, remainder) = divisor::divide(numbers);
    varint::len(divisor) + if divisor > 1 { varint::len(remainder) } else { 0 }
}

/// Each number less the first.
fn differences(numbers: &[i64]) -> impl Iterator<Item = i64> {
    let first = numbers.first().copied().unwrap_or_default();
    numbers.iter().map(move |&number| number.wrapping_sub(first))
}

/// At most the bytes of so many exceptions among the first `rows` rows.
fn exception_bytes(exceptions: usize, rows: usize) -> usize {
    // A distance between exceptions takes a second byte from 128 rows, a third from 16,384.
    exceptions * 9 + exceptions.min(rows / 128) + exceptions.min(rows / 16_384)
}

/// Measures some prefixes between one that fits and one that does not.
fn fit_by_trial(rows: &Rows, plan: &Plan, scratch: &mut Scratch, capacity: usize) -> usize {
    let (mut low, mut low_size) = (0, 0);
    let (mut high, mut high_size) = (rows.len(), size(rows, plan, scratch));
    if high_size <= capacity {
        return high;
    }
    for trial in 0..TRIALS_MAX {
        if high - low <= 1 || capacity - low_size <= SLACK_BYTES {
            break;
        }
        // Sizes mostly grow evenly with rows; where they don't, halving ends the search.
        let share = (capacity - low_size) * (high - low) / (high_size - low_size).max(1);
        let step = if trial % 3 == 2 { (high - low) / 2 } else { share };
        let count = (low + step).clamp(low + 1, high - 1);
        let counted = size(&rows.prefix(count), plan, scratch);
        if counted <= capacity {
            (low, low_size) = (count, counted);
        } else {
            (high, high_size) = (count, counted.max(low_size));
        }
    }
    low
}
