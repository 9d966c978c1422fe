//! Whether the files of a journal are whole: block by block, without I/O.
//!
//! A ring holds what earlier rounds left and what a power cut tore, so not every bad block is damage. It is where
//! some valid record of the same epoch says that its LSN was flushed, or stands in a later file; or where a record's
//! checksum is right and its entries are none.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::entry::{Before, Entry};
use super::header;
use super::record::preamble;
use super::scan::open_block;
use crate::block::{BlockError, BlockKind, DeviceId, peek};
use crate::segment::{Fault, What};

/// A valid block.
#[derive(Clone, Copy, Debug)]
struct Valid {
    block: u32,
    epoch: u32,
    lsn: u64,
}

impl Valid {
    /// LSN of block 0 of its file.
    fn base(&self) -> u64 {
        self.lsn.saturating_sub(u64::from(self.block))
    }
}

/// What the files of a ring say of each other: up to where everything was flushed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// By epoch, the LSN below which everything was flushed.
    below: BTreeMap<u32, u64>,
    /// Epoch and base of each file: everything of this epoch below the base was flushed before the file was begun.
    bases: BTreeSet<(u32, u64)>,
}

impl Flushed {
    /// What all files of a ring say together.
    pub fn of<'a>(checks: impl IntoIterator<Item = &'a JournalCheck>) -> Self {
        let mut all = Self::default();
        for check in checks {
            for (epoch, lsn) in &check.flushed {
                let below = all.below.entry(*epoch).or_default();
                *below = (*below).max(*lsn);
            }
            all.bases.extend(check.newest().map(|last| (last.epoch, last.base())));
        }
        all
    }

    /// Up to where the file of this epoch and base was flushed, as far as it is known; and where the next file of the
    /// epoch begins, before which there is no gap.
    fn of_file(&self, epoch: u32, base: u64) -> (u64, Option<u64>) {
        let below = self.below.get(&epoch).copied().unwrap_or(0);
        let next = self.bases.range((epoch, base.saturating_add(1))..).next();
        (below, next.filter(|(of, _)| *of == epoch).map(|(_, next)| *next))
    }
}

/// One file of the ring under way.
#[derive(Debug)]
pub struct JournalCheck {
    number: u32,
    device: DeviceId,
    block_count: u32,
    valid: Vec<Valid>,
    unreadable: Vec<u32>,
    faults: Vec<Fault>,
    flushed: BTreeMap<u32, u64>,
}

impl JournalCheck {
    /// Begins with file `number` of a device's ring.
    pub fn new(number: u32, device: DeviceId) -> Self {
        Self {
            number,
            device,
            block_count: 0,
            valid: Vec::new(),
            unreadable: Vec::new(),
            faults: Vec::new(),
            flushed: BTreeMap::new(),
        }
    }

    /// The device id that block 0 of a journal file states, where `store.id` does not say it.
    pub fn device_of(block: &[u8]) -> Option<DeviceId> {
        let (found, payload) = peek(block).ok()?;
        header::device_of(payload).filter(|device| open_block(block, found.number, 0, device).is_some())
    }

    /// Takes the next block; `None` where the medium does not give it.
    pub fn push(&mut self, bytes: Option<&[u8]>) {
        let block = self.block_count;
        self.block_count = block.saturating_add(1);
        let Some(bytes) = bytes else { return self.unreadable.push(block) };
        let Some((found, payload)) = open_block(bytes, self.number, block, &self.device) else { return };
        let wrong = |what| Fault { block: Some(block), what };
        match found.kind {
            BlockKind::JournalHeader if block == 0 => {
                if header::device_of(payload).is_none() {
                    self.faults.push(wrong(What::Payload("header of a journal file")));
                }
            }
            BlockKind::JournalRecord if block > 0 => match preamble(payload) {
                None => self.faults.push(wrong(What::Payload("journal record"))),
                Some((says, mut cursor)) => {
                    let below = self.flushed.entry(found.epoch).or_default();
                    *below = (*below).max(found.lsn.saturating_sub(says.unflushed));
                    let mut before = Before::default();
                    while !cursor.rest().is_empty() {
                        if Entry::decode(&mut cursor, &mut before).is_err() {
                            self.faults.push(wrong(What::Payload("entry of a journal record")));
                            break;
                        }
                    }
                }
            },
            kind => self.faults.push(wrong(What::Kind(kind))),
        }
        self.valid.push(Valid { block, epoch: found.epoch, lsn: found.lsn });
    }

    /// The valid block with the highest LSN: epoch and base of the file are its.
    fn newest(&self) -> Option<&Valid> {
        self.valid.iter().max_by_key(|valid| valid.lsn)
    }

    /// Valid records.
    pub fn records(&self) -> u64 {
        self.valid.iter().filter(|valid| valid.block > 0).count() as u64
    }

    /// What is wrong; `flushed` is what all files of the ring say together.
    pub fn finish(mut self, flushed: &Flushed) -> Vec<Fault> {
        self.faults.extend(
            self.unreadable.iter().map(|block| Fault { block: Some(*block), what: What::Unreadable }),
        );
        let Some(last) = self.newest().copied() else { return self.faults };
        let base = last.base();
        let (below, next) = flushed.of_file(last.epoch, base);
        // A file of one round has no more blocks than it has.
        let of_run = next.map_or(last.block, |next| u32::try_from(next - base).unwrap_or(u32::MAX));
        let mut valid = self.valid.iter().peekable();
        for block in 0..of_run.min(self.block_count) {
            let lsn = base.saturating_add(u64::from(block));
            let found = valid.next_if(|valid| valid.block == block);
            let what = match found {
                Some(found) if (found.epoch, found.lsn) == (last.epoch, lsn) => continue,
                Some(_) => What::Stale,
                None => What::Block(BlockError::Checksum),
            };
            // The header of a file is flushed before any of its records.
            let is_flushed = lsn < below || next.is_some() || block == 0;
            if is_flushed && !self.unreadable.contains(&block) {
                self.faults.push(Fault { block: Some(block), what });
            }
        }
        self.faults
    }
}

#[cfg(test)]
mod tests {
    use super::{Flushed, JournalCheck};
    use crate::block::BLOCK_LEN;
    use crate::point::{Point, Timestamp, Value, ValueKind};
    use crate::segment::Fault;
    use crate::series::SeriesName;
    use crate::store::sim::SimMedium;
    use crate::store::{Device, Medium, Reading, Store, StoreConfig};

    /// The files of a journal in which something happened.
    fn files() -> Vec<Vec<u8>> {
        let config = StoreConfig { journal_files: 3, journal_file_blocks: 16, ..StoreConfig::default() };
        let medium = SimMedium::new();
        let (mut store, _) = Store::open(medium.clone(), config, [7; 16]).expect("opened");
        let name = SeriesName::parse("t{device=\"a\"}").expect("name");
        let series = store.series(&name, ValueKind::Float, "").expect("room");
        for n in 0..9_000_i64 {
            let point =
                Point { timestamp: Timestamp(n * 1_000_000_007), value: Value::Float(n as f64 / 7.0) };
            store.append(&[Reading { series, point }], None).expect("taken");
            if n % 100 == 0 {
                store.commit().expect("flushed");
            }
        }
        store.commit().expect("flushed");
        let read = |number: u32| {
            let device =
                medium.open(&format!("journal/{number:02}.journal")).expect("medium").expect("a file");
            let mut bytes = vec![0; device.block_count().expect("length") as usize * BLOCK_LEN];
            device.read(0, &mut bytes).expect("read");
            bytes
        };
        (0..3).map(read).collect()
    }

    fn check(files: &[Vec<u8>]) -> Vec<(u32, Fault)> {
        let device =
            files.iter().find_map(|file| JournalCheck::device_of(&file[..BLOCK_LEN])).expect("an id");
        let mut checks: Vec<_> = (0..files.len() as u32).map(|n| JournalCheck::new(n, device)).collect();
        for (check, file) in checks.iter_mut().zip(files) {
            file.chunks(BLOCK_LEN).for_each(|block| check.push(Some(block)));
        }
        let flushed = Flushed::of(&checks);
        (0..).zip(checks).flat_map(|(n, c)| c.finish(&flushed).into_iter().map(move |f| (n, f))).collect()
    }

    #[test]
    fn a_whole_journal_has_no_fault_and_a_flipped_bit_of_a_flushed_record_is_one() {
        let files = files();
        assert_eq!(check(&files), []);
        let mut found = 0;
        for number in 0..3 {
            for block in 0..files[number].len() / BLOCK_LEN {
                let mut damaged = files.clone();
                damaged[number][block * BLOCK_LEN + 100 * block % BLOCK_LEN] ^= 4;
                let faults = check(&damaged);
                assert!(faults.len() <= 1, "{faults:?}");
                if let Some((file, fault)) = faults.first() {
                    assert_eq!((*file, fault.block), (number as u32, Some(block as u32)));
                    found += 1;
                }
            }
        }
        assert!(found >= 20, "{found} of 48 blocks are part of the journal");
    }
}
