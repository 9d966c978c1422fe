//! Runs: neighbouring equal values reduced to one, and their lengths.
//!
//! ```text
//! runs   count of runs - 1 (varint), the values of the runs as a column of that many rows,
//!        then the lengths - 1 (a stream of mini-blocks)
//! ```

use super::{
    CodecError, Defect, blocks,
    bytes::{Sink, Source},
};

/// Moves one value of each run to the front of `values`, its length - 1 to `lengths`; how many runs.
pub(super) fn compact<T: Copy>(values: &mut [T], lengths: &mut [i64], same: impl Fn(T, T) -> bool) -> usize {
    let mut runs = 0_usize;
    let Some(mut held) = values.first().copied() else { return 0 };
    let mut length = -1;
    let mut place = |values: &mut [T], value: T, length: i64| {
        if let (Some(to), Some(to_length)) = (values.get_mut(runs), lengths.get_mut(runs)) {
            (*to, *to_length) = (value, length);
        }
        runs += 1;
    };
    for row in 0..values.len() {
        let Some(&value) = values.get(row) else { break };
        if same(value, held) {
            length += 1;
        } else {
            place(values, held, length);
            (held, length) = (value, 0);
        }
    }
    place(values, held, length);
    runs
}

/// Writes the count of runs.
pub(super) fn write_count(runs: usize, sink: &mut Sink) {
    sink.varint((runs as u64).saturating_sub(1));
}

/// Writes the lengths - 1.
pub(super) fn write_lengths(lengths: &[i64], sink: &mut Sink) {
    blocks::write(lengths, sink);
}

/// Reads the count of runs that make up `count` rows.
pub(super) fn read_count(source: &mut Source, count: usize) -> Result<usize, CodecError> {
    Ok(source.varint_in(0, count.saturating_sub(1), Defect::Count)?.saturating_add(1))
}

/// Reads the lengths - 1 of runs that make up `count` rows.
pub(super) fn read_lengths(source: &mut Source, count: usize, lengths: &mut [i64]) -> Result<(), CodecError> {
    let wrong = source.defect(Defect::Runs);
    blocks::read(source, lengths)?;
    let mut left = count;
    for &length in lengths.iter() {
        let length = usize::try_from(length).map_err(|_| wrong)?;
        left = left.checked_sub(length).and_then(|left| left.checked_sub(1)).ok_or(wrong)?;
    }
    if left == 0 { Ok(()) } else { Err(wrong) }
}

/// Spreads the values at the front of `values` over their runs, which add up to all of it.
pub(super) fn expand<T: Copy>(values: &mut [T], lengths: &[i64]) {
    let mut end = values.len();
    // From the back, so that no value is overwritten before it is read.
    for (run, &length) in lengths.iter().enumerate().rev() {
        let begin = end.saturating_sub(length as usize + 1);
        let Some(&value) = values.get(run) else { return };
        if let Some(rows) = values.get_mut(begin..end) {
            rows.fill(value);
        }
        end = begin;
    }
}
