//! What the verifier says of a simulated medium: the same machines as `siltstone verify`, over its blocks as they lie.

use std::collections::BTreeSet;

use crate::block::{BLOCK_LEN, BlockKind, Cursor, SegmentId, open, peek};
use crate::segment::{Check, CheckStep, Fault};
use crate::store::sim::SimMedium;
use crate::store::{Flushed, JournalCheck, device_of_store};

use super::workload::DEVICE;

/// The blocks of a file.
fn blocks_of<'a>(medium: &'a SimMedium, path: &'a str) -> impl Iterator<Item = [u8; BLOCK_LEN]> + 'a {
    (0..).map_while(move |at| medium.raw(path, at))
}

/// What is wrong with a segment's file.
fn segment_faults(medium: &SimMedium, path: &str) -> Vec<Fault> {
    let mut check = Check::new(blocks_of(medium, path).count() as u32, 0);
    let mut faults = Vec::new();
    loop {
        match check.step() {
            CheckStep::Need(range) => {
                for block in range {
                    check.feed(block, &medium.raw(path, block).expect("a block of the file"));
                }
            }
            CheckStep::Fault(fault) => faults.push(fault),
            CheckStep::Done => return faults,
        }
    }
}

fn number_of(path: &str) -> Option<u32> {
    path.strip_prefix("journal/")?.strip_suffix(".journal")?.parse().ok()
}

/// What is wrong with the ring of the journal, as pairs of path and block.
pub(super) fn journal_faults(medium: &SimMedium) -> Vec<(String, Option<u32>)> {
    let files: Vec<(u32, String)> =
        medium.files().into_iter().filter_map(|(path, _)| Some((number_of(&path)?, path))).collect();
    let mut checks = Vec::new();
    for (number, path) in files {
        let mut check = JournalCheck::new(number, DEVICE);
        blocks_of(medium, &path).for_each(|block| check.push(Some(&block)));
        checks.push((path, check));
    }
    let flushed = Flushed::of(checks.iter().map(|(_, check)| check));
    let of_file = |(path, check): (String, JournalCheck)| {
        check.finish(&flushed).into_iter().map(move |fault| (path.clone(), fault.block))
    };
    checks.into_iter().flat_map(of_file).collect()
}

/// What the verifier says of the file `path`, and of all that are looked at together with it: path and block of each
/// fault.
pub(super) fn verify(medium: &SimMedium, path: &str) -> Vec<(String, Option<u32>)> {
    if path == "store.id" {
        let is_whole = medium.raw(path, 0).is_some_and(|block| device_of_store(&block).is_some());
        return if is_whole { Vec::new() } else { vec![(path.to_string(), Some(0))] };
    }
    if number_of(path).is_some() {
        return journal_faults(medium);
    }
    segment_faults(medium, path).into_iter().map(|fault| (path.to_string(), fault.block)).collect()
}

/// A valid record of the journal.
struct Record {
    path: String,
    block: u32,
    epoch: u32,
    lsn: u64,
    /// Below this everything was flushed when it was made.
    flushed: u64,
}

/// The blocks of the journal whose flush a later record vouches for, and the headers of their files: damage in them is
/// damage. Of all others a power cut may have left anything, and what an earlier round of the ring left counts no more.
pub(super) fn vouched(medium: &SimMedium) -> BTreeSet<(String, u32)> {
    let mut records = Vec::new();
    for (path, block_count) in medium.files() {
        let Some(number) = number_of(&path) else { continue };
        for block in 0..block_count {
            let bytes = medium.raw(&path, block).expect("a block");
            let Ok((found, _)) = peek(&bytes) else { continue };
            let id = SegmentId { device: DEVICE, epoch: found.epoch, number };
            let Ok((header, payload)) = open(&bytes, &id, block) else { continue };
            if header.kind != BlockKind::JournalRecord {
                continue;
            }
            let unflushed = Cursor::new(payload).varint().expect("a record's first number");
            let (path, epoch, lsn) = (path.clone(), header.epoch, header.lsn);
            records.push(Record { path, block, epoch, lsn, flushed: lsn - unflushed });
        }
    }
    let mut vouched = BTreeSet::new();
    for record in &records {
        let newest = records.iter().filter(|other| other.path == record.path).max_by_key(|other| other.lsn);
        let newest = newest.expect("itself, if no other");
        let is_of_round = record.epoch == newest.epoch
            && record.lsn + u64::from(newest.block) == newest.lsn + u64::from(record.block);
        if is_of_round {
            vouched.insert((record.path.clone(), 0));
            let of_epoch = records.iter().filter(|other| other.epoch == record.epoch);
            // A later file of the epoch is begun behind a flush.
            let says = |other: &Record| other.flushed.max(other.lsn - u64::from(other.block));
            if of_epoch.map(says).max().is_some_and(|flushed| record.lsn < flushed) {
                vouched.insert((record.path.clone(), record.block));
            }
        }
    }
    vouched
}
