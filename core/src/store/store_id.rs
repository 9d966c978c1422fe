//! `store.id`: the file that holds the device id. Layout: `docs/format-journal.md`, chapter 1.

use alloc::vec;

use super::bad_block::read_block;
use super::device::{Device, Medium};
use super::version::Newer;
use crate::block::{
    BLOCK_LEN, Block, BlockHeader, BlockKind, DeviceId, HEADER_LEN, SegmentId, get_u16, open, seal,
};

/// The file.
pub(super) const PATH: &str = "store.id";
const PART: &str = "store.id.part";
/// The first bytes of its payload.
pub(super) const MAGIC: [u8; 8] = *b"SILI\r\n\x1A\n";
/// The version this code writes and reads.
pub(super) const VERSION: u16 = 0;
const PAYLOAD_LEN: usize = 26;
/// The CRC of this one block is made without the id that it holds.
const NOBODY: SegmentId = SegmentId { device: [0; 16], epoch: 0, number: 0 };

/// What `store.id` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// There is no such file.
    Missing,
    /// There is one that can't be read.
    Damaged,
    /// It is of a newer version.
    Newer(Newer),
    /// The id.
    Id(DeviceId),
}

/// Reads the id.
pub(super) fn read<M: Medium>(medium: &M) -> Result<Found, M::Error> {
    let Some(device) = medium.open(PATH)? else { return Ok(Found::Missing) };
    let mut bytes = vec![0; BLOCK_LEN];
    read_block(&device, 0, &mut bytes)?;
    let other = || Newer::of(&bytes).map_or(Found::Damaged, Found::Newer);
    Ok(device_of_store(&bytes).map_or_else(other, Found::Id))
}

/// The device id in the bytes of `store.id`; `None` where they are no such file.
pub fn device_of_store(bytes: &[u8]) -> Option<DeviceId> {
    let (header, payload) = open(bytes, &NOBODY, 0).ok()?;
    let is_ours = header.kind == BlockKind::StoreIdentity
        && payload.first_chunk() == Some(&MAGIC)
        && get_u16(payload, 8) == Ok(VERSION);
    let id = payload.get(10..PAYLOAD_LEN)?.first_chunk()?;
    is_ours.then_some(*id)
}

/// Writes the id: it is durable when this returns.
pub(super) fn write<M: Medium>(medium: &mut M, id: &DeviceId) -> Result<(), M::Error> {
    let mut file = medium.create(PART)?;
    file.write(0, &block(id))?;
    file.flush()?;
    medium.rename(PART, PATH)?;
    medium.sync_directory("")
}

/// Gives the store on `medium` another device id; it is durable when this returns.
///
/// Segments keep the id that they were written under, and are read by it: a clone's history is that of the device
/// it was cloned from. The journal's blocks are valid only under the old id, so the store must have been sealed
/// and nothing may be waiting in it; the caller sees to that.
///
/// # Errors
/// What the medium says; the old or the new id is then there.
pub fn name_store<M: Medium>(medium: &mut M, id: &DeviceId) -> Result<(), M::Error> {
    write(medium, id)
}

fn block(id: &DeviceId) -> Block {
    let mut block = [0; BLOCK_LEN];
    let payload = &mut block[HEADER_LEN..HEADER_LEN + PAYLOAD_LEN];
    payload[..8].copy_from_slice(&MAGIC);
    payload[8..10].copy_from_slice(&VERSION.to_le_bytes());
    payload[10..].copy_from_slice(id);
    let header = BlockHeader {
        kind: BlockKind::StoreIdentity,
        flags: 0,
        payload_len: PAYLOAD_LEN as u16,
        block: 0,
        number: 0,
        epoch: 0,
        write_epoch: 0,
        lsn: 0,
    };
    seal(&mut block, &header, &NOBODY.device);
    block
}

#[cfg(test)]
mod tests {
    use super::{Found, PATH, read, write};
    use crate::store::sim::SimMedium;

    #[test]
    fn an_id_comes_back_or_is_known_to_be_damaged() {
        let mut medium = SimMedium::new();
        assert_eq!(read(&medium), Ok(Found::Missing));
        write(&mut medium, b"0123456789abcdef").expect("write");
        assert_eq!(read(&medium), Ok(Found::Id(*b"0123456789abcdef")));
        assert!(medium.flip(PATH, 0, 45, 1));
        assert_eq!(read(&medium), Ok(Found::Damaged));
    }
}
