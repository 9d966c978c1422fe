//! Posting lists: rising positions as runs, in memory and as bytes, and their set operations.
//!
//! A list in memory is a vector of ascending, disjoint, not touching ranges, so that a list read
//! takes no more memory than its bytes warrant, whatever numbers it names. Byte form:
//! `docs/format-index.md`, chapter 6.

use alloc::vec::Vec;
use core::ops::Range;

use super::error::IndexError;
use super::varint::push;
use crate::block::Cursor;

/// Ascending, disjoint, not touching ranges of positions.
pub type Ranges = Vec<Range<u32>>;

/// Appends positions to a list of bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct PostingWriter {
    bytes: Vec<u8>,
    /// First position after the last run that was written out.
    next: u32,
    /// The run that is still growing.
    open: Range<u32>,
}

impl PostingWriter {
    /// Appends a position; one that was appended last is passed over.
    pub(super) fn push(&mut self, position: u32) {
        if self.open.is_empty() {
            self.open = position..position.saturating_add(1);
        } else if position == self.open.end {
            self.open.end = position.saturating_add(1);
        } else if position > self.open.end {
            self.write_run();
            self.open = position..position.saturating_add(1);
        }
    }

    fn write_run(&mut self) {
        let gap = u64::from(self.open.start.saturating_sub(self.next));
        let len = u64::from(self.open.end.saturating_sub(self.open.start));
        push(&mut self.bytes, gap << 1 | u64::from(len > 1));
        if len > 1 {
            push(&mut self.bytes, len.saturating_sub(2));
        }
        self.next = self.open.end;
    }

    /// The bytes of the list.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if !self.open.is_empty() {
            self.write_run();
        }
        self.bytes
    }
}

/// Reads a list of positions below `end`.
pub(super) fn read(bytes: &[u8], end: u32) -> Result<Ranges, IndexError> {
    let mut cursor = Cursor::new(bytes);
    let mut ranges = Ranges::new();
    let mut next = 0_u32;
    while !cursor.rest().is_empty() {
        let head = cursor.varint()?;
        let run = if head & 1 == 1 { cursor.varint()?.checked_add(2) } else { Some(1) };
        let begin = u64::from(next).checked_add(head >> 1);
        let stop = begin.zip(run).and_then(|(begin, run)| begin.checked_add(run));
        let stop = stop.and_then(|stop| u32::try_from(stop).ok()).filter(|stop| *stop <= end);
        let (Some(begin), Some(stop)) = (begin.and_then(|begin| u32::try_from(begin).ok()), stop) else {
            return Err(IndexError::BadTable);
        };
        push_range(&mut ranges, begin..stop);
        next = stop;
    }
    Ok(ranges)
}

/// Appends a range that begins at or after the last one's begin.
pub(super) fn push_range(ranges: &mut Ranges, range: Range<u32>) {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
        _ => ranges.push(range),
    }
}

/// The positions in both.
pub(super) fn intersect(a: &[Range<u32>], b: &[Range<u32>]) -> Ranges {
    let mut both = Ranges::new();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(left), Some(right)) = (a.peek(), b.peek()) {
        push_range(&mut both, left.start.max(right.start)..left.end.min(right.end));
        if left.end <= right.end {
            a.next();
        } else {
            b.next();
        }
    }
    both
}

/// The positions in either.
pub(super) fn unite(a: &[Range<u32>], b: &[Range<u32>]) -> Ranges {
    let mut either = Ranges::new();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let from_a = match (a.peek(), b.peek()) {
            (Some(left), Some(right)) => left.start <= right.start,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return either,
        };
        if let Some(range) = if from_a { a.next() } else { b.next() } {
            push_range(&mut either, range.clone());
        }
    }
}

/// How many positions the ranges hold.
pub fn count(ranges: &[Range<u32>]) -> u64 {
    ranges.iter().map(|range| u64::from(range.end.saturating_sub(range.start))).sum()
}

#[cfg(test)]
#[path = "posting_tests.rs"]
mod tests;
