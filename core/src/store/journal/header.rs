//! Block 0 of a journal file: which device's journal this is, and the base of its LSNs.
//!
//! Layout: `docs/format-journal.md`, chapter 2. Epoch, file number and base LSN stand in the block's own
//! header.

use crate::block::{Block, BlockHeader, BlockKind, DeviceId, HEADER_LEN, get_u16, get_u32, seal};

/// The first bytes of the payload of a journal file's header.
pub(in crate::store) const MAGIC: [u8; 8] = *b"SILJ\r\n\x1A\n";
/// The version this code writes and reads.
pub(in crate::store) const VERSION: u16 = 0;

const DEVICE_AT: usize = 16;
const PAYLOAD_LEN: usize = DEVICE_AT + 16;

/// Fills `block` with the header of file `number`, begun in `epoch` with LSN `base`.
pub(super) fn write(
    block: &mut Block,
    number: u32,
    epoch: u32,
    base: u64,
    block_count: u32,
    device: &DeviceId,
) {
    let payload = &mut block[HEADER_LEN..HEADER_LEN + PAYLOAD_LEN];
    payload[..8].copy_from_slice(&MAGIC);
    payload[8..10].copy_from_slice(&VERSION.to_le_bytes());
    payload[10..12].fill(0);
    payload[12..16].copy_from_slice(&block_count.to_le_bytes());
    payload[DEVICE_AT..].copy_from_slice(device);
    let header = BlockHeader {
        kind: BlockKind::JournalHeader,
        flags: 0,
        payload_len: PAYLOAD_LEN as u16,
        block: 0,
        number,
        epoch,
        write_epoch: epoch,
        lsn: base,
    };
    seal(block, &header, device);
}

/// The device id in the payload of a header block; `None` where it is no such payload.
pub(in crate::store) fn device_of(payload: &[u8]) -> Option<DeviceId> {
    let is_ours = payload.first_chunk() == Some(&MAGIC) && get_u16(payload, 8) == Ok(VERSION);
    get_u32(payload, 12).ok()?;
    let device = payload.get(DEVICE_AT..PAYLOAD_LEN)?.first_chunk()?;
    is_ours.then_some(*device)
}
