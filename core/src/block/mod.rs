//! A block: 4096 bytes at an offset that is a multiple of 4096, the unit of every read and write.
//!
//! A block knows nothing of trees or journals: it says what it is, where it belongs and when it was
//! written, and proves all of that with one checksum. Layout: `docs/format.md`, chapter 2.
//!
//! | file | idea |
//! | --- | --- |
//! | `header` | the 32 bytes every block begins with; sealing and opening a block |
//! | `crc` | CRC-32C, by the CPU where `std` allows it |
//! | `bytes` | little-endian reads that can't run past the end |

mod bytes;
mod crc;
mod header;

pub use bytes::{Cursor, Truncated, get_i64, get_u16, get_u32, get_u64};
pub use crc::Crc;
pub use header::{
    BLOCK_LEN, Block, BlockError, BlockHeader, BlockKind, DeviceId, HEADER_LEN, PAYLOAD_MAX, SegmentId, open,
    peek, seal,
};
