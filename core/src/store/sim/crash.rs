//! What becomes of the operations that were not flushed when the power went.
//!
//! With few of them every subset is tried; with many, the subsets most likely to break something
//! (none, all, all but one, only one) and random ones. The last writes are also torn.

use alloc::vec;
use alloc::vec::Vec;

use super::random::Random;
use crate::block::{BLOCK_LEN, Block};

/// Bytes of a sector: what a disk may write at once.
const SECTOR_LEN: usize = 512;
/// Sectors of a block.
pub(super) const SECTORS: usize = BLOCK_LEN / SECTOR_LEN;

/// What a sector of a torn block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    /// What was there before.
    Old,
    /// What was written.
    New,
    /// Zeros.
    Zero,
    /// Ones: what an erased page of flash reads as.
    Ones,
    /// Anything.
    Random,
}

/// What became of one unflushed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It happened.
    Applied,
    /// It never did.
    Lost,
    /// A write of which each sector went its own way; other operations happened.
    Torn([Sector; SECTORS]),
    /// A write of which only the length is there: what it added reads as zeros. Other operations happened.
    SizeOnly,
}

/// The block that a torn write leaves.
pub(super) fn torn(old: &Block, new: &Block, sectors: &[Sector; SECTORS], random: &mut Random) -> Block {
    let mut block = *old;
    for (at, sector) in sectors.iter().enumerate() {
        let range = at * SECTOR_LEN..(at + 1) * SECTOR_LEN;
        match sector {
            Sector::Old => {}
            Sector::New => block[range.clone()].copy_from_slice(&new[range]),
            Sector::Zero => block[range].fill(0),
            Sector::Ones => block[range].fill(0xFF),
            Sector::Random => {
                for chunk in block[range].chunks_mut(8) {
                    chunk.copy_from_slice(&random.next_u64().to_le_bytes()[..chunk.len()]);
                }
            }
        }
    }
    block
}

/// The fates to try for `count` unflushed operations.
///
/// All `2^count` subsets where `count <= all_max`, else none, all, each missing one, each alone, and
/// `samples` random ones. After them, with everything before applied: the last operation torn after each
/// number of sectors (three of them with at most 4 samples) from either side, the whole block included, and at
/// random, `samples` times with more than 4 of them, else once; lengths without data, of the last operation and of
/// all; and `samples / 4 + 1` times all operations torn at random.
pub fn fates(count: usize, all_max: usize, samples: usize, random: &mut Random) -> Vec<Vec<Fate>> {
    let mut list = Vec::new();
    let pick = |applied: bool| if applied { Fate::Applied } else { Fate::Lost };
    if count <= all_max {
        for mask in 0..1u64 << count {
            list.push((0..count).map(|at| pick(mask >> at & 1 == 1)).collect());
        }
    } else {
        list.push(vec![Fate::Lost; count]);
        list.push(vec![Fate::Applied; count]);
        for _ in 0..samples {
            list.push((0..count).map(|_| pick(random.one_in(2))).collect());
        }
        let step = (count / samples.max(1)).max(1);
        for at in (0..count).step_by(step) {
            list.push((0..count).map(|other| pick(other != at)).collect());
            list.push((0..count).map(|other| pick(other == at)).collect());
        }
    }
    if count == 0 {
        return list;
    }
    let last = |fate| {
        let mut fates = vec![Fate::Applied; count];
        fates[count - 1] = fate;
        fates
    };
    let cuts = if samples > 4 { (1..=SECTORS).step_by(1) } else { (1..=SECTORS - 1).step_by(3) };
    for cut in cuts {
        let front = core::array::from_fn(|at| if at < cut { Sector::New } else { Sector::Old });
        let back = core::array::from_fn(|at| if at < SECTORS - cut { Sector::Old } else { Sector::New });
        list.extend([front, back].map(|sectors| last(Fate::Torn(sectors))));
    }
    for _ in 0..if samples > 4 { samples } else { 1 } {
        list.push(last(Fate::Torn(random_sectors(random))));
    }
    list.push(last(Fate::SizeOnly));
    list.push(vec![Fate::SizeOnly; count]);
    for _ in 0..=samples / 4 {
        list.push((0..count).map(|_| random_fate(random)).collect());
    }
    list
}

fn random_fate(random: &mut Random) -> Fate {
    match random.below(8) {
        0 | 1 => Fate::Lost,
        2 | 3 => Fate::Applied,
        4 => Fate::SizeOnly,
        _ => Fate::Torn(random_sectors(random)),
    }
}

fn random_sectors(random: &mut Random) -> [Sector; SECTORS] {
    core::array::from_fn(|_| match random.below(7) {
        0 | 1 => Sector::Old,
        2 | 3 => Sector::New,
        4 => Sector::Zero,
        5 => Sector::Ones,
        _ => Sector::Random,
    })
}
