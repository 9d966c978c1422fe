//! What a simulated medium does wrong: the list of faults, and when each of them strikes.
//!
//! A test hands over [`Fault`]s; each counts the calls or blocks that it is about, from the medium's
//! beginning or its last crash, and strikes at the numbers it names. Nothing is random here: where a fault needs a
//! victim or noise, it takes them from a stream seeded by its own number. [`Control`]s are faults of the whole
//! run, made to void one of the store's defences: a suite that passes with one of them proves nothing.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::random::Random;
use crate::block::{BLOCK_LEN, Block, DeviceId};

/// Kinds of calls, counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Reading blocks.
    Read,
    /// Listing a directory, opening a device, asking for its length.
    Look,
    /// Writing blocks; each block is counted.
    Write,
    /// Setting a length.
    Length,
    /// Flushing a device.
    Flush,
    /// Making, renaming and removing names.
    Name,
    /// Syncing a directory.
    Sync,
}

impl Call {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Look, Self::Write, Self::Length, Self::Flush, Self::Name, Self::Sync];
}

/// How much of a block is rotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rot {
    /// One bit.
    Bit,
    /// One byte.
    Byte,
    /// 512 bytes.
    Sector,
    /// All of it.
    Block,
}

impl Rot {
    /// All sizes.
    pub const ALL: [Self; 4] = [Self::Bit, Self::Byte, Self::Sector, Self::Block];

    /// Makes `block` rotten: it differs afterwards.
    pub(super) fn spoil(self, block: &mut Block, random: &mut Random) {
        const SECTOR_LEN: usize = 512;
        let at = random.below(BLOCK_LEN as u64) as usize;
        let range = match self {
            Self::Bit => {
                block[at] ^= 1 << random.below(8);
                return;
            }
            Self::Byte => at..at + 1,
            Self::Sector => {
                let begin = at / SECTOR_LEN * SECTOR_LEN;
                begin..begin + SECTOR_LEN
            }
            Self::Block => 0..BLOCK_LEN,
        };
        for byte in &mut block[range] {
            *byte ^= 1 + random.below(255) as u8;
        }
    }
}

/// What a running program sees of pages whose flush failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// What is durable: the pages are gone.
    Dropped,
    /// What was written: the pages are still in the cache, counted as clean, until the power goes.
    Kept,
}

/// Something that goes wrong. Numbers count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `times` calls of this kind fail, from call `from` on.
    Error {
        /// Which calls.
        call: Call,
        /// The first that fails.
        from: u64,
        /// How many fail.
        times: u64,
    },
    /// Reads of this block fail, always.
    BadBlock {
        /// The device's path.
        path: String,
        /// The block.
        block: u32,
    },
    /// Flush `at` fails, and what was written since the one before never becomes durable; the next says `Ok`.
    FlushLoses {
        /// Which flush.
        at: u64,
        /// What is read afterwards.
        view: View,
    },
    /// There is no room for `times` allocations, from allocation `from` on.
    NoRoom {
        /// The first that fails.
        from: u64,
        /// How many fail.
        times: u64,
    },
    /// From operation `from` on nothing can be changed.
    ReadOnly {
        /// The first operation that fails.
        from: u64,
    },
    /// These flushes of devices say `Ok` and do nothing.
    FlushLies {
        /// Which flushes.
        flushes: Range<u64>,
    },
    /// These syncs of directories say `Ok` and do nothing.
    SyncLies {
        /// Which syncs.
        syncs: Range<u64>,
    },
    /// Block write `at` lands on another block that is there.
    MisdirectedWrite {
        /// Which block write.
        at: u64,
    },
    /// Block write `at` says `Ok` and does nothing.
    SilentWrite {
        /// Which block write.
        at: u64,
    },
    /// Block write `at` spoils another block of its erase block.
    NeighbourDamage {
        /// Which block write.
        at: u64,
        /// Blocks of an erase block.
        erase_blocks: u32,
    },
    /// Block read `at` gives another block that is there, as valid as the wanted one.
    MisdirectedRead {
        /// Which block read.
        at: u64,
    },
    /// Block read `at` gives what the block held before it was last written.
    StaleRead {
        /// Which block read.
        at: u64,
    },
    /// Block read `at` is rotten; the next read of the block is not.
    RotOnRead {
        /// Which block read.
        at: u64,
        /// How rotten.
        rot: Rot,
    },
    /// Flushes take this long on the simulated clock.
    SlowFlush {
        /// Nanoseconds of one.
        ns: u64,
    },
}

/// A defence of the store that is made void for a whole run, crashes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Flushes of devices say `Ok` and do nothing.
    NoFlush,
    /// Syncs of directories say `Ok` and do nothing.
    NoSync,
    /// Whatever is read of this device id carries a valid checksum.
    NoCrc(DeviceId),
    /// Journal blocks of this device id carry the LSN that their place asks for.
    NoLsn(DeviceId),
}

/// What is to go wrong, and how far the counts are.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    pub(super) faults: Vec<Fault>,
    pub(super) controls: Vec<Control>,
    calls: [u64; Call::ALL.len()],
    pub(super) allocations: u64,
    pub(super) blocks_read: u64,
}

impl Schedule {
    /// The schedule after a crash: only what is of the whole run.
    pub(super) fn after_crash(&self) -> Self {
        Self { controls: self.controls.clone(), ..Self::default() }
    }

    /// Counts a call; its number.
    pub(super) fn count(&mut self, call: Call) -> u64 {
        let count = &mut self.calls[call as usize];
        *count += 1;
        *count - 1
    }

    /// Calls so far.
    pub(super) fn calls(&self, call: Call) -> u64 {
        self.calls[call as usize]
    }

    /// Whether call number `at` fails.
    pub(super) fn fails(&self, wanted: Call, at: u64) -> bool {
        self.faults.iter().any(|fault| match fault {
            Fault::Error { call, from, times } => *call == wanted && is_of(*from, *times, at),
            _ => false,
        })
    }

    /// Whether there is no room for the next allocation, which is counted.
    pub(super) fn is_full(&mut self) -> bool {
        let at = self.allocations;
        self.allocations += 1;
        self.faults.iter().any(|fault| match fault {
            Fault::NoRoom { from, times } => is_of(*from, *times, at),
            _ => false,
        })
    }

    /// Whether operation `at` finds a medium that can't be changed.
    pub(super) fn is_read_only(&self, at: u64) -> bool {
        self.faults.iter().any(|fault| matches!(fault, Fault::ReadOnly { from } if at >= *from))
    }

    /// Whether flush `at` does nothing.
    pub(super) fn flush_lies(&self, at: u64) -> bool {
        self.controls.contains(&Control::NoFlush)
            || self
                .faults
                .iter()
                .any(|fault| matches!(fault, Fault::FlushLies { flushes } if flushes.contains(&at)))
    }

    /// Whether sync `at` does nothing.
    pub(super) fn sync_lies(&self, at: u64) -> bool {
        self.controls.contains(&Control::NoSync)
            || self
                .faults
                .iter()
                .any(|fault| matches!(fault, Fault::SyncLies { syncs } if syncs.contains(&at)))
    }

    /// What is seen of the pages of flush `at`, if it fails and loses them.
    pub(super) fn flush_loses(&self, wanted: u64) -> Option<View> {
        self.faults.iter().find_map(|fault| match fault {
            Fault::FlushLoses { at, view } if *at == wanted => Some(*view),
            _ => None,
        })
    }

    /// Nanoseconds of a flush.
    pub(super) fn flush_ns(&self) -> u64 {
        const FLUSH_NS: u64 = 2_000_000;
        let slow = self.faults.iter().find_map(|fault| match fault {
            Fault::SlowFlush { ns } => Some(*ns),
            _ => None,
        });
        slow.unwrap_or(FLUSH_NS)
    }
}

fn is_of(from: u64, times: u64, at: u64) -> bool {
    at.checked_sub(from).is_some_and(|since| since < times)
}
