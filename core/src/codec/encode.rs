//! Encoding a chunk by a plan, and cutting rows to a capacity.
//!
//! ```text
//! chunk   codec (1), columns (1), timestamps, gaps (only if flagged), runs (only if flagged), values
//! ```
//!
//! Any rows can be coded: where the plan can't hold them, a plan that can is followed instead, and the
//! two bytes at the front say which. Coding into an empty slice measures.

use super::{
    Codec, EncodeError, Model, Plan, Rows, Scratch, TimestampPlan, ValuePlan, Values, booleans,
    bytes::Sink,
    floats::{self, Memory},
    gaps, integers, runs, states, timestamps,
};

/// What was encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Bytes of the chunk.
    pub len: usize,
    /// Those of its timestamps.
    pub timestamp_len: usize,
    /// Those of its values, lengths of runs included. The rest are the two codec bytes and the gaps.
    pub value_len: usize,
    /// What its columns use.
    pub codec: Codec,
}

/// Encodes `rows` by `plan` at the start of `out`.
///
/// # Errors
///
/// [`EncodeError::Full`] if `out` is too small; the others if the rows are no chunk, see there.
pub fn encode(
    rows: &Rows,
    plan: &Plan,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<Encoded, EncodeError> {
    let (encoded, fits) = encode_counting(rows, plan, scratch, out)?;
    if fits { Ok(encoded) } else { Err(EncodeError::Full { needed_bytes: encoded.len }) }
}

/// The exact bytes that [`encode`] needs.
///
/// # Errors
///
/// Those of [`encode`], save that it is never full.
pub fn measure(rows: &Rows, plan: &Plan, scratch: &mut Scratch) -> Result<Encoded, EncodeError> {
    Ok(encode_counting(rows, plan, scratch, &mut [])?.0)
}

/// Encodes as far as `out` goes and counts all; whether it went far enough.
fn encode_counting(
    rows: &Rows,
    plan: &Plan,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<(Encoded, bool), EncodeError> {
    rows.check()?;
    scratch.check(rows)?;
    let (head, body) = match out.split_first_chunk_mut::<2>() {
        Some((head, body)) => (head, body),
        None => (&mut [0; 2], &mut [][..]),
    };
    let mut sink = Sink::new(body);
    let step_plan: TimestampPlan = timestamps::resolve(rows.timestamps, plan.timestamps);
    timestamps::write(rows.timestamps, step_plan, scratch.steps, &mut sink);
    let timestamp_len = sink.len();
    if !rows.gaps.is_empty() {
        gaps::write(rows.gaps, &mut sink);
    }
    let value_begin = sink.len();
    let values = write_values(rows.values, rows.gaps, plan.values, scratch, &mut sink);
    let codec = Codec::new(rows.values.kind(), Plan { timestamps: step_plan, values }, !rows.gaps.is_empty());
    *head = codec.bytes();
    let value_len = sink.len() - value_begin;
    let encoded = Encoded { len: head.len() + sink.len(), timestamp_len, value_len, codec };
    Ok((encoded, sink.fits() && encoded.len <= out.len()))
}

/// Writes runs and values, and gives the plan that was followed in the end.
pub(super) fn write_values(
    values: Values,
    gap_rows: &[u16],
    plan: ValuePlan,
    scratch: &mut Scratch,
    sink: &mut Sink,
) -> ValuePlan {
    let plan = plan.for_kind(values.kind());
    let runs = plan.model == Model::Alternating || plan.runs && plan.model.allows_runs();
    let plan = ValuePlan { runs, ..plan };
    let followed = match values {
        Values::Float(values) => {
            let reduced = if plan.runs || !gap_rows.is_empty() {
                let Some(copy) = scratch.floats.get_mut(..values.len()) else { return plan };
                copy.copy_from_slice(values);
                gaps::fill(copy, gap_rows, 0.0);
                reduce(copy, plan, scratch.lengths, |a, b| a.to_bits() == b.to_bits())
            } else {
                values
            };
            write_run_count(reduced.len(), plan, sink);
            let mut memory = Memory {
                numbers: &mut *scratch.numbers,
                corrections: &mut *scratch.corrections,
                exceptions: &mut *scratch.exceptions,
                steps: &mut *scratch.steps,
            };
            let followed = floats::write(reduced.iter().copied(), plan, &mut memory, sink);
            (followed, reduced.len())
        }
        Values::Integer(values) => {
            let Some(copy) = scratch.numbers.get_mut(..values.len()) else { return plan };
            copy.copy_from_slice(values);
            gaps::fill(copy, gap_rows, 0);
            let reduced = reduce(copy, plan, scratch.lengths, |a, b| a == b);
            write_run_count(reduced.len(), plan, sink);
            (integers::write(reduced, plan, sink), reduced.len())
        }
        Values::Boolean(values) => {
            let Some(copy) = scratch.numbers.get_mut(..values.len()) else { return plan };
            for (to, &value) in copy.iter_mut().zip(values) {
                *to = i64::from(value);
            }
            gaps::fill(copy, gap_rows, 0);
            let reduced = reduce(copy, plan, scratch.lengths, |a, b| a == b);
            write_run_count(reduced.len(), plan, sink);
            (write_booleans(reduced, plan, sink), reduced.len())
        }
        Values::State { codes, texts } => {
            let Some(copy) = scratch.numbers.get_mut(..codes.len()) else { return plan };
            for (to, &code) in copy.iter_mut().zip(codes) {
                *to = i64::from(code);
            }
            // Rows that are all gaps are given the first text; `check` saw to it that there is one.
            gaps::fill(copy, gap_rows, 0);
            let reduced = reduce(copy, plan, scratch.lengths, |a, b| a == b);
            write_run_count(reduced.len(), plan, sink);
            let renamed = scratch.exceptions.get_mut(..texts.len()).unwrap_or_default();
            states::write_texts(reduced, texts, renamed, sink);
            states::write_codes(reduced, plan.predictor, sink);
            (plan, reduced.len())
        }
    };
    let (followed, runs) = followed;
    if plan.runs {
        runs::write_lengths(scratch.lengths.get(..runs).unwrap_or_default(), sink);
    }
    followed
}

/// Reduces a column to its runs, if the plan says so.
fn reduce<'a, T: Copy>(
    values: &'a mut [T],
    plan: ValuePlan,
    lengths: &mut [i64],
    same: impl Fn(T, T) -> bool,
) -> &'a mut [T] {
    if !plan.runs {
        return values;
    }
    let runs = runs::compact(values, lengths, same);
    values.get_mut(..runs).unwrap_or_default()
}

fn write_run_count(runs: usize, plan: ValuePlan, sink: &mut Sink) {
    if plan.runs {
        runs::write_count(runs, sink);
    }
}

/// Writes a column of 0 and 1, reduced to its runs if they alternate.
fn write_booleans(values: &[i64], plan: ValuePlan, sink: &mut Sink) -> ValuePlan {
    let first = values.first().copied().unwrap_or_default();
    match plan.model {
        Model::Alternating => sink.byte(first as u8),
        Model::Constant if values.iter().all(|&value| value == first) => sink.byte(first as u8),
        _ => {
            booleans::write_bitmap(values.iter().map(|&value| value != 0), sink);
            return ValuePlan { model: Model::Bitmap, ..plan };
        }
    }
    plan
}
