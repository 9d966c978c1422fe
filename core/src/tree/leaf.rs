//! A leaf: a directory of chunks and their bytes. `docs/format.md`, chapter 6.
//!
//! [`LeafBuilder`] collects finished chunks without a heap until the next one doesn't fit; [`Leaf`] finds a
//! chunk by its slot. Neither decodes a chunk: that is the codec room's.

use super::TableError;
use crate::block::{Block, Cursor, HEADER_LEN, PAYLOAD_MAX};
use crate::codec::bytes::Sink;

/// Slots of a leaf at most: a chunk takes at least a byte and its directory entry five.
pub const SLOTS_MAX: usize = 600;

/// The most bytes one directory entry takes.
pub const ENTRY_LEN_MAX: usize = 5 + 3 + 10 + 10 + 2;

/// What the directory says of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Series index inside the segment.
    pub series: u32,
    /// Rows, at least 1.
    pub rows: u16,
    /// First timestamp.
    pub begin: i64,
    /// Last timestamp.
    pub last: i64,
    /// Bytes of the chunk.
    pub len: u16,
}

/// Why a payload is no leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeafError {
    /// The payload ends before the directory or the chunks do.
    Truncated,
    /// No chunk, no row, or more chunks than a leaf can hold.
    Directory,
    /// No chunk has this slot.
    Slot(u16),
}

impl core::fmt::Display for LeafError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Truncated => write!(f, "leaf cut short"),
            Self::Directory => write!(f, "impossible directory of chunks"),
            Self::Slot(slot) => write!(f, "no chunk in slot {slot}"),
        }
    }
}

impl core::error::Error for LeafError {}

impl From<crate::block::Truncated> for LeafError {
    fn from(_: crate::block::Truncated) -> Self {
        Self::Truncated
    }
}

impl From<LeafError> for TableError {
    fn from(_: LeafError) -> Self {
        Self::Value
    }
}

/// How long the directory of `entries` is, the count included.
fn directory_len<'e>(entries: impl Iterator<Item = &'e Entry> + Clone) -> usize {
    let mut sink = Sink::new(&mut []);
    put_directory(entries, &mut sink);
    sink.len()
}

fn put_directory<'e>(entries: impl Iterator<Item = &'e Entry> + Clone, sink: &mut Sink<'_>) {
    sink.varint(entries.clone().count() as u64);
    let mut before = 0i64;
    for entry in entries {
        sink.varint(u64::from(entry.series));
        sink.varint(u64::from(entry.rows));
        sink.zigzag(entry.begin.wrapping_sub(before));
        sink.varint(entry.last.wrapping_sub(entry.begin) as u64);
        sink.varint(u64::from(entry.len));
        before = entry.begin;
    }
}

/// How many bytes a chunk may have that stands alone in a leaf.
pub fn capacity_alone(entry: &Entry) -> usize {
    PAYLOAD_MAX.saturating_sub(directory_len(core::iter::once(&Entry { len: PAYLOAD_MAX as u16, ..*entry })))
}

/// Collects chunks for one leaf; `N` limits their number.
#[derive(Clone, Debug)]
pub struct LeafBuilder<const N: usize> {
    entries: heapless::Vec<Entry, N>,
    chunks: heapless::Vec<u8, PAYLOAD_MAX>,
}

impl<const N: usize> LeafBuilder<N> {
    /// No chunks.
    pub const fn new() -> Self {
        Self { entries: heapless::Vec::new(), chunks: heapless::Vec::new() }
    }

    /// Whether there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What was pushed so far, by slot.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many bytes a next chunk for `entry` may have.
    pub fn room(&self, entry: &Entry) -> usize {
        if self.entries.is_full() {
            return 0;
        }
        let longest = Entry { len: PAYLOAD_MAX as u16, ..*entry };
        let directory = directory_len(self.entries.iter().chain(core::iter::once(&longest)));
        PAYLOAD_MAX.saturating_sub(directory).saturating_sub(self.chunks.len())
    }

    /// Takes a chunk and gives its slot; `None` where it doesn't fit.
    pub fn push(&mut self, entry: Entry, chunk: &[u8]) -> Option<u16> {
        if usize::from(entry.len) != chunk.len() || chunk.len() > self.room(&entry) {
            return None;
        }
        let slot = u16::try_from(self.entries.len()).ok()?;
        self.chunks.extend_from_slice(chunk).ok()?;
        self.entries.push(entry).ok()?;
        Some(slot)
    }

    /// Writes the payload into `block` behind its header, gives its length, and begins anew.
    pub fn finish(&mut self, block: &mut Block) -> u16 {
        let payload = block.split_at_mut(HEADER_LEN).1;
        let mut sink = Sink::new(payload);
        put_directory(self.entries.iter(), &mut sink);
        sink.put(&self.chunks);
        let len = sink.len();
        self.entries.clear();
        self.chunks.clear();
        len as u16
    }
}

impl<const N: usize> Default for LeafBuilder<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// The payload of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'a> {
    count: u16,
    directory: &'a [u8],
    chunks: &'a [u8],
}

impl<'a> Leaf<'a> {
    /// Reads and checks the whole directory.
    ///
    /// # Errors
    /// `Truncated` or `Directory`.
    pub fn open(payload: &'a [u8]) -> Result<Self, LeafError> {
        let mut cursor = Cursor::new(payload);
        let count = cursor.varint()?;
        if count == 0 || count > SLOTS_MAX as u64 {
            return Err(LeafError::Directory);
        }
        let directory = cursor.rest();
        let (mut before, mut bytes) = (0, 0usize);
        for _ in 0..count {
            let entry = next_entry(&mut cursor, &mut before)?;
            bytes += usize::from(entry.len);
        }
        let chunks = cursor.rest();
        if chunks.len() != bytes {
            return Err(LeafError::Truncated);
        }
        Ok(Self { count: count as u16, directory, chunks })
    }

    /// The entries and chunks, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (Entry, &'a [u8])> + use<'a> {
        let mut cursor = Cursor::new(self.directory);
        let (mut before, mut chunks) = (0, Cursor::new(self.chunks));
        (0..self.count).map_while(move |_| {
            let entry = next_entry(&mut cursor, &mut before).ok()?;
            Some((entry, chunks.take(usize::from(entry.len)).ok()?))
        })
    }

    /// The chunk in `slot`.
    ///
    /// # Errors
    /// `Slot` where there is none.
    pub fn chunk(&self, slot: u16) -> Result<(Entry, &'a [u8]), LeafError> {
        self.iter().nth(usize::from(slot)).ok_or(LeafError::Slot(slot))
    }
}

fn next_entry(cursor: &mut Cursor<'_>, before: &mut i64) -> Result<Entry, LeafError> {
    let wrong = |_| LeafError::Directory;
    let series = u32::try_from(cursor.varint()?).map_err(wrong)?;
    let rows = u16::try_from(cursor.varint()?).map_err(wrong)?;
    let begin = before.wrapping_add(cursor.zigzag()?);
    let span = i64::try_from(cursor.varint()?);
    let len = u16::try_from(cursor.varint()?).map_err(wrong)?;
    *before = begin;
    let last = span.ok().and_then(|span| begin.checked_add(span));
    match last {
        Some(last) if rows > 0 && last < i64::MAX => Ok(Entry { series, rows, begin, last, len }),
        _ => Err(LeafError::Directory),
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Leaf, LeafBuilder, LeafError, SLOTS_MAX};
    use crate::block::{BLOCK_LEN, HEADER_LEN, PAYLOAD_MAX};
    use proptest::{collection::vec, prelude::*};

    fn entry(series: u32, begin: i64, len: usize) -> Entry {
        Entry { series, rows: 3, begin, last: begin + 20, len: len as u16 }
    }

    #[test]
    fn chunks_are_found_by_slot() {
        let mut builder = LeafBuilder::<SLOTS_MAX>::new();
        assert_eq!(builder.push(entry(7, -50, 3), b"abc"), Some(0));
        assert_eq!(builder.push(entry(9, 1 << 60, 0), b""), Some(1));
        assert_eq!(builder.push(entry(7, 100, 4), b"wxyz"), Some(2));
        let mut block = [0; BLOCK_LEN];
        let len = usize::from(builder.finish(&mut block));
        assert!(builder.is_empty());
        let leaf = Leaf::open(&block[HEADER_LEN..HEADER_LEN + len]).expect("valid");
        assert_eq!(leaf.chunk(0), Ok((entry(7, -50, 3), &b"abc"[..])));
        assert_eq!(leaf.chunk(1), Ok((entry(9, 1 << 60, 0), &b""[..])));
        assert_eq!(leaf.chunk(2), Ok((entry(7, 100, 4), &b"wxyz"[..])));
        assert_eq!(leaf.chunk(3), Err(LeafError::Slot(3)));
    }

    #[test]
    fn the_documented_example() {
        let mut builder = LeafBuilder::<2>::new();
        let first = Entry { series: 7, rows: 3, begin: 1_000, last: 3_000, len: 2 };
        let second = Entry { series: 300, rows: 1, begin: 900, last: 900, len: 1 };
        assert_eq!(builder.push(first, &[0xAA, 0xBB]), Some(0));
        assert_eq!(builder.push(second, &[0xCC]), Some(1));
        let mut block = [0; BLOCK_LEN];
        let len = usize::from(builder.finish(&mut block));
        let expected = [
            0x02, 0x07, 0x03, 0xD0, 0x0F, 0xD0, 0x0F, 0x02, 0xAC, 0x02, 0x01, 0xC7, 0x01, 0x00, 0x01, 0xAA,
            0xBB, 0xCC,
        ];
        assert_eq!(block[HEADER_LEN..HEADER_LEN + len], expected);
    }

    #[test]
    fn a_leaf_fills_to_the_last_byte_and_no_further() {
        let mut builder = LeafBuilder::<4>::new();
        let room = builder.room(&entry(1, 0, 0));
        let chunk = vec![5; room];
        assert!(builder.push(entry(1, 0, room + 1), &vec![5; room + 1]).is_none());
        assert_eq!(builder.push(entry(1, 0, room), &chunk), Some(0));
        assert!(builder.push(entry(1, 99, 1), b"x").is_none());
        let mut block = [0; BLOCK_LEN];
        assert_eq!(usize::from(builder.finish(&mut block)), PAYLOAD_MAX);
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_an_answer(bytes in vec(any::<u8>(), 0..300)) {
            if let Ok(leaf) = Leaf::open(&bytes) {
                prop_assert!(leaf.iter().map(|(_, chunk)| chunk.len()).sum::<usize>() <= bytes.len());
            }
        }
    }
}
