//! Writes a dictionary: sorted keys in groups, each coded against the one before; a directory of groups.
//!
//! Layout: `docs/format-index.md`, chapter 2. Keys must rise strictly; the writer refuses others.
//! The payload behind a key is written by the caller.

use alloc::vec::Vec;

use super::error::BuildError;
use super::varint::{push, push_bytes};

/// Bytes of the longest key: a class of terms and the longest name.
pub(super) const KEY_BYTES_MAX: usize = 2052;
/// Bytes after which a group ends.
pub(super) const GROUP_BYTES: usize = 2048;
/// Bytes that a copy must save; it costs three.
const COPY_BYTES_MIN: usize = 5;
/// Middles longer than this are not searched for copies, which takes time with the square of it.
const COPIES_WITHIN_BYTES: usize = 128;
/// Bytes of the four numbers before the directory.
pub(super) const HEADER_BYTES: usize = 16;

/// Collects sorted keys.
#[derive(Debug, Default)]
pub(super) struct DictionaryWriter {
    entries: u32,
    groups: u32,
    directory: Vec<u8>,
    bytes: Vec<u8>,
    group_begin: usize,
    group_entries: u32,
    separator: Vec<u8>,
    separator_before: Vec<u8>,
    last: Vec<u8>,
}

impl DictionaryWriter {
    /// Appends a key; the caller then appends its payload to what is returned. The flag says
    /// whether the key is the first of its group.
    pub(super) fn push(&mut self, key: &[u8]) -> Result<(&mut Vec<u8>, bool), BuildError> {
        if key.len() > KEY_BYTES_MAX {
            return Err(BuildError::TooLong);
        }
        if self.entries > 0 && key <= self.last.as_slice() {
            return Err(BuildError::OutOfOrder);
        }
        if self.bytes.len().saturating_sub(self.group_begin) >= GROUP_BYTES {
            self.end_group();
        }
        let is_first = self.group_entries == 0;
        if is_first {
            self.separator.clear();
            if self.entries > 0 {
                let shared = shared_head(key, &self.last);
                self.separator.extend_from_slice(key.get(..=shared).unwrap_or(key));
            }
            self.last.clear();
        }
        let head = shared_head(key, &self.last);
        let rest = key.get(head..).unwrap_or_default();
        let tail = shared_tail(rest, self.last.get(head..).unwrap_or_default());
        let middle = rest.get(..rest.len().saturating_sub(tail)).unwrap_or_default();
        let before = self.last.get(head..self.last.len().saturating_sub(tail)).unwrap_or_default();
        push(&mut self.bytes, head as u64);
        push(&mut self.bytes, tail as u64);
        push_middle(&mut self.bytes, middle, before);
        self.last.clear();
        self.last.extend_from_slice(key);
        self.entries = self.entries.checked_add(1).ok_or(BuildError::TooMuch)?;
        self.group_entries = self.group_entries.saturating_add(1);
        Ok((&mut self.bytes, is_first))
    }

    fn end_group(&mut self) {
        if self.group_entries == 0 {
            return;
        }
        push(&mut self.directory, u64::from(self.group_entries));
        push(&mut self.directory, self.bytes.len().saturating_sub(self.group_begin) as u64);
        let shared = shared_head(&self.separator, &self.separator_before);
        push(&mut self.directory, shared as u64);
        push_bytes(&mut self.directory, self.separator.get(shared..).unwrap_or_default());
        core::mem::swap(&mut self.separator, &mut self.separator_before);
        self.groups = self.groups.saturating_add(1);
        self.group_begin = self.bytes.len();
        self.group_entries = 0;
    }

    /// The finished dictionary.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, BuildError> {
        self.end_group();
        let directory_len = u32::try_from(self.directory.len()).map_err(|_| BuildError::TooMuch)?;
        let bytes_len = u32::try_from(self.bytes.len()).map_err(|_| BuildError::TooMuch)?;
        let mut out = Vec::with_capacity(HEADER_BYTES + self.directory.len() + self.bytes.len());
        for number in [self.entries, self.groups, directory_len, bytes_len] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.append(&mut self.directory);
        out.append(&mut self.bytes);
        Ok(out)
    }
}

/// Appends `middle` as pieces: own bytes, then perhaps a copy out of `before`, and again.
fn push_middle(out: &mut Vec<u8>, middle: &[u8], before: &[u8]) {
    let mut copies = Vec::new();
    if middle.len() <= COPIES_WITHIN_BYTES && before.len() <= COPIES_WITHIN_BYTES {
        find_copies(middle, before, (0, 0), &mut copies);
    }
    let (mut at, mut at_before) = (0, 0);
    for Copy { begin, begin_before, len } in copies {
        let own = middle.get(at..begin).unwrap_or_default();
        push(out, (own.len() as u64) << 1 | 1);
        out.extend_from_slice(own);
        push(out, begin_before.saturating_sub(at_before) as u64);
        push(out, len as u64);
        at = begin.saturating_add(len);
        at_before = begin_before.saturating_add(len);
    }
    let own = middle.get(at..).unwrap_or_default();
    push(out, (own.len() as u64) << 1);
    out.extend_from_slice(own);
}

/// Bytes that stand in the middle of both keys.
struct Copy {
    begin: usize,
    begin_before: usize,
    len: usize,
}

/// Finds the longest run of bytes that both have, and then likewise to its left and to its right.
fn find_copies(a: &[u8], b: &[u8], (a_at, b_at): (usize, usize), copies: &mut Vec<Copy>) {
    let mut longest = Copy { begin: 0, begin_before: 0, len: 0 };
    for begin in 0..a.len() {
        for begin_before in 0..b.len() {
            let len = match (a.get(begin..), b.get(begin_before..)) {
                (Some(a), Some(b)) => shared_head(a, b),
                _ => 0,
            };
            if len > longest.len {
                longest = Copy { begin, begin_before, len };
            }
        }
    }
    let Copy { begin, begin_before, len } = longest;
    if len < COPY_BYTES_MIN {
        return;
    }
    if let (Some(a), Some(b)) = (a.get(..begin), b.get(..begin_before)) {
        find_copies(a, b, (a_at, b_at), copies);
    }
    copies.push(Copy {
        begin: a_at.saturating_add(begin),
        begin_before: b_at.saturating_add(begin_before),
        len,
    });
    let (end, end_before) = (begin.saturating_add(len), begin_before.saturating_add(len));
    if let (Some(a), Some(b)) = (a.get(end..), b.get(end_before..)) {
        find_copies(a, b, (a_at.saturating_add(end), b_at.saturating_add(end_before)), copies);
    }
}

/// How many bytes both begin with.
fn shared_head(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// How many bytes both end with.
fn shared_tail(a: &[u8], b: &[u8]) -> usize {
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::DictionaryWriter;

    #[test]
    fn the_documented_example_holds() {
        let mut writer = DictionaryWriter::default();
        for key in ["ab1z", "ab2z", "b"] {
            writer.push(key.as_bytes()).unwrap();
        }
        let wanted = b"\x03\0\0\0\x01\0\0\0\x04\0\0\0\x0F\0\0\0\x03\x0F\0\0\
            \0\0\x08ab1z\x02\x01\x022\0\0\x02b";
        assert_eq!(writer.finish().unwrap(), wanted);
    }
}
