//! What counts after a crash: the points and identities above the last checkpoint, in order.
//!
//! Rules: `docs/format-journal.md`, chapter 5. The replay changes nothing, so it can be interrupted and
//! done again.

use alloc::vec::Vec;

use super::entry::{Before, Entry};
use super::record::preamble;
use super::ring::{Found, JournalDamage};
use super::scan::{Scanned, for_each_block, open_block};
use crate::point::{Point, Timestamp, ValueKind};
use crate::store::device::Device;
use crate::store::identity::Identity;

/// Who takes what is replayed.
pub(in crate::store) trait Visitor {
    /// Why a point can't be taken.
    type Error;

    /// A series is defined; its points come under the number that is returned, or are left out and
    /// counted where there is none.
    fn series(&mut self, name: &str, kind: ValueKind, unit: &str) -> Result<Option<u32>, Self::Error>;

    /// A point of the record at `lsn`, late or in order as decided when it was written.
    fn point(&mut self, lsn: u64, series: u32, is_late: bool, point: Point<'_>) -> Result<(), Self::Error>;

    /// A message is stored: noted in the live part of the journal, or carried by the checkpoint.
    fn identity(&mut self, identity: Identity, is_carried: bool);

    /// What came before was flushed together.
    fn flushed(&mut self);
}

/// What a record is to the replay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Below the checkpoint: it defines series.
    Past,
    /// Repeated for the checkpoint: it also says identities.
    Carried,
    /// Above the checkpoint, everything before it there.
    Live,
    /// Above the checkpoint, behind a tear: its identities don't count.
    Torn,
}

impl<D: Device> Found<D> {
    /// Gives everything that counts to `visitor`.
    ///
    /// # Errors
    /// What the visitor says; the medium.
    pub(in crate::store) fn replay<V: Visitor<Error: From<D::Error>>>(
        &self,
        visitor: &mut V,
    ) -> Result<JournalDamage, V::Error> {
        let (checkpoint_lsn, carried) = match self.checkpoint() {
            Some((lsn, checkpoint)) => (lsn, checkpoint.carried),
            None => (0, 0),
        };
        let mut damage = JournalDamage::default();
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.sort_by_key(|at| self.files[*at].scan.base);
        for at in order {
            let file = &self.files[at];
            if file.scan.records.last().is_none_or(|last| last.lsn < checkpoint_lsn) {
                continue;
            }
            let live = file.scan.records.partition_point(|record| record.lsn <= checkpoint_lsn);
            let parts = self.parts(at, live, carried, checkpoint_lsn, &mut damage);
            self.replay_file(at, &parts, visitor, &mut damage)?;
        }
        let newest = self.files.iter().max_by_key(|file| file.scan.base);
        damage.is_end_unreadable = newest.is_some_and(|file| {
            let end = file.scan.records.last().map_or(1, |last| last.block + 1);
            file.scan.unreadable.contains(&end)
        });
        Ok(damage)
    }

    /// What each record of a file is, in their order; those that are left out are not in the list.
    fn parts(
        &self,
        at: usize,
        live: usize,
        carried: u64,
        checkpoint_lsn: u64,
        damage: &mut JournalDamage,
    ) -> Vec<(Scanned, Part)> {
        let scan = &self.files[at].scan;
        let (past, live) = scan.records.split_at(live);
        let carried_from = checkpoint_lsn.saturating_sub(carried);
        let mut parts: Vec<(Scanned, Part)> = past
            .iter()
            .map(|record| (*record, if record.lsn >= carried_from { Part::Carried } else { Part::Past }))
            .collect();
        let flushed = self.flushed_in(scan.epoch);
        let mut expected = past.last().map_or(scan.base, |record| record.lsn) + 1;
        let mut part = Part::Live;
        for record in live {
            let missing = expected..record.lsn;
            let damaged = missing.end.min(flushed).saturating_sub(missing.start);
            damage.records_damaged += damaged;
            if missing.end.saturating_sub(missing.start) > damaged {
                damage.tears += 1;
                part = Part::Torn;
            }
            expected = record.lsn + 1;
            parts.push((*record, part));
        }
        // Everything in a file is flushed before the next one of the epoch is begun, and there is no gap between.
        let next_base = self.next_base(at).unwrap_or(0);
        damage.records_damaged += next_base.saturating_sub(expected);
        if !self.is_followed(at) {
            let unfinished = live.iter().rev().take_while(|record| record.continues).count();
            let is_chain = |back: usize| {
                live.iter().rev().take(back).zip(live.iter().rev().skip(1)).all(|(a, b)| a.lsn == b.lsn + 1)
            };
            let unfinished = (0..=unfinished).rev().find(|n| *n == 0 || is_chain(n - 1)).unwrap_or(0);
            damage.messages_unfinished += u64::from(unfinished > 0);
            parts.truncate(parts.len() - unfinished);
        }
        parts
    }

    fn replay_file<V: Visitor<Error: From<D::Error>>>(
        &self,
        at: usize,
        parts: &[(Scanned, Part)],
        visitor: &mut V,
        damage: &mut JournalDamage,
    ) -> Result<(), V::Error> {
        let file = &self.files[at];
        let mut ids: Vec<Option<u32>> = Vec::new();
        let mut flushed = 0;
        let mut remaining = parts.iter().peekable();
        let mut result = Ok(());
        for_each_block(&file.device, 1..file.block_count, |block, bytes| {
            let Some((record, part)) = remaining.next_if(|(record, _)| record.block == block) else { return };
            if result.is_err() {
                return;
            }
            let opened = bytes.and_then(|b| open_block(b, file.number, block, &self.device));
            let Some((_, mut cursor)) = opened.and_then(|(_, payload)| preamble(payload)) else {
                damage.records_damaged += 1;
                return;
            };
            if record.flushed > flushed {
                flushed = record.flushed;
                visitor.flushed();
            }
            let mut before = Before::default();
            while !cursor.rest().is_empty() && result.is_ok() {
                match Entry::decode(&mut cursor, &mut before) {
                    Ok(entry) => result = visit(entry, record, *part, &mut ids, visitor, damage),
                    Err(_) => {
                        damage.records_damaged += 1;
                        return;
                    }
                }
            }
        })?;
        result
    }
}

fn visit<V: Visitor>(
    entry: Entry<'_>,
    record: &Scanned,
    part: Part,
    ids: &mut Vec<Option<u32>>,
    visitor: &mut V,
    damage: &mut JournalDamage,
) -> Result<(), V::Error> {
    match entry {
        Entry::Series { id, kind, unit, name } => {
            let series = visitor.series(name, kind, unit)?;
            // Ids are dense: a file can't define more of them than it has bytes.
            let at = id as usize;
            if at < record.block as usize * crate::block::BLOCK_LEN {
                ids.resize(ids.len().max(at + 1), None);
                if let Some(slot) = ids.get_mut(at) {
                    *slot = series;
                }
            }
        }
        Entry::Identity(identity) => match part {
            Part::Live => visitor.identity(identity, false),
            Part::Carried => visitor.identity(identity, true),
            Part::Past | Part::Torn => {}
        },
        Entry::Checkpoint(_) => {}
        Entry::Point { id, is_late, timestamp, value } => {
            if matches!(part, Part::Past | Part::Carried) {
                return Ok(());
            }
            match ids.get(id as usize) {
                Some(Some(series)) => {
                    let point = Point { timestamp: Timestamp(timestamp), value };
                    visitor.point(record.lsn, *series, is_late, point)?;
                }
                _ => damage.points_nameless += 1,
            }
        }
    }
    Ok(())
}
