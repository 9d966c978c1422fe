//! What goes wrong with single blocks: on their way to the medium, where they lie, and on their way back.
//!
//! Victims and noise come from a stream that the number of the read or write seeds, so that a run can
//! be repeated. Forged checksums are the negative controls: what the store then takes for good shows
//! what its checksums are for.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::fault::{Control, Fault, Rot};
use super::random::Random;
use super::world::{FileId, Node, World};
use crate::block::{BLOCK_LEN, Block, BlockKind, Crc, DeviceId, HEADER_LEN};

const LSN_AT: core::ops::Range<usize> = 20..28;
const CRC_AT: usize = 28;

impl World {
    /// Where block write `at` lands; `None` where it goes nowhere.
    pub(super) fn landing(&self, wanted: u64, file: FileId, block: u32) -> Option<(FileId, u32)> {
        for fault in &self.schedule.faults {
            match fault {
                Fault::SilentWrite { at } if *at == wanted => return None,
                Fault::MisdirectedWrite { at } if *at == wanted => {
                    return Some(self.another_block(wanted, file, block).unwrap_or((file, block)));
                }
                _ => {}
            }
        }
        Some((file, block))
    }

    /// A block that is there, has content, and is not this one.
    fn another_block(&self, seed: u64, file: FileId, block: u32) -> Option<(FileId, u32)> {
        let mut others = Vec::new();
        for node in self.names.values() {
            let Node::File(other) = *node else { continue };
            let written = (0..).zip(self.live[other].iter()).filter(|(_, data)| data[0] > 0);
            others.extend(written.map(|(at, _)| (other, at)).filter(|place| *place != (file, block)));
        }
        let pick = Random::new(seed).below(others.len().max(1) as u64);
        others.get(pick as usize).copied()
    }

    /// Spoils a block beside the one that block write `wanted` wrote, if it is to.
    pub(super) fn damage_neighbour(&mut self, wanted: u64, file: FileId, block: u32) {
        let erase_blocks = self.schedule.faults.iter().find_map(|fault| match fault {
            Fault::NeighbourDamage { at, erase_blocks } if *at == wanted => Some((*erase_blocks).max(1)),
            _ => None,
        });
        let Some(erase_blocks) = erase_blocks else { return };
        let begin = block / erase_blocks * erase_blocks;
        let mut random = Random::new(wanted);
        let neighbours: Vec<u32> =
            (begin..begin + erase_blocks).filter(|at| *at != block && self.has_block(file, *at)).collect();
        if let Some(victim) = neighbours.get(random.below(neighbours.len().max(1) as u64) as usize) {
            self.spoil(file, *victim, Rot::Block, &mut random);
        }
    }

    fn has_block(&self, file: FileId, block: u32) -> bool {
        (block as usize) < self.live[file].len()
    }

    /// Makes a block rotten where it lies; false where there is none.
    pub(super) fn spoil(&mut self, file: FileId, block: u32, rot: Rot, random: &mut Random) -> bool {
        let Some(old) = self.live[file].get(block as usize) else { return false };
        let mut changed = **old;
        rot.spoil(&mut changed, random);
        self.replace(file, block, Rc::new(changed))
    }

    /// Puts `data` in a block's place, durable at once; false where there is no such block.
    pub(super) fn replace(&mut self, file: FileId, block: u32, data: Rc<Block>) -> bool {
        let mut is_there = false;
        for blocks in [&mut self.live[file], &mut self.durable[file]] {
            if let Some(old) = Rc::make_mut(blocks).get_mut(block as usize) {
                *old = Rc::clone(&data);
                is_there = true;
            }
        }
        is_there
    }

    /// Whether reading this block always fails.
    pub(super) fn is_bad(&self, file: FileId, wanted: u32) -> bool {
        self.schedule.faults.iter().any(|fault| match fault {
            Fault::BadBlock { path, block } => {
                *block == wanted && self.names.get(path) == Some(&Node::File(file))
            }
            _ => false,
        })
    }

    /// What block read number `nth` gives of a block that holds `data`.
    pub(super) fn read(&mut self, file: FileId, block: u32, data: &Block, out: &mut Block) {
        out.copy_from_slice(data);
        let nth = self.schedule.blocks_read;
        self.schedule.blocks_read += 1;
        *Rc::make_mut(&mut self.read_of).entry(file).or_default() += 1;
        for fault in &self.schedule.faults {
            match fault {
                Fault::MisdirectedRead { at } if *at == nth => {
                    if let Some((other, at)) = self.another_block(nth, file, block) {
                        out.copy_from_slice(&*self.live[other][at as usize]);
                    }
                }
                Fault::StaleRead { at } if *at == nth => {
                    if let Some(older) = self.before[file].get(&block) {
                        out.copy_from_slice(&**older);
                    }
                }
                Fault::RotOnRead { at, rot } if *at == nth => rot.spoil(out, &mut Random::new(nth)),
                _ => {}
            }
        }
        for control in &self.schedule.controls {
            match control {
                Control::NoCrc(device) => forge(out, device),
                Control::NoLsn(device) => self.forge_lsn(file, block, out, device),
                Control::NoFlush | Control::NoSync => {}
            }
        }
    }

    /// Gives a valid journal record the LSN that its place asks for.
    fn forge_lsn(&self, file: FileId, block: u32, out: &mut Block, device: &DeviceId) {
        let Some(first) = self.live[file].first() else { return };
        let is_record = out[0] == BlockKind::JournalRecord as u8 && is_sealed(out, device);
        if !is_record || first[0] != BlockKind::JournalHeader as u8 {
            return;
        }
        let base = first[LSN_AT].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        out[LSN_AT].copy_from_slice(&base.wrapping_add(u64::from(block)).to_le_bytes());
        forge(out, device);
    }

    /// The device named `path`.
    pub(super) fn file(&self, path: &str) -> Option<FileId> {
        match self.names.get(path) {
            Some(Node::File(file)) => Some(*file),
            _ => None,
        }
    }

    /// Paths and lengths of all devices.
    pub(super) fn files(&self) -> Vec<(String, u32)> {
        let length = |node: &Node| match node {
            Node::File(file) => Some(self.live[*file].len() as u32),
            Node::Directory => None,
        };
        self.names.iter().filter_map(|(path, node)| Some((path.clone(), length(node)?))).collect()
    }
}

/// Gives a block that holds something a valid checksum.
fn forge(block: &mut Block, device: &DeviceId) {
    if block.iter().all(|byte| *byte == 0) {
        return;
    }
    let nobody = [0; 16];
    let device = if block[0] == BlockKind::StoreIdentity as u8 { &nobody } else { device };
    let crc = checksum(block, device);
    block[CRC_AT..HEADER_LEN].copy_from_slice(&crc);
}

/// Whether the checksum of a block is right.
fn is_sealed(block: &Block, device: &DeviceId) -> bool {
    block[CRC_AT..HEADER_LEN] == checksum(block, device)
}

fn checksum(block: &Block, device: &DeviceId) -> [u8; 4] {
    let crc = Crc::new().with(&block[..CRC_AT]).with(&block[HEADER_LEN..BLOCK_LEN]).with(device);
    crc.value().to_le_bytes()
}
