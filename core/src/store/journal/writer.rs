//! Messages into records, records into the active file, one flush for many messages.
//!
//! Nothing that was written is ever written again until its file comes round, and a record that was
//! flushed with room to spare stays as it is. After any error of the device the journal takes nothing
//! more: what reached the medium is unknown until it is opened again.

use alloc::vec;
use alloc::vec::Vec;

use super::entry::{Checkpoint, Entry};
use super::header;
use super::record::{Mark, Place, Record};
use super::ring::Ring;
use crate::block::BLOCK_LEN;
use crate::point::{Value, ValueKind};
use crate::store::device::{Device, Medium};
use crate::store::identity::{HASH_LEN, Identity, Window};
use crate::store::limits::RECORD_BYTES_SURE;

/// Finished records are written out when this many wait.
const BUFFER_BLOCKS: usize = 64;
/// An identity in a record, at most.
const IDENTITY_BYTES: usize = 1 + 8 + 2 + HASH_LEN;

/// A point as the journal takes it.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct JournalPoint<'a> {
    /// The store's number of the series.
    pub(in crate::store) series: u32,
    pub(in crate::store) is_late: bool,
    pub(in crate::store) timestamp: i64,
    pub(in crate::store) value: Value<'a>,
}

/// Where names of series come from.
pub(in crate::store) trait Names {
    /// Name, kind and unit of a series of the store.
    fn definition(&self, series: u32) -> (&str, ValueKind, &str);
}

/// Why a message was not taken.
#[derive(Debug)]
pub(in crate::store) enum PutError<E> {
    /// A checkpoint must come first; nothing was changed.
    Full,
    /// The device failed.
    Device(E),
}

impl<E> From<E> for PutError<E> {
    fn from(error: E) -> Self {
        Self::Device(error)
    }
}

/// The journal of a running store.
#[derive(Debug)]
pub(in crate::store) struct Journal<D> {
    ring: Ring<D>,
    active: usize,
    epoch: u32,
    /// LSN of the active file's block 0.
    base: u64,
    /// Block number of the record in the making.
    next: u32,
    record: Record,
    /// Finished records that are not written yet.
    buffer: Vec<u8>,
    buffer_first: u32,
    /// Everything below this LSN is flushed.
    flushed: u64,
    /// For each series of the store its id in the active file plus 1; 0 where it has none.
    ids: Vec<u32>,
    ids_count: u32,
}

impl<D: Device> Journal<D> {
    pub(super) fn begin<M: Medium<Device = D, Error = D::Error>>(
        ring: Ring<D>,
        medium: &mut M,
        epoch: u32,
        base: u64,
    ) -> Result<Self, D::Error> {
        let mut journal = Self {
            ring,
            active: 0,
            epoch,
            base,
            next: 0,
            record: Record::new(),
            buffer: Vec::new(),
            buffer_first: 0,
            flushed: base,
            ids: Vec::new(),
            ids_count: 0,
        };
        journal.active = journal.ring.choose(medium, None)?;
        journal.begin_file()?;
        Ok(journal)
    }

    /// The LSN of the record in the making: the next one that is not yet written.
    pub(in crate::store) fn position(&self) -> u64 {
        self.base + u64::from(self.next)
    }

    /// Blocks written since this start, those of new files included.
    pub(in crate::store) fn blocks_written(&self) -> u64 {
        self.ring.blocks_written
    }

    /// Blocks of the active file behind the record in the making.
    fn blocks_left(&self) -> u32 {
        self.ring.files[self.active].block_count.saturating_sub(self.next + 1)
    }

    /// Most bytes of entries that one message may have, so that it fits an empty file.
    pub(in crate::store) fn message_bytes_max(&self) -> usize {
        (self.ring.files[self.active].block_count as usize / 2) * RECORD_BYTES_SURE
    }

    /// Upper bound of the bytes of a reading in the journal.
    pub(in crate::store) fn reading_bytes(&self, reading: &JournalPoint<'_>, names: &impl Names) -> usize {
        let text = if let Value::State(text) = reading.value { text.len() } else { 0 };
        let is_defined = self.ids.get(reading.series as usize).is_some_and(|id| *id > 0);
        let (name, _, unit) = names.definition(reading.series);
        1 + 5 + 10 + 10 + text + if is_defined { 0 } else { 16 + name.len() + unit.len() }
    }

    /// Upper bound of the bytes of a message: each new series is defined once.
    fn bound(&mut self, readings: &[JournalPoint<'_>], names: &impl Names) -> usize {
        const COUNTED: u32 = u32::MAX;
        let mut bytes = 0;
        for reading in readings {
            bytes += self.reading_bytes(reading, names);
            let at = reading.series as usize;
            self.ids.resize(self.ids.len().max(at + 1), 0);
            if self.ids[at] == 0 {
                self.ids[at] = COUNTED;
            }
        }
        for reading in readings {
            let id = &mut self.ids[reading.series as usize];
            *id = if *id == COUNTED { 0 } else { *id };
        }
        bytes
    }

    /// Appends a message. Nothing is durable before [`Journal::commit`].
    pub(in crate::store) fn put(
        &mut self,
        readings: &[JournalPoint<'_>],
        identity: Option<Identity>,
        names: &impl Names,
    ) -> Result<(), PutError<D::Error>> {
        let blocks = (self.bound(readings, names) + 32).div_ceil(RECORD_BYTES_SURE) + 1;
        if blocks > self.blocks_left() as usize {
            return Err(PutError::Full);
        }
        if self.put_whole(readings, identity, names) {
            return Ok(());
        }
        if !self.record.is_empty() {
            self.close(false)?;
            if self.put_whole(readings, identity, names) {
                return Ok(());
            }
        }
        for reading in readings {
            while !self.put_reading(reading, names) {
                self.close(true)?;
            }
        }
        if let Some(identity) = identity {
            while !self.record.put(&Entry::Identity(identity)) {
                self.close(true)?;
            }
        }
        Ok(())
    }

    /// Puts the message into the record in the making, or nothing of it.
    fn put_whole(
        &mut self,
        readings: &[JournalPoint<'_>],
        identity: Option<Identity>,
        names: &impl Names,
    ) -> bool {
        let mark: Mark = self.record.mark();
        let ids_count = self.ids_count;
        let fits = readings.iter().all(|reading| self.put_reading(reading, names))
            && identity.is_none_or(|identity| self.record.put(&Entry::Identity(identity)));
        if !fits {
            self.record.rewind(mark);
            for reading in readings {
                if let Some(id) = self.ids.get_mut(reading.series as usize).filter(|id| **id > ids_count) {
                    *id = 0;
                }
            }
            self.ids_count = ids_count;
        }
        fits
    }

    fn put_reading(&mut self, reading: &JournalPoint<'_>, names: &impl Names) -> bool {
        let at = reading.series as usize;
        if self.ids.len() <= at {
            self.ids.resize(at + 1, 0);
        }
        if self.ids[at] == 0 {
            let (name, kind, unit) = names.definition(reading.series);
            if !self.record.put(&Entry::Series { id: self.ids_count, kind, unit, name }) {
                return false;
            }
            self.ids_count += 1;
            self.ids[at] = self.ids_count;
        }
        let JournalPoint { is_late, timestamp, value, .. } = *reading;
        self.record.put(&Entry::Point { id: self.ids[at] - 1, is_late, timestamp, value })
    }

    /// Finishes the record in the making and begins the next.
    fn close(&mut self, continues: bool) -> Result<(), D::Error> {
        let file = &self.ring.files[self.active];
        let place = Place { number: file.number, epoch: self.epoch, block: self.next, lsn: self.position() };
        if self.buffer.is_empty() {
            self.buffer_first = self.next;
        }
        let block = self.record.finish(place, continues, &self.ring.device);
        self.buffer.extend_from_slice(block);
        self.next += 1;
        self.record.begin(self.position() - self.flushed);
        if self.buffer.len() >= BUFFER_BLOCKS * BLOCK_LEN { self.write_out() } else { Ok(()) }
    }

    fn write_out(&mut self) -> Result<(), D::Error> {
        if !self.buffer.is_empty() {
            self.ring.files[self.active].device.write(self.buffer_first, &self.buffer)?;
            self.ring.blocks_written += (self.buffer.len() / BLOCK_LEN) as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Closes the record in the making, so that everything appended so far has an LSN below
    /// [`Journal::position`]. Nothing is durable by that.
    pub(in crate::store) fn close_record(&mut self) -> Result<(), D::Error> {
        if self.record.is_empty() { Ok(()) } else { self.close(false) }
    }

    /// Makes everything appended so far durable.
    pub(in crate::store) fn commit(&mut self) -> Result<(), D::Error> {
        self.close_record()?;
        if self.flushed < self.position() {
            self.write_out()?;
            self.ring.files[self.active].device.flush()?;
            self.flushed = self.position();
            self.record.begin(0);
        }
        Ok(())
    }

    /// Writes the checkpoint: into the next file where `is_file_done`, or where this one has no room.
    /// When it returns, every other file is free.
    ///
    /// Everything that was appended must be committed, and be flushed in segments.
    pub(in crate::store) fn checkpoint<M: Medium<Device = D, Error = D::Error>>(
        &mut self,
        medium: &mut M,
        mut checkpoint: Checkpoint,
        window: &Window,
        is_file_done: bool,
    ) -> Result<(), D::Error> {
        self.commit()?;
        let mut identities: Vec<Identity> = window.iter().copied().collect();
        // No more than half a file of them: only where the ring is far too small for its window.
        identities.drain(..identities.len().saturating_sub(self.message_bytes_max() / IDENTITY_BYTES));
        let records = (identities.len() * IDENTITY_BYTES).div_ceil(RECORD_BYTES_SURE) + 2;
        if is_file_done || records > self.blocks_left() as usize {
            self.ring.files[self.active].is_needed = true;
            self.active = self.ring.choose(medium, Some(self.active))?;
            self.base = self.position();
            self.begin_file()?;
        }
        let before = self.next;
        for identity in identities {
            if !self.record.put(&Entry::Identity(identity)) {
                self.close(false)?;
                self.record.put(&Entry::Identity(identity));
            }
        }
        self.commit()?;
        checkpoint.carried = u64::from(self.next - before);
        checkpoint.window = window.waiting_max() as u64;
        self.record.put(&Entry::Checkpoint(checkpoint));
        self.commit()?;
        for (at, file) in self.ring.files.iter_mut().enumerate() {
            file.is_needed = at == self.active;
        }
        Ok(())
    }

    /// Writes and flushes the header of the active file and begins its first record.
    fn begin_file(&mut self) -> Result<(), D::Error> {
        let file = &mut self.ring.files[self.active];
        let mut block = vec![0; BLOCK_LEN];
        if let Some(block) = block.first_chunk_mut() {
            header::write(block, file.number, self.epoch, self.base, file.block_count, &self.ring.device);
        }
        file.device.write(0, &block)?;
        self.ring.blocks_written += 1;
        file.device.flush()?;
        file.lsn_end = self.base + 1;
        self.next = 1;
        self.flushed = self.position();
        self.ids.clear();
        self.ids_count = 0;
        self.record.begin(0);
        Ok(())
    }
}
