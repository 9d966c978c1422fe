//! Where a reader's bytes come from, and how it asks for those that are not at hand.
//!
//! A section is read in place, a few ranges at a time. Each question is asked again from its begin
//! once the ranges it needed have been supplied; readers keep nothing but a small directory.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::error::IndexError;

/// A stream of bytes of which some may be at hand: the tail of a segment, as far as it was fetched.
pub trait Source {
    /// Copies the bytes from offset `begin` of the stream into `out`; `false` where one of them is
    /// not at hand.
    fn read(&self, begin: u64, out: &mut [u8]) -> bool;
}

/// A stream that is at hand as a whole.
impl Source for [u8] {
    fn read(&self, begin: u64, out: &mut [u8]) -> bool {
        let from = usize::try_from(begin).ok().and_then(|begin| self.get(begin..));
        match from.and_then(|rest| rest.get(..out.len())) {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }
}

/// An answer, or the bytes without which there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<T> {
    /// The answer.
    Found(T),
    /// Ranges of the stream to supply before the question is asked again; ascending, not empty.
    Need(Vec<Range<u64>>),
}

impl<T> Lookup<T> {
    /// Applies `change` to an answer.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Lookup<U> {
        match self {
            Self::Found(answer) => Lookup::Found(change(answer)),
            Self::Need(ranges) => Lookup::Need(ranges),
        }
    }
}

/// Gives the answer, or returns what is needed from the function around it.
macro_rules! found {
    ($lookup:expr) => {
        match $lookup {
            $crate::index::source::Lookup::Found(answer) => answer,
            $crate::index::source::Lookup::Need(ranges) => {
                return Ok($crate::index::source::Lookup::Need(ranges));
            }
        }
    };
}
pub(super) use found;

/// One round of reads: what is at hand is given, what is not is collected.
pub(super) struct Round<'s, S: ?Sized> {
    source: &'s S,
    section: Range<u64>,
    need: Vec<Range<u64>>,
}

impl<'s, S: Source + ?Sized> Round<'s, S> {
    pub(super) const fn new(source: &'s S, section: Range<u64>) -> Self {
        Self { source, section, need: Vec::new() }
    }

    /// The bytes `range` of the section (offsets from its begin); empty where they are needed first.
    pub(super) fn get(&mut self, range: Range<u64>) -> Result<Vec<u8>, IndexError> {
        let begin = self.section.start.checked_add(range.start).ok_or(IndexError::BadLayout)?;
        let end = self.section.start.checked_add(range.end).ok_or(IndexError::BadLayout)?;
        if begin > end || end > self.section.end {
            return Err(IndexError::BadLayout);
        }
        if begin == end {
            return Ok(Vec::new());
        }
        let len = usize::try_from(end.saturating_sub(begin)).map_err(|_| IndexError::BadLayout)?;
        // The section's length is known to be that of stored bytes, so this allocates no more.
        let mut bytes = vec![0; len];
        if self.source.read(begin, &mut bytes) {
            return Ok(bytes);
        }
        self.need.push(begin..end);
        Ok(Vec::new())
    }

    /// Whether something is needed.
    pub(super) fn is_short(&self) -> bool {
        !self.need.is_empty()
    }

    /// The ranges needed, ascending, those that touch joined.
    pub(super) fn into_need(self) -> Vec<Range<u64>> {
        let mut need = self.need;
        need.sort_by_key(|range| range.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for range in need {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        joined
    }
}
