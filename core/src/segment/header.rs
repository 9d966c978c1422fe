//! Block 0: what a segment is. `docs/format.md`, chapter 4.

use super::definition;
use super::error::SegmentError;
use crate::block::{
    BLOCK_LEN, Block, BlockError, BlockHeader, BlockKind, Cursor, HEADER_LEN, SegmentId, Truncated, open,
    peek, seal,
};
use crate::point::TimeRange;
use crate::tree::node::{FAN_OUT_MAX, LEVELS_MAX};

/// Bytes 32-39 of every segment.
pub const MAGIC: [u8; 8] = *b"SILT\r\n\x1a\n";
/// The format version that is written, and the only one that is read.
pub const FORMAT_VERSION: u16 = 0;
/// Bytes of the header's payload.
pub(super) const HEADER_PAYLOAD_LEN: usize = 107;
/// Bytes of a writer's name at most.
pub(super) const WRITER_LEN_MAX: usize = 31;

const BLOCK_LEN_LOG2: u8 = 12;
const _: () = assert!(1 << BLOCK_LEN_LOG2 == BLOCK_LEN && 76 + WRITER_LEN_MAX == HEADER_PAYLOAD_LEN);

/// What a segment's points are to the rest of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SegmentKind {
    /// Points in the order of their times, as they came.
    InOrder = 0,
    /// Points that came late.
    Late = 1,
    /// No points: of the series that it names nothing of a lower rank counts in its span.
    Tombstones = 2,
}

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Its name.
    pub id: SegmentId,
    /// What its points are.
    pub kind: SegmentKind,
    /// Order of writes: of two points of one series and time the higher rank wins.
    pub rank: u64,
    /// The span of time that it belongs to; of tombstones the span that was deleted.
    pub partition: TimeRange,
    /// The longest time for which integrals hold a value, nanoseconds.
    pub max_hold_ns: i64,
    /// Late segments: every late point of the partition below this journal position is in this or an earlier one.
    pub covered_lsn: u64,
    /// Name and version of the writer, padded with zeros.
    pub writer: [u8; WRITER_LEN_MAX],
}

impl SegmentHeader {
    /// The writer's name as stored bytes: cut to 31 bytes at a character's edge.
    pub fn writer_name(name: &str) -> [u8; WRITER_LEN_MAX] {
        let mut writer = [0; WRITER_LEN_MAX];
        let mut end = 0;
        for (at, character) in name.char_indices() {
            if at + character.len_utf8() <= WRITER_LEN_MAX {
                end = at + character.len_utf8();
            }
        }
        for (to, from) in writer.iter_mut().zip(name.as_bytes().iter().take(end)) {
            *to = *from;
        }
        writer
    }

    /// The payload of block 0.
    pub fn payload(&self) -> [u8; HEADER_PAYLOAD_LEN] {
        let mut payload = [0; HEADER_PAYLOAD_LEN];
        payload[..8].copy_from_slice(&MAGIC);
        payload[8..10].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        payload[10] = BLOCK_LEN_LOG2;
        payload[11] = self.kind as u8;
        payload[16..32].copy_from_slice(&self.id.device);
        payload[32..40].copy_from_slice(&self.rank.to_le_bytes());
        payload[40..48].copy_from_slice(&self.partition.begin.to_le_bytes());
        payload[48..56].copy_from_slice(&self.partition.end.to_le_bytes());
        payload[56..64].copy_from_slice(&self.max_hold_ns.to_le_bytes());
        payload[64..72].copy_from_slice(&self.covered_lsn.to_le_bytes());
        payload[72..74].copy_from_slice(&(FAN_OUT_MAX as u16).to_le_bytes());
        payload[74] = LEVELS_MAX;
        payload[75] = self.writer.iter().position(|byte| *byte == 0).unwrap_or(WRITER_LEN_MAX) as u8;
        payload[76..].copy_from_slice(&self.writer);
        payload
    }

    /// Block 0 itself.
    pub fn block(&self, write_epoch: u32) -> Block {
        let mut block = [0; BLOCK_LEN];
        block[HEADER_LEN..HEADER_LEN + HEADER_PAYLOAD_LEN].copy_from_slice(&self.payload());
        let header = BlockHeader {
            kind: BlockKind::Header,
            flags: 0,
            payload_len: HEADER_PAYLOAD_LEN as u16,
            block: 0,
            number: self.id.number,
            epoch: self.id.epoch,
            write_epoch,
            lsn: 0,
        };
        seal(&mut block, &header, &self.id.device);
        block
    }

    /// Reads a payload of block 0 for the segment `number` of `epoch`.
    ///
    /// # Errors
    /// `NotASegment`, `FutureVersion`, `BlockSize` or `Tail` with what is impossible.
    pub fn parse(payload: &[u8], epoch: u32, number: u32) -> Result<Self, SegmentError> {
        if payload.get(..8) != Some(&MAGIC[..]) {
            return Err(SegmentError::NotASegment);
        }
        let short = |_: Truncated| SegmentError::Tail("header cut short");
        let mut cursor = Cursor::new(payload);
        cursor.take(8).map_err(short)?;
        let version = cursor.u16().map_err(short)?;
        if version != FORMAT_VERSION {
            return Err(SegmentError::FutureVersion(version));
        }
        let log2 = cursor.u8().map_err(short)?;
        if log2 != BLOCK_LEN_LOG2 {
            return Err(SegmentError::BlockSize(log2));
        }
        let kind = match cursor.u8().map_err(short)? {
            0 => SegmentKind::InOrder,
            1 => SegmentKind::Late,
            2 => SegmentKind::Tombstones,
            _ => return Err(SegmentError::Tail("unknown kind of segment")),
        };
        if cursor.u32().map_err(short)? != 0 {
            return Err(SegmentError::Tail("unknown flags of a segment"));
        }
        let device = *cursor.take(16).map_err(short)?.first_chunk().ok_or(SegmentError::Truncated)?;
        let rank = cursor.u64().map_err(short)?;
        let partition = TimeRange::new(cursor.i64().map_err(short)?, cursor.i64().map_err(short)?);
        let max_hold_ns = cursor.i64().map_err(short)?;
        let covered_lsn = cursor.u64().map_err(short)?;
        let (fan_out, levels) = (cursor.u16().map_err(short)?, cursor.u8().map_err(short)?);
        if usize::from(fan_out) > FAN_OUT_MAX || levels > LEVELS_MAX {
            return Err(SegmentError::Tail("nodes larger than this reader knows"));
        }
        cursor.u8().map_err(short)?;
        let writer =
            *cursor.take(WRITER_LEN_MAX).map_err(short)?.first_chunk().ok_or(SegmentError::Truncated)?;
        let id = SegmentId { device, epoch, number };
        Ok(Self { id, kind, rank, partition, max_hold_ns, covered_lsn, writer })
    }

    /// Reads and verifies block 0 of a file of which nothing else is known.
    ///
    /// # Errors
    /// `NotASegment` before anything else is looked at, then whatever is wrong with the block.
    pub fn open(bytes: &[u8]) -> Result<Self, SegmentError> {
        if bytes.len() < BLOCK_LEN {
            let magic = bytes.get(HEADER_LEN..HEADER_LEN + MAGIC.len());
            return Err(if magic == Some(&MAGIC[..]) {
                SegmentError::Truncated
            } else {
                SegmentError::NotASegment
            });
        }
        let wrong = |error: BlockError| SegmentError::Block { block: 0, error };
        if bytes.get(HEADER_LEN..HEADER_LEN + MAGIC.len()) != Some(&MAGIC[..]) {
            return Err(SegmentError::NotASegment);
        }
        let (header, payload) = peek(bytes).map_err(wrong)?;
        let parsed = Self::parse(payload, header.epoch, header.number)?;
        open(bytes, &parsed.id, 0).map_err(wrong)?;
        if header.kind != BlockKind::Header {
            return Err(SegmentError::Payload { block: 0, what: "header" });
        }
        Ok(parsed)
    }

    /// Reads the copy of the header in block 1, the first definition block, for a file whose block 0 is damaged;
    /// that block is verified.
    ///
    /// # Errors
    /// Whatever is wrong with the block.
    pub fn open_copy(bytes: &[u8]) -> Result<Self, SegmentError> {
        let wrong = |error: BlockError| SegmentError::Block { block: 1, error };
        let (header, payload) = peek(bytes).map_err(wrong)?;
        if header.kind != BlockKind::Definitions {
            return Err(SegmentError::Payload { block: 1, what: "definitions" });
        }
        let copy = definition::header_copy(payload, 1)?;
        let parsed = Self::parse(copy, header.epoch, header.number)?;
        open(bytes, &parsed.id, 1).map_err(wrong)?;
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::{SegmentHeader, SegmentKind};
    use crate::block::{BlockError, SegmentId};
    use crate::point::TimeRange;
    use crate::segment::SegmentError;

    fn sample() -> SegmentHeader {
        SegmentHeader {
            id: SegmentId { device: [9; 16], epoch: 2, number: 5 },
            kind: SegmentKind::Late,
            rank: 77,
            partition: TimeRange::new(-5, 1 << 60),
            max_hold_ns: 3_600_000_000_000,
            covered_lsn: 123,
            writer: SegmentHeader::writer_name("siltstone 0.1.0 with a name that is far too long ü"),
        }
    }

    #[test]
    fn a_header_comes_back() {
        let header = sample();
        assert_eq!(SegmentHeader::open(&header.block(3)), Ok(header));
    }

    #[test]
    fn other_files_are_told_apart() {
        let mut block = sample().block(3);
        assert_eq!(SegmentHeader::open(&[0x50; 5000]), Err(SegmentError::NotASegment));
        assert_eq!(SegmentHeader::open(b"PK"), Err(SegmentError::NotASegment));
        assert_eq!(SegmentHeader::open(&block[..100]), Err(SegmentError::Truncated));
        block[32 + 8] = 1;
        assert_eq!(SegmentHeader::open(&block), Err(SegmentError::FutureVersion(1)));
        block[32 + 8] = 0;
        block[4000] = 1;
        let bad = SegmentError::Block { block: 0, error: BlockError::Checksum };
        assert_eq!(SegmentHeader::open(&block), Err(bad));
    }
}
