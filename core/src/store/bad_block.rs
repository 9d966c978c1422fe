//! Reading a block where the medium may fail: an error is not damage, and a bad block is.
//!
//! Whoever decides what a store holds must not take a cable that is loose for a moment for rotten data. So a
//! failed read is tried again, and where it goes on failing a block beside it is read: if that works, this one
//! block is bad and as good as wrong bytes; if not, the medium failed, and whatever is being done fails with it.

use super::device::Device;

/// Times that a block is read before it counts as bad.
const TRIES: usize = 3;
/// What is given of a bad block: no writer produces it, and it isn't the zeros of one never written.
const BAD: u8 = 0xFF;

/// Reads `block` into `out`, one block long. False where it is bad or behind the end: then `out` is no valid
/// block.
///
/// # Errors
/// The medium: nothing is known about the block.
pub(super) fn read_block<D: Device>(device: &D, block: u32, out: &mut [u8]) -> Result<bool, D::Error> {
    let mut result = device.read(block, out);
    for _ in 1..TRIES {
        if result.is_ok() {
            break;
        }
        result = device.read(block, out);
    }
    let Err(error) = result else { return Ok(true) };
    let block_count = device.block_count()?;
    let neighbours = [block.checked_sub(1), block.checked_add(1)];
    let mut beside = neighbours.into_iter().flatten().filter(|beside| *beside < block_count);
    let is_bad = block >= block_count || beside.any(|beside| device.read(beside, out).is_ok());
    out.fill(BAD);
    if is_bad { Ok(false) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::read_block;
    use crate::block::BLOCK_LEN;
    use crate::store::sim::{Call, Fault, SimError, SimMedium};
    use crate::store::{Device, Medium};

    #[test]
    fn a_bad_block_is_told_from_a_bad_medium() {
        let mut medium = SimMedium::new();
        let mut device = medium.create("a").expect("create");
        (0..3).for_each(|at| device.write(at, &[at as u8 + 1; BLOCK_LEN]).expect("write"));
        let mut out = [0; BLOCK_LEN];
        medium.inject(Fault::Error { call: Call::Read, from: medium.calls(Call::Read), times: 2 });
        assert_eq!(read_block(&device, 1, &mut out), Ok(true), "a moment's failure");
        assert_eq!(out[0], 2);
        for block in 0..3 {
            medium.mend();
            medium.inject(Fault::BadBlock { path: "a".into(), block });
            assert_eq!((read_block(&device, block, &mut out), out[0]), (Ok(false), 0xFF), "{block}");
        }
        assert_eq!(read_block(&device, 3, &mut out), Ok(false), "behind the end");
        medium.inject(Fault::Error { call: Call::Read, from: 0, times: u64::MAX });
        assert_eq!(read_block(&device, 1, &mut out), Err(SimError::Io(Call::Read)));
    }
}
