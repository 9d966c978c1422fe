//! Rows of one kind collected from decoded chunks: what a select gives out, and the merged rows that
//! are summed up.

use alloc::string::String;
use core::ops::Range;

use super::filter::Filter;
use crate::codec::{Chunk, OwnedValues};

/// Rows of a column at most, so that row numbers of gaps fit.
pub(super) const ROWS_MAX: usize = 16_384;

/// Rows that grow at the end.
#[derive(Debug, Default)]
pub(super) struct Column {
    chunk: Chunk,
}

impl Column {
    pub(super) const fn is_empty(&self) -> bool {
        self.chunk.timestamps.is_empty()
    }

    pub(super) const fn len(&self) -> usize {
        self.chunk.timestamps.len()
    }

    /// Whether rows of `chunk` can be appended without giving out these first.
    pub(super) fn takes(&self, chunk: &Chunk) -> bool {
        self.is_empty() || self.len() < ROWS_MAX && self.chunk.values.kind() == chunk.values.kind()
    }

    /// The rows collected; none remain.
    pub(super) fn take(&mut self) -> Chunk {
        core::mem::take(&mut self.chunk)
    }

    /// Appends up to `limit` rows of `range` that pass, the last ones first where `is_backward`; gives how
    /// many rows of the range were looked at and how many appended.
    pub(super) fn append(
        &mut self,
        chunk: &Chunk,
        range: Range<usize>,
        filter: Option<&Filter>,
        is_backward: bool,
        limit: usize,
    ) -> (usize, usize) {
        if self.is_empty() && self.chunk.values.kind() != chunk.values.kind() {
            self.chunk.values = match chunk.values {
                OwnedValues::Float(_) => OwnedValues::Float(Default::default()),
                OwnedValues::Integer(_) => OwnedValues::Integer(Default::default()),
                OwnedValues::Boolean(_) => OwnedValues::Boolean(Default::default()),
                OwnedValues::State { .. } => {
                    OwnedValues::State { codes: Default::default(), texts: Default::default() }
                }
            };
        }
        let room = ROWS_MAX.saturating_sub(self.len()).min(limit);
        if filter.is_none() && !is_backward && chunk.gaps.is_empty() {
            let end = range.end.min(range.start.saturating_add(room));
            if self.append_block(chunk, range.start..end) {
                let rows = end.saturating_sub(range.start);
                return (rows, rows);
            }
        }
        let (mut seen, mut appended) = (0, 0);
        for step in 0..range.len() {
            if appended >= room {
                break;
            }
            seen += 1;
            let row = if is_backward { range.end - 1 - step } else { range.start + step };
            let passes =
                filter.is_none_or(|filter| chunk.value(row).is_some_and(|value| filter.passes(&value)));
            if passes && self.append_row(chunk, row) {
                appended += 1;
            }
        }
        (seen, appended)
    }

    /// Appends rows without gaps of a kind whose values stand alone; `false` for states.
    fn append_block(&mut self, chunk: &Chunk, range: Range<usize>) -> bool {
        fn extend<T: Copy>(to: &mut alloc::vec::Vec<T>, from: &[T], range: Range<usize>) {
            to.extend_from_slice(from.get(range).unwrap_or_default());
        }
        match (&mut self.chunk.values, &chunk.values) {
            (OwnedValues::Float(to), OwnedValues::Float(from)) => extend(to, from, range.clone()),
            (OwnedValues::Integer(to), OwnedValues::Integer(from)) => extend(to, from, range.clone()),
            (OwnedValues::Boolean(to), OwnedValues::Boolean(from)) => extend(to, from, range.clone()),
            _ => return false,
        }
        extend(&mut self.chunk.timestamps, &chunk.timestamps, range);
        true
    }

    fn append_row(&mut self, chunk: &Chunk, row: usize) -> bool {
        let Some(timestamp) = chunk.timestamps.get(row) else { return false };
        let is_appended = match (&mut self.chunk.values, &chunk.values) {
            (OwnedValues::Float(to), OwnedValues::Float(from)) => push(to, from.get(row)),
            (OwnedValues::Integer(to), OwnedValues::Integer(from)) => push(to, from.get(row)),
            (OwnedValues::Boolean(to), OwnedValues::Boolean(from)) => push(to, from.get(row)),
            (OwnedValues::State { codes, texts }, OwnedValues::State { codes: from, texts: from_texts }) => {
                let text = from.get(row).and_then(|code| from_texts.get(usize::from(*code)));
                push(codes, text.and_then(|text| code_of(texts, text)).as_ref())
            }
            _ => false,
        };
        if !is_appended {
            return false;
        }
        let is_gap = u16::try_from(row).is_ok_and(|row| chunk.gaps.binary_search(&row).is_ok());
        if is_gap && let Ok(row) = u16::try_from(self.chunk.timestamps.len()) {
            self.chunk.gaps.push(row);
        }
        self.chunk.timestamps.push(*timestamp);
        true
    }
}

fn push<T: Copy>(to: &mut alloc::vec::Vec<T>, value: Option<&T>) -> bool {
    to.extend(value.copied());
    value.is_some()
}

/// The code of a text, which is appended where it is new.
fn code_of(texts: &mut alloc::vec::Vec<String>, text: &String) -> Option<u16> {
    // States change seldom and are few: the last ones are found first.
    if let Some(at) = texts.iter().rposition(|known| known == text) {
        return u16::try_from(at).ok();
    }
    texts.push(text.clone());
    u16::try_from(texts.len().saturating_sub(1)).ok()
}
