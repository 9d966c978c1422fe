//! A block file under core's verifier.

use siltstone_core::block::BLOCK_LEN;
use siltstone_core::segment::{Check, CheckReport, CheckStep, Fault};

use crate::shelf::BlockSource;

/// What the verifier meets on its way.
pub(crate) enum Seen {
    /// Something wrong.
    Fault(Fault),
    /// So many bytes were read, and so many blocks are behind it.
    Read {
        /// Bytes of this read.
        bytes: u64,
        /// Blocks of the file that were looked at.
        blocks_done: u32,
    },
}

/// Verifies all of `source`. `seen` is told of everything and says whether to go on; `None` where it didn't.
pub(crate) fn verify_segment(
    source: &dyn BlockSource,
    seen: &mut dyn FnMut(Seen) -> bool,
) -> Option<CheckReport> {
    let mut check = Check::new(source.block_count(), source.odd_bytes());
    loop {
        let goes_on = match check.step() {
            CheckStep::Done => return Some(check.report()),
            CheckStep::Fault(fault) => seen(Seen::Fault(fault)),
            CheckStep::Need(range) => {
                let count = range.end.saturating_sub(range.start);
                match source.read(range.start, count) {
                    Ok(bytes) => check.feed(range.start, &bytes),
                    // One bad block must not cost its neighbours.
                    Err(_) => range.clone().for_each(|block| match source.read(block, 1) {
                        Ok(bytes) if bytes.len() == BLOCK_LEN => check.feed(block, &bytes),
                        _ => check.feed_unreadable(block),
                    }),
                }
                let bytes = u64::from(count) * BLOCK_LEN as u64;
                seen(Seen::Read { bytes, blocks_done: check.blocks_done() })
            }
        };
        if !goes_on {
            return None;
        }
    }
}
