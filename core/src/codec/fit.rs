//! Cutting: how many rows go into a given space.
//!
//! For columns of residuals, which are nearly all, one pass adds up mini-blocks until the space is
//! full. Other plans (runs, bitmaps, texts) are measured a few times, between a prefix that fits and one
//! that does not. What is given out always fits.

use super::{
    Model, Plan, Rows, Scratch, TimestampPlan, Values, divisor, floats,
    floats::Memory,
    measure,
    prefix::{Stream, rows_that_fit},
    timestamps,
    varint::{self, zigzag},
};

/// Trials after which the best prefix so far is taken.
const TRIALS_MAX: usize = 24;
/// Space that may stay unused without a further trial: these bytes, and one part of so many.
const SLACK_BYTES: usize = 4;
const SLACK_SHARE: usize = 512;
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
    let plan = Plan { values: plan.values.for_kind(rows.values.kind()), ..*plan };
    if plan.values.runs || !rows.gaps.is_empty() {
        return None;
    }
    let mut streams = [Stream::plain(&[]), Stream::plain(&[]), Stream::plain(&[])];
    let numbers = scratch.numbers.get_mut(..rows.len())?;
    let (mut head, mut exceptions) = (HEAD_BYTES, 0);
    match rows.values {
        Values::Float(column) => {
            let mut memory = Memory {
                numbers: &mut *numbers,
                corrections: &mut *scratch.corrections,
                exceptions: &mut *scratch.exceptions,
                steps: &mut [],
            };
            let (bytes, divided) = match plan.values.model {
                Model::Bits => (0, false),
                Model::Decimal { .. } | Model::Single { .. } => (1, true),
                Model::Rational(rational) => (rational.head_len(), true),
                _ => return None,
            };
            let prepared = floats::prepare(column.iter().copied(), plan.values.model, &mut memory);
            if prepared.model != plan.values.model {
                return None;
            }
            exceptions = prepared.exceptions;
            head += bytes;
            if divided {
                head += varint::len(exceptions as u64) + divisor::divide_len(numbers);
            }
            if prepared.corrected {
                streams[2] = Stream::plain(scratch.corrections.get(..rows.len())?);
            }
        }
        Values::Integer(column) if plan.values.model == Model::Integers => {
            numbers.copy_from_slice(column);
            head += divisor::divide_len(numbers);
        }
        _ => return None,
    }
    let numbers = scratch.numbers.get(..rows.len())?;
    head += varint::len(zigzag(numbers.first().copied().unwrap_or_default()));
    streams[0] = Stream::predicted(numbers, plan.values.predictor, 1);
    let steps = steps(rows, plan.timestamps, scratch.steps, &mut head)?;
    streams[1] = steps.stream;
    let exceptions = scratch.exceptions.get(..exceptions)?;
    let off_grid = |count: usize| exceptions.partition_point(|&row| row < count as i64);
    let count = rows_that_fit(&mut streams, rows.len(), |count| {
        capacity.checked_sub(head + exception_bytes(off_grid(count), count))
    });
    let exact = count == rows.len() || {
        // The prefix is coded just so if its common divisors and exceptions lead to nothing else.
        off_grid(count) <= floats::exceptions_max(count)
            && divisor::coprime(differences(numbers.get(..count)?))
            && steps
                .numbers
                .get(..count.saturating_sub(1))
                .is_none_or(|steps| divisor::coprime(steps.iter().copied()))
    };
    Some(Counted { rows: count, exact })
}

/// The steps of timestamps; no numbers where the step is constant.
struct Steps<'a> {
    numbers: &'a [i64],
    stream: Stream<'a>,
}

/// Prepares the steps, and adds their bytes outside mini-blocks to `head`.
fn steps<'a>(
    rows: &Rows,
    plan: TimestampPlan,
    scratch: &'a mut [i64],
    head: &mut usize,
) -> Option<Steps<'a>> {
    let plan = timestamps::resolve(rows.timestamps, plan);
    let (unit, count) = match plan {
        TimestampPlan::ConstantStep => (1, 0),
        _ => timestamps::prepare(rows.timestamps, scratch),
    };
    let numbers = scratch.get(..count)?;
    *head += match (rows.timestamps, numbers.first()) {
        (_, Some(&first)) => varint::len(unit) + varint::len(zigzag(first)),
        ([first, second, ..], None) => varint::len(zigzag(second.wrapping_sub(*first))),
        _ => 0,
    };
    Some(Steps { numbers, stream: Stream::predicted(numbers, plan.predictor(), 2) })
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
        if high - low <= 1 || capacity - low_size <= SLACK_BYTES + capacity / SLACK_SHARE {
            break;
        }
        // Sizes mostly grow evenly with rows; where they don't, halving ends the search.
        let share = (capacity - low_size) as u64 * (high - low) as u64 / (high_size - low_size).max(1) as u64;
        let step = if trial % 3 == 2 { (high - low) / 2 } else { share as usize };
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
