//! The 32 bytes every block begins with, and what they prove.
//!
//! ```text
//!  0      1      2         4               8               12              16
//! +------+------+---------+---------------+---------------+---------------+
//! | kind | flags| payload | block number  | segment number| segment epoch |
//! |  u8  |  u8  | len u16 | u32           | u32           | u32           |
//! +------+------+---------+---------------+---------------+---------------+
//! 16              20                              28              32
//! +---------------+-------------------------------+---------------+
//! | write epoch   | LSN                           | CRC-32C       | payload, then zeros to 4096
//! | u32           | u64                           | u32           |
//! +---------------+-------------------------------+---------------+
//! ```
//!
//! The CRC covers the 4092 bytes around it and then the 16 bytes of the device id, which is stored
//! only in block 0 of a segment (and in a journal file's header). So a torn, stale, misplaced or
//! foreign block can't pass for the wanted one. Nothing relies on 4 KiB being written atomically.
//! This file does not know what a payload means.

use super::bytes::{get_u16, get_u32, get_u64};
use super::crc::Crc;

/// Bytes of a block.
pub const BLOCK_LEN: usize = 4096;
/// Bytes of a block's header.
pub const HEADER_LEN: usize = 32;
/// The longest payload.
pub const PAYLOAD_MAX: usize = BLOCK_LEN - HEADER_LEN;

const CRC_AT: usize = 28;
const _: () = assert!(CRC_AT + 4 == HEADER_LEN && PAYLOAD_MAX <= u16::MAX as usize);

/// One block.
pub type Block = [u8; BLOCK_LEN];

/// 128 random bits that name a gateway for ever.
pub type DeviceId = [u8; 16];

/// What names a segment: the device, the epoch in which it was begun, and a number within the epoch.
/// Written as 48 hex digits (device, epoch, number) it is the file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId {
    /// The gateway that wrote it.
    pub device: DeviceId,
    /// The start of the store, counted from 1, in which the segment was begun.
    pub epoch: u32,
    /// Number within the epoch, from 1.
    pub number: u32,
}

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum BlockKind {
    /// Block 0 of a segment.
    Header = 1,
    /// Names, kinds and units of series.
    Definitions = 2,
    /// Chunks of points.
    Leaf = 3,
    /// References to leaves or inner nodes of one series.
    Node = 4,
    /// References to the chunks written since the previous log block.
    ReferenceLog = 5,
    /// A piece of the tail's byte stream.
    Tail = 6,
    /// Block 0 of a journal file.
    JournalHeader = 7,
    /// A piece of a journal record.
    JournalRecord = 8,
    /// The store's identity, `store.id`.
    StoreIdentity = 9,
}

impl BlockKind {
    /// The kind stored as `code`; `None` for a code of the future.
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Header,
            2 => Self::Definitions,
            3 => Self::Leaf,
            4 => Self::Node,
            5 => Self::ReferenceLog,
            6 => Self::Tail,
            7 => Self::JournalHeader,
            8 => Self::JournalRecord,
            9 => Self::StoreIdentity,
            _ => return None,
        })
    }

    /// The word used by `inspect` and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Definitions => "definitions",
            Self::Leaf => "leaf",
            Self::Node => "node",
            Self::ReferenceLog => "reference log",
            Self::Tail => "tail",
            Self::JournalHeader => "journal header",
            Self::JournalRecord => "journal record",
            Self::StoreIdentity => "store identity",
        }
    }
}

/// What a block says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// What the payload is.
    pub kind: BlockKind,
    /// Reserved: written as 0; a reader refuses anything else.
    pub flags: u8,
    /// Bytes of the payload, at most [`PAYLOAD_MAX`].
    pub payload_len: u16,
    /// The block's own number: its offset in the file divided by 4096.
    pub block: u32,
    /// The segment's (or journal file's) number.
    pub number: u32,
    /// The segment's epoch: the one in which it was begun.
    pub epoch: u32,
    /// The epoch in which this block was written; it never falls along a segment.
    pub write_epoch: u32,
    /// Journal position; what it means depends on the kind (`docs/format.md`).
    pub lsn: u64,
}

/// Why a block can't be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockError {
    /// Fewer than 4096 bytes.
    Short,
    /// All 4096 bytes are zero: preallocated and never written.
    Empty,
    /// The checksum doesn't match: torn, rotten, foreign, or not a block.
    Checksum,
    /// A valid block, but of another place: this number was found.
    Misplaced(u32),
    /// A valid block of another segment: this epoch and number were found.
    Foreign(u32, u32),
    /// A kind this version doesn't know.
    UnknownKind(u8),
    /// A header that no writer produces: flags, or a length beyond the block.
    Malformed,
}

impl core::fmt::Display for BlockError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Short => write!(f, "fewer than {BLOCK_LEN} bytes"),
            Self::Empty => write!(f, "never written"),
            Self::Checksum => write!(f, "bad checksum"),
            Self::Misplaced(found) => write!(f, "holds block {found}: written to the wrong place"),
            Self::Foreign(epoch, number) => write!(f, "belongs to segment {epoch}/{number}"),
            Self::UnknownKind(code) => write!(f, "unknown block kind {code}: written by a newer version"),
            Self::Malformed => write!(f, "impossible header"),
        }
    }
}

impl core::error::Error for BlockError {}

fn checksum(block: &Block, device: &DeviceId) -> u32 {
    let (head, rest) = block.split_at(CRC_AT);
    let (_, payload) = rest.split_at(HEADER_LEN - CRC_AT);
    Crc::new().with(head).with(payload).with(device).value()
}

/// Completes `block`, whose payload stands from byte 32 on: zeros behind the payload, header, CRC.
///
/// # Panics
/// If `header.payload_len` is beyond [`PAYLOAD_MAX`]: that is a fault of the caller, not of data.
pub fn seal(block: &mut Block, header: &BlockHeader, device: &DeviceId) {
    let end = HEADER_LEN + usize::from(header.payload_len);
    assert!(end <= BLOCK_LEN, "payload of {} bytes", header.payload_len);
    block[end..].fill(0);
    block[0] = header.kind as u8;
    block[1] = header.flags;
    block[2..4].copy_from_slice(&header.payload_len.to_le_bytes());
    block[4..8].copy_from_slice(&header.block.to_le_bytes());
    block[8..12].copy_from_slice(&header.number.to_le_bytes());
    block[12..16].copy_from_slice(&header.epoch.to_le_bytes());
    block[16..20].copy_from_slice(&header.write_epoch.to_le_bytes());
    block[20..28].copy_from_slice(&header.lsn.to_le_bytes());
    let crc = checksum(block, device);
    block[CRC_AT..HEADER_LEN].copy_from_slice(&crc.to_le_bytes());
}

/// Header and payload as they stand, nothing verified: for finding the device id in block 0.
///
/// # Errors
/// `Short`, `UnknownKind` or `Malformed`.
pub fn peek(bytes: &[u8]) -> Result<(BlockHeader, &[u8]), BlockError> {
    let bytes: &Block = bytes.first_chunk().ok_or(BlockError::Short)?;
    let short = |_| BlockError::Short;
    let kind = BlockKind::from_code(bytes[0]).ok_or(BlockError::UnknownKind(bytes[0]))?;
    let header = BlockHeader {
        kind,
        flags: bytes[1],
        payload_len: get_u16(bytes, 2).map_err(short)?,
        block: get_u32(bytes, 4).map_err(short)?,
        number: get_u32(bytes, 8).map_err(short)?,
        epoch: get_u32(bytes, 12).map_err(short)?,
        write_epoch: get_u32(bytes, 16).map_err(short)?,
        lsn: get_u64(bytes, 20).map_err(short)?,
    };
    if header.flags != 0 {
        return Err(BlockError::Malformed);
    }
    let end = HEADER_LEN + usize::from(header.payload_len);
    let payload = bytes.get(HEADER_LEN..end).ok_or(BlockError::Malformed)?;
    Ok((header, payload))
}

/// Opens the block that should be number `block` of segment `id`: checksum first, then identity.
///
/// # Errors
/// Whatever makes it another block than the wanted one.
pub fn open<'a>(bytes: &'a [u8], id: &SegmentId, block: u32) -> Result<(BlockHeader, &'a [u8]), BlockError> {
    let whole: &Block = bytes.first_chunk().ok_or(BlockError::Short)?;
    let stored = get_u32(whole, CRC_AT).map_err(|_| BlockError::Short)?;
    if checksum(whole, &id.device) != stored {
        let empty = whole.iter().all(|byte| *byte == 0);
        return Err(if empty { BlockError::Empty } else { BlockError::Checksum });
    }
    let (header, payload) = peek(bytes)?;
    if (header.epoch, header.number) != (id.epoch, id.number) {
        return Err(BlockError::Foreign(header.epoch, header.number));
    }
    if header.block != block {
        return Err(BlockError::Misplaced(header.block));
    }
    Ok((header, payload))
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_LEN, Block, BlockError, BlockHeader, BlockKind, HEADER_LEN, SegmentId, open, seal};

    const ID: SegmentId = SegmentId { device: *b"0123456789abcdef", epoch: 3, number: 2 };

    fn sample() -> Block {
        let mut block = [0xAA; BLOCK_LEN];
        block[HEADER_LEN..HEADER_LEN + 5].copy_from_slice(b"hello");
        let header = BlockHeader {
            kind: BlockKind::Leaf,
            flags: 0,
            payload_len: 5,
            block: 7,
            number: ID.number,
            epoch: ID.epoch,
            write_epoch: 4,
            lsn: 0x0102_0304_0506_0708,
        };
        seal(&mut block, &header, &ID.device);
        block
    }

    #[test]
    fn a_sealed_block_opens() {
        let block = sample();
        let (header, payload) = open(&block, &ID, 7).expect("valid");
        assert_eq!(payload, b"hello");
        assert_eq!(
            (header.kind, header.write_epoch, header.lsn),
            (BlockKind::Leaf, 4, 0x0102_0304_0506_0708)
        );
        assert!(block[HEADER_LEN + 5..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn every_flipped_byte_is_detected() {
        for at in 0..BLOCK_LEN {
            let mut block = sample();
            block[at] ^= 0x40;
            assert_eq!(open(&block, &ID, 7), Err(BlockError::Checksum), "byte {at}");
        }
    }

    #[test]
    fn a_valid_block_of_elsewhere_is_refused() {
        let block = sample();
        assert_eq!(open(&block, &ID, 8), Err(BlockError::Misplaced(7)));
        assert_eq!(open(&block, &SegmentId { number: 9, ..ID }, 7), Err(BlockError::Foreign(3, 2)));
        let other = SegmentId { device: [1; 16], ..ID };
        assert_eq!(open(&block, &other, 7), Err(BlockError::Checksum));
        assert_eq!(open(&[0; BLOCK_LEN], &ID, 7), Err(BlockError::Empty));
        assert_eq!(open(&block[..4095], &ID, 7), Err(BlockError::Short));
    }
}
