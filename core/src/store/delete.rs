//! Deleting series in a span of time: one tombstone segment, at once in every partition.
//!
//! Why one file, and why it names series: `docs/decisions/0009-one-tombstone-file.md`. What is deleted is
//! hidden when this returns; its bytes go when their segments are merged or dropped.

use super::device::Medium;
use super::error::StoreError;
use super::open_segment;
use super::running::Store;
use crate::block::SegmentId;
use crate::point::{TimeRange, ValueKind};
use crate::segment::{SegmentHeader, SegmentKind, Writer};
use crate::series::SeriesName;

/// The directory of the tombstones, among those of the partitions.
pub(super) const DIRECTORY: &str = "deletions";

impl<M: Medium> Store<M> {
    /// Deletes everything that the named series have in `span`, durably. What is written later counts.
    ///
    /// # Errors
    /// The medium: then the store takes nothing more, and the deletion happened as a whole or not at all.
    pub fn delete(&mut self, names: &[SeriesName], span: TimeRange) -> Result<(), StoreError<M::Error>> {
        if names.is_empty() || span.is_empty() {
            return Ok(());
        }
        self.guarded(|store| {
            store.journal.commit()?;
            store.window.flushed();
            // What they get from here on must rank above the tombstone: so it goes into new segments.
            for place in 0..store.open.len() {
                if store.open[place].partition.range.overlaps(span) {
                    store.seal_segment(place)?;
                }
            }
            store.checkpoint_now(false)?;
            let header = SegmentHeader {
                id: SegmentId { device: store.device, epoch: store.epoch, number: store.next_number },
                kind: SegmentKind::Tombstones,
                rank: store.next_rank,
                partition: span,
                max_hold_ns: store.config.max_hold_ns,
                covered_lsn: 0,
                writer: SegmentHeader::writer_name(store.config.writer),
            };
            store.next_number += 1;
            store.next_rank += 1;
            let mut writer = Writer::new(header, store.epoch);
            for name in names {
                let known = store.table.live().find(name.as_str()).and_then(|series| store.table.get(series));
                let (kind, unit) = known.map_or((ValueKind::Float, ""), |(_, kind, unit)| (kind, unit));
                writer.define(name, kind, unit);
            }
            writer.seal().map_err(|_| StoreError::TooManySeries)?;
            let file = open_segment::write_late(&mut store.medium, DIRECTORY, writer, &mut store.written)?;
            store.segments.push(file);
            store.keep_quota()
        })
    }
}
