//! What an opening of the store found: for the log, and what of it a person has to look at, for the health document.

use std::path::Path;

use serde_json::{Map, Value};
use siltstone_core::store::{JournalDamage, Recovery, SegmentState, Store};

use crate::files::FileMedium;

/// Says what an opening found, where it is not the usual.
pub(crate) fn report(recovery: &Recovery, dir: &Path) {
    if recovery.is_new {
        tracing::warn!("{} held no store; a new one was made there", dir.display());
    } else if recovery.points_replayed > 0 {
        tracing::info!("{} readings were taken from the journal", recovery.points_replayed);
    }
    if recovery.is_identity_restored {
        tracing::warn!("the store's identity could not be read and was taken from its other files");
    }
    let JournalDamage { records_damaged, points_nameless, .. } = recovery.journal;
    if records_damaged + points_nameless > 0 {
        tracing::warn!("the journal is damaged: {:?}", recovery.journal);
    } else if recovery.journal != JournalDamage::default() {
        tracing::info!("the journal ends as a power cut leaves it: {:?}", recovery.journal);
    }
    if recovery.segments_damaged > 0 {
        tracing::warn!(
            "{} segments are damaged; what can be read of them is used",
            recovery.segments_damaged
        );
    }
    if recovery.segments_unknown > 0 {
        tracing::warn!("{} segments are of a newer format and left alone", recovery.segments_unknown);
    }
    if recovery.segments_gone > 0 {
        tracing::warn!("{} segments went away while the store was opened", recovery.segments_gone);
    }
    for (file, fault) in &recovery.set_aside {
        tracing::warn!("{file} was moved to quarantine/: {fault}");
    }
}

/// Segments that nothing is written to and that have no valid end.
pub(super) fn without_end(store: &Store<FileMedium>) -> usize {
    store.segments().iter().filter(|file| matches!(file.state, SegmentState::Unsealed)).count()
}

/// What of a store a person has to look at.
pub(super) struct Damage {
    /// Files in `quarantine/` now.
    quarantined: usize,
    /// Segments that are read block by block now.
    segments: usize,
    /// Segments of another store in a newer format, as the last opening found them.
    newer: u64,
    /// Records and points that the journal had lost at the last opening.
    records: u64,
    nameless: u64,
}

impl Damage {
    pub(super) fn new(root: &Path, segments_without_end: usize, last: &Recovery) -> Self {
        let aside = std::fs::read_dir(root.join("quarantine")).map_or(0, Iterator::count);
        Self {
            quarantined: aside,
            segments: segments_without_end,
            newer: last.segments_unknown,
            records: last.journal.records_damaged,
            nameless: last.journal.points_nameless,
        }
    }

    /// One sentence: what it is, and what takes it out of the health document again; `None` where there is nothing.
    fn sentence(&self) -> Option<String> {
        let count = |n: u64, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        let parts = [
            (self.quarantined > 0).then(|| {
                let files = count(self.quarantined as u64, "file that", "files that");
                format!(
                    "quarantine/ holds {files} could not be read, until somebody looks and takes them away"
                )
            }),
            (self.segments > 0).then(|| {
                let files = count(self.segments as u64, "segment without", "segments without");
                format!("there are {files} a valid end (`siltstone repair` makes a good copy)")
            }),
            (self.newer > 0).then(|| {
                let files = count(self.newer, "segment", "segments");
                format!("there are {files} of another store in a newer format")
            }),
            (self.records + self.nameless > 0).then(|| {
                let records = count(self.records, "damaged record", "damaged records");
                let points = count(self.nameless, "reading", "readings");
                format!("at the last opening the journal had {records}, and {points} of unknown series")
            }),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Puts it into the store's part of the health document; whether there is any.
    pub(super) fn put_into(&self, store: &mut Map<String, Value>) -> bool {
        let sentence = self.sentence();
        let is_some = sentence.is_some();
        store.insert("quarantined_files".to_owned(), self.quarantined.into());
        store.insert("segments_damaged".to_owned(), self.segments.into());
        store.insert("segments_newer".to_owned(), self.newer.into());
        store.insert("journal_records_damaged".to_owned(), self.records.into());
        store.insert("journal_points_nameless".to_owned(), self.nameless.into());
        store.insert("damage".to_owned(), sentence.into());
        is_some
    }
}

#[cfg(test)]
#[path = "found_tests.rs"]
mod tests;
