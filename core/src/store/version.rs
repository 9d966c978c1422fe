//! Versions: which of a store's files this program knows, and how a newer one is told from a damaged one.
//!
//! `store.id`, a journal file and a segment say their version at one place, in a block whose checksum holds in every
//! version (`docs/format-journal.md`, chapter 8). Only an intact block counts: damage must never look like the
//! future. Whoever opens a store asks here, and nowhere else is a newer version decided about.

use alloc::string::String;

use super::error::StoreError;
use super::journal;
use super::store_id;
use crate::block::{DeviceId, SegmentId, get_u16, open, peek};
use crate::segment;

/// Where a payload says its version.
const VERSION_AT: usize = 8;

/// The files of a store that say a version.
struct Form {
    magic: [u8; 8],
    /// The highest version that this program knows.
    known: u16,
    /// Where the payload says the device id that the checksum is made with; none is made with a device id of zeros.
    device_at: Option<usize>,
}

const FORMS: [Form; 3] = [
    Form { magic: store_id::MAGIC, known: store_id::VERSION, device_at: None },
    Form { magic: journal::MAGIC, known: journal::VERSION, device_at: Some(16) },
    Form { magic: segment::MAGIC, known: segment::FORMAT_VERSION, device_at: Some(16) },
];

/// What the first block of a file of a newer version says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Newer {
    version: u16,
    known: u16,
    /// Whose it is; zeros in `store.id`.
    pub(super) device: DeviceId,
}

/// The form of a file, its version, and whose it is; `None` where its first block is damaged or none of these files'.
fn read(block: &[u8]) -> Option<(&'static Form, u16, DeviceId)> {
    let (header, payload) = peek(block).ok()?;
    let form = FORMS.iter().find(|form| payload.first_chunk() == Some(&form.magic))?;
    let version = get_u16(payload, VERSION_AT).ok()?;
    let device = match form.device_at {
        Some(at) => *payload.get(at..)?.first_chunk()?,
        None => DeviceId::default(),
    };
    let id = SegmentId { device, epoch: header.epoch, number: header.number };
    open(block, &id, 0).is_ok().then_some((form, version, device))
}

/// Whether the first block of a file is whole, whatever its version.
pub(super) fn is_intact(block: &[u8]) -> bool {
    read(block).is_some()
}

impl Newer {
    /// The version that the first block of a file says, where it is intact and newer than what this program knows.
    pub(super) fn of(block: &[u8]) -> Option<Self> {
        let (form, version, device) = read(block)?;
        (version > form.known).then_some(Self { version, known: form.known, device })
    }

    /// Why a store with such a file under `path` is not opened.
    pub(super) fn refusal<E>(self, path: String) -> StoreError<E> {
        StoreError::Newer { path, version: self.version, known: self.known }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{FORMS, Newer, VERSION_AT};
    use crate::block::{Block, DeviceId, HEADER_LEN, peek, seal};

    /// The first block of a file as a program of version `version` would have written it.
    pub(in crate::store) fn of_version(mut block: Block, version: u16) -> Block {
        let (header, payload) = peek(&block).expect("a first block");
        let form = FORMS.iter().find(|form| payload.starts_with(&form.magic)).expect("a file with a version");
        let device =
            form.device_at.map_or(DeviceId::default(), |at| payload[at..at + 16].try_into().unwrap());
        block[HEADER_LEN + VERSION_AT..][..2].copy_from_slice(&version.to_le_bytes());
        seal(&mut block, &header, &device);
        block
    }

    /// The header of a segment as if `device` had written it.
    pub(in crate::store) fn of_device(mut block: Block, device: DeviceId) -> Block {
        let (header, _) = peek(&block).expect("a header");
        block[HEADER_LEN + 16..][..16].copy_from_slice(&device);
        seal(&mut block, &header, &device);
        block
    }

    #[test]
    fn only_an_intact_block_is_of_the_future() {
        use crate::point::TimeRange;
        use crate::segment::{SegmentHeader, SegmentKind};
        let id = crate::block::SegmentId { device: [9; 16], epoch: 2, number: 5 };
        let header = SegmentHeader {
            id,
            kind: SegmentKind::InOrder,
            rank: 1,
            partition: TimeRange::new(0, 1),
            max_hold_ns: 0,
            covered_lsn: 0,
            writer: SegmentHeader::writer_name("siltstone"),
        };
        let block = header.block(2);
        assert_eq!(Newer::of(&block), None);
        let newer = of_version(block, 7);
        assert_eq!(Newer::of(&newer), Some(Newer { version: 7, known: 0, device: [9; 16] }));
        for bit in 0..8 * newer.len() {
            let mut damaged = newer;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Newer::of(&damaged), None, "bit {bit}");
        }
        let mut rotten = block;
        rotten[HEADER_LEN + VERSION_AT] ^= 4;
        assert_eq!((Newer::of(&rotten), Newer::of(&[0; 4096]), Newer::of(&[7; 9])), (None, None, None));
    }
}
