//! Reads a dictionary in place: its directory is kept, its groups are read as they are asked for.
//!
//! Layout: `docs/format-index.md`, chapter 2. Total on any bytes. Memory: the directory, and one key
//! at a time.

use alloc::vec::Vec;
use core::ops::Range;

use super::dictionary_writer::{HEADER_BYTES, KEY_BYTES_MAX};
use super::error::IndexError;
use super::source::{Lookup, Round, Source};
use crate::block::{Cursor, get_u32};

/// Bytes of the largest group that is read.
const GROUP_BYTES_MAX: u64 = 65_536;

/// The directory of a dictionary.
#[derive(Clone, Debug)]
pub(super) struct Dictionary {
    /// Where the dictionary stands in the stream.
    section: Range<u64>,
    entries: u32,
    groups: Vec<Group>,
    separators: Vec<u8>,
}

/// One group: what the directory says of it.
#[derive(Clone, Debug)]
struct Group {
    /// Number of its first entry.
    first: u32,
    entries: u32,
    /// Where its bytes are, from the begin of the dictionary.
    bytes: Range<u64>,
    /// Where its separator is, among the separators.
    separator: Range<usize>,
}

/// The groups of a question, as far as they are at hand: each with its bytes.
pub(super) type Groups = Vec<(u32, u32, Vec<u8>)>;

impl Dictionary {
    /// Bytes, from the begin of a dictionary, that are worth reading first.
    pub(super) const OPENING_BYTES: u64 = 4096;

    /// Reads header and directory.
    pub(super) fn open<S: Source + ?Sized>(
        source: &S,
        section: Range<u64>,
    ) -> Result<Lookup<Self>, IndexError> {
        let len = section.end.saturating_sub(section.start);
        let mut round = Round::new(source, section.clone());
        let header = round.get(0..HEADER_BYTES as u64)?;
        if round.is_short() {
            // The directory mostly follows within the first block, so it is asked for at once.
            let mut round = Round::new(source, section);
            round.get(0..len.min(Self::OPENING_BYTES))?;
            return Ok(Lookup::Need(round.into_need()));
        }
        let directory_len = u64::from(get_u32(&header, 8)?);
        let groups_begin = directory_len.saturating_add(HEADER_BYTES as u64);
        if groups_begin.saturating_add(u64::from(get_u32(&header, 12)?)) != len {
            return Err(IndexError::BadLayout);
        }
        let directory = round.get(HEADER_BYTES as u64..groups_begin)?;
        if round.is_short() {
            return Ok(Lookup::Need(round.into_need()));
        }
        let mut dictionary =
            Self { section, entries: get_u32(&header, 0)?, groups: Vec::new(), separators: Vec::new() };
        dictionary.read_directory(&directory, get_u32(&header, 4)?, groups_begin..len)?;
        Ok(Lookup::Found(dictionary))
    }

    fn read_directory(&mut self, bytes: &[u8], groups: u32, area: Range<u64>) -> Result<(), IndexError> {
        let mut cursor = Cursor::new(bytes);
        let mut first = 0_u32;
        let mut begin = area.start;
        let mut before: Vec<u8> = Vec::new();
        for number in 0..groups {
            let entries = u32::try_from(cursor.varint()?).map_err(|_| IndexError::BadDirectory)?;
            let len = cursor.varint()?;
            let shared = as_len(cursor.varint()?)?;
            let rest_len = as_len(cursor.varint()?)?;
            let rest = cursor.take(rest_len)?;
            let mut separator = before.get(..shared).ok_or(IndexError::BadDirectory)?.to_vec();
            separator.extend_from_slice(rest);
            let rises = if number == 0 { separator.is_empty() } else { separator > before };
            if entries == 0 || len == 0 || len > GROUP_BYTES_MAX || separator.len() > KEY_BYTES_MAX || !rises
            {
                return Err(IndexError::BadDirectory);
            }
            let end = begin.checked_add(len).ok_or(IndexError::BadDirectory)?;
            let separator_begin = self.separators.len();
            self.separators.extend_from_slice(&separator);
            let separator_range = separator_begin..self.separators.len();
            self.groups.push(Group { first, entries, bytes: begin..end, separator: separator_range });
            first = first.checked_add(entries).ok_or(IndexError::BadDirectory)?;
            begin = end;
            before = separator;
        }
        if begin != area.end || first != self.entries || !cursor.rest().is_empty() {
            return Err(IndexError::BadDirectory);
        }
        Ok(())
    }

    /// Entries of the dictionary.
    pub(super) const fn entries(&self) -> u32 {
        self.entries
    }

    fn separator(&self, group: &Group) -> &[u8] {
        self.separators.get(group.separator.clone()).unwrap_or_default()
    }

    /// Number of the group that can hold `key`.
    fn group_of(&self, key: &[u8]) -> usize {
        self.groups.partition_point(|group| self.separator(group) <= key).saturating_sub(1)
    }

    /// The groups `numbers`, all of them or what is needed.
    fn fetch<S: Source + ?Sized>(&self, source: &S, groups: &[&Group]) -> Result<Lookup<Groups>, IndexError> {
        let mut round = Round::new(source, self.section.clone());
        let mut fetched = Vec::new();
        for group in groups {
            fetched.push((group.first, group.entries, round.get(group.bytes.clone())?));
        }
        if round.is_short() { Ok(Lookup::Need(round.into_need())) } else { Ok(Lookup::Found(fetched)) }
    }

    /// The groups that hold one of the ascending, disjoint ranges of entries.
    pub(super) fn groups_of_entries<S: Source + ?Sized>(
        &self,
        source: &S,
        ranges: &[Range<u32>],
    ) -> Result<Lookup<Groups>, IndexError> {
        let mut wanted: Vec<&Group> = Vec::new();
        let mut groups = self.groups.iter().peekable();
        for range in ranges {
            while let Some(group) = groups.peek() {
                let end = group.first.saturating_add(group.entries);
                if group.first >= range.end {
                    break;
                }
                if end > range.start && wanted.last().is_none_or(|last| last.first != group.first) {
                    wanted.push(group);
                }
                if end > range.end {
                    break;
                }
                groups.next();
            }
        }
        self.fetch(source, &wanted)
    }

    /// The group that can hold `key`.
    pub(super) fn groups_of_key<S: Source + ?Sized>(
        &self,
        source: &S,
        key: &[u8],
    ) -> Result<Lookup<Groups>, IndexError> {
        let group = self.groups.get(self.group_of(key));
        self.fetch(source, group.as_slice())
    }

    /// The groups that can hold the first `limit` keys that begin with `prefix`.
    pub(super) fn groups_of_prefix<S: Source + ?Sized>(
        &self,
        source: &S,
        prefix: &[u8],
        limit: usize,
    ) -> Result<Lookup<Groups>, IndexError> {
        let mut wanted = Vec::new();
        let mut later_entries = 0_usize;
        for group in self.groups.get(self.group_of(prefix)..).unwrap_or_default() {
            if !wanted.is_empty() {
                if later_entries >= limit || !self.separator(group).starts_with(prefix) {
                    break;
                }
                later_entries = later_entries.saturating_add(group.entries as usize);
            }
            wanted.push(group);
        }
        self.fetch(source, &wanted)
    }

    /// The number of the entry with `key`, if it is there.
    pub(super) fn find<S: Source + ?Sized>(
        &self,
        source: &S,
        key: &[u8],
    ) -> Result<Lookup<Option<u32>>, IndexError> {
        let groups = super::source::found!(self.groups_of_key(source, key)?);
        let mut found = None;
        for_each_key(&groups, |number, entry, _| {
            if entry == key {
                found = Some(number);
            }
            Ok(entry < key)
        })?;
        Ok(Lookup::Found(found))
    }
}

/// Walks the keys of `groups` that have no payload, until `visit` says `false`.
pub(super) fn for_each_key(
    groups: &Groups,
    mut visit: impl FnMut(u32, &[u8], bool) -> Result<bool, IndexError>,
) -> Result<(), IndexError> {
    for_each_entry(groups, |number, key, is_first, _| visit(number, key, is_first))
}

/// Walks the entries of `groups`; `visit` gets the number, the key, whether it is the first of its
/// group and a cursor from which it must take the payload, and says whether to go on.
pub(super) fn for_each_entry(
    groups: &Groups,
    mut visit: impl FnMut(u32, &[u8], bool, &mut Cursor<'_>) -> Result<bool, IndexError>,
) -> Result<(), IndexError> {
    let mut key = Vec::new();
    let mut middle_and_tail = Vec::new();
    for (first, entries, bytes) in groups {
        let mut cursor = Cursor::new(bytes);
        key.clear();
        for offset in 0..*entries {
            next_key(&mut cursor, &mut key, &mut middle_and_tail, offset == 0)?;
            if !visit(first.saturating_add(offset), &key, offset == 0, &mut cursor)? {
                return Ok(());
            }
        }
        if !cursor.rest().is_empty() {
            return Err(IndexError::BadDirectory);
        }
    }
    Ok(())
}

/// Turns `key` into the key after it.
fn next_key(
    cursor: &mut Cursor<'_>,
    key: &mut Vec<u8>,
    rest: &mut Vec<u8>,
    is_first: bool,
) -> Result<(), IndexError> {
    let head = as_len(cursor.varint()?)?;
    let tail = as_len(cursor.varint()?)?;
    let tail_begin = key.len().checked_sub(tail).filter(|begin| *begin >= head).ok_or(IndexError::BadKey)?;
    rest.clear();
    let mut before = key.get(head..tail_begin).unwrap_or_default();
    loop {
        let piece = cursor.varint()?;
        rest.extend_from_slice(cursor.take(as_len(piece >> 1)?)?);
        if piece & 1 == 0 {
            break;
        }
        let (skipped, copied) = (as_len(cursor.varint()?)?, as_len(cursor.varint()?)?);
        let (_, from) = before.split_at_checked(skipped).ok_or(IndexError::BadKey)?;
        let (copy, behind) = from.split_at_checked(copied).ok_or(IndexError::BadKey)?;
        rest.extend_from_slice(copy);
        before = behind;
    }
    rest.extend_from_slice(key.get(tail_begin..).unwrap_or_default());
    let rises = is_first || rest.as_slice() > key.get(head..).unwrap_or_default();
    if !rises || head.saturating_add(rest.len()) > KEY_BYTES_MAX {
        return Err(IndexError::BadKey);
    }
    key.truncate(head);
    key.append(rest);
    Ok(())
}

/// A length of at most one key.
fn as_len(number: u64) -> Result<usize, IndexError> {
    usize::try_from(number).ok().filter(|len| *len <= KEY_BYTES_MAX).ok_or(IndexError::BadKey)
}
