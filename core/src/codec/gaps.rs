//! The list of gaps: row numbers that hold no value.
//!
//! ```text
//! gaps   count (varint, 1 to rows), rows
//! rows   the first row (varint), then for each further one its distance from the one before, less 1
//! ```

use super::{
    CodecError, Defect,
    bytes::{Sink, Source},
};

/// Writes the list, which is not empty.
pub(super) fn write(gaps: &[u16], sink: &mut Sink) {
    sink.varint(gaps.len() as u64);
    write_rows(gaps.iter().map(|&row| u64::from(row)), sink);
}

/// Reads the list of a chunk of `count` rows into `out`; how many gaps there are.
pub(super) fn read(source: &mut Source, count: usize, out: &mut [u16]) -> Result<usize, CodecError> {
    let listed = source.varint_in(1, count, Defect::Count)?;
    let out = out.get_mut(..listed).ok_or(CodecError::Memory { needed: listed })?;
    read_rows(source, listed, count, |index, row| {
        if let Some(out) = out.get_mut(index) {
            *out = row;
        }
    })?;
    Ok(listed)
}

/// Writes ascending row numbers.
pub(super) fn write_rows(rows: impl Iterator<Item = u64>, sink: &mut Sink) {
    let mut next = 0;
    for row in rows {
        sink.varint(row.saturating_sub(next));
        next = row + 1;
    }
}

/// Reads `listed` ascending row numbers below `count` and gives each to `put` with its index.
pub(super) fn read_rows(
    source: &mut Source,
    listed: usize,
    count: usize,
    mut put: impl FnMut(usize, u16),
) -> Result<(), CodecError> {
    let mut next = 0;
    for index in 0..listed {
        let wrong = source.defect(Defect::Row);
        let row = next + source.varint_in(0, count, Defect::Row)?;
        if row >= count {
            return Err(wrong);
        }
        put(index, u16::try_from(row).map_err(|_| wrong)?);
        next = row + 1;
    }
    Ok(())
}

/// Repeats the value before each gap; before the first value there is that value, or else `none`.
pub(super) fn fill<T: Copy>(values: &mut [T], gaps: &[u16], none: T) {
    let is_gap = |row: usize| u16::try_from(row).is_ok_and(|row| gaps.binary_search(&row).is_ok());
    let first = (0..values.len()).find(|&row| !is_gap(row));
    let mut held = first.and_then(|row| values.get(row)).copied().unwrap_or(none);
    let mut filled = 0;
    for &gap in gaps {
        let gap = usize::from(gap);
        // Rows between two gaps have values; the last of them is repeated.
        if gap > filled
            && let Some(&value) = values.get(gap - 1)
        {
            held = value;
        }
        if let Some(value) = values.get_mut(gap) {
            *value = held;
        }
        filled = gap + 1;
    }
}
