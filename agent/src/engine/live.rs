//! The open store: append, commit, seal, open again after a failure.
//!
//! After an error of the medium the store takes nothing more; [`Engine::reopen`] reads back what
//! there is. Whoever appends keeps what was not committed until then.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use siltstone_core::block::{DeviceId, SegmentId};
use siltstone_core::point::{TimeRange, ValueKind};
use siltstone_core::series::SeriesName;
use siltstone_core::store::{
    PartitionSpan, Recovery, SegmentState, SeriesId, Store, StoreConfig, StoreError, Work, look_at,
    name_store,
};

use super::found::{Damage, without_end};
use super::shelves::Kept;
use super::wear::Wear;
use crate::config::{DataConfig, Partition};
use crate::decode::Catalog;
use crate::files::{BLOCK_BYTES, FileError, FileMedium, LockError, StoreLock, may_pass, remove_unfinished};

/// Bytes at which a segment is sealed where nobody said, and no quota is known.
const SEGMENT_DEFAULT_BYTES: u64 = 64 << 20;

/// Rows of one step of a merge: a few milliseconds.
const WORK_ROWS: usize = 4_000;

/// Messages whose acknowledgements may be on their way, or lost with their connection, besides those
/// that wait here and are counted: what the library and the sockets have in hand.
pub(crate) const UNACKNOWLEDGED_MAX: usize = 4096 + 512;

/// Why a store is not open.
#[derive(Debug)]
pub enum EngineError {
    /// Somebody else has it, or it can't be locked.
    Lock(LockError),
    /// The medium failed.
    Files(FileError),
    /// The store failed.
    Store(StoreError<FileError>),
    /// What the directory holds is not for this program, because a newer one wrote into it, or is not the store that was
    /// open. Nothing was changed.
    Refused(PathBuf, StoreError<FileError>),
    /// The system's random source failed.
    Random,
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lock(error) => error.fmt(f),
            Self::Files(error) => error.fmt(f),
            Self::Store(StoreError::Medium(error)) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
            Self::Refused(dir, StoreError::NoStore) => {
                write!(f, "{} holds no store any more; was it unmounted?", dir.display())
            }
            Self::Refused(dir, StoreError::OtherStore) => write!(
                f,
                "{} holds another store than the one that was open; was the medium changed?",
                dir.display()
            ),
            Self::Refused(dir, error) => write!(f, "{}: {error}", dir.display()),
            Self::Random => f.write_str("the system gives no random numbers for the device id"),
        }
    }
}

impl std::error::Error for EngineError {}

impl From<LockError> for EngineError {
    fn from(error: LockError) -> Self {
        Self::Lock(error)
    }
}

impl From<FileError> for EngineError {
    fn from(error: FileError) -> Self {
        Self::Files(error)
    }
}

impl From<StoreError<FileError>> for EngineError {
    fn from(error: StoreError<FileError>) -> Self {
        Self::Store(error)
    }
}

impl EngineError {
    fn of(dir: &Path) -> impl Fn(StoreError<FileError>) -> Self {
        move |error| match error {
            StoreError::Newer { .. } | StoreError::NoStore | StoreError::OtherStore => {
                Self::Refused(dir.to_owned(), error)
            }
            error => Self::Store(error),
        }
    }

    /// That a store which was there is gone from `dir`.
    pub(crate) fn gone(dir: &Path) -> Self {
        Self::Refused(dir.to_owned(), StoreError::NoStore)
    }

    /// Whether it may pass without anybody changing a setting: the disk is full, read-only, failing, or not there.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Lock(LockError::System(_, error)) => may_pass(error),
            Self::Files(error) | Self::Store(StoreError::Medium(error)) => may_pass(&error.source),
            Self::Refused(_, error) => matches!(error, StoreError::NoStore | StoreError::OtherStore),
            _ => false,
        }
    }
}

/// One open store.
pub struct Engine {
    pub(super) store: Mutex<Store<FileMedium>>,
    pub(super) medium: FileMedium,
    pub(super) kept: Mutex<Kept>,
    /// Why the store takes nothing, until it is open again.
    failure: Mutex<Option<String>>,
    config: StoreConfig,
    /// What the last opening found.
    found: Mutex<Recovery>,
    /// Segments without a valid end, when it was last looked.
    without_end: AtomicUsize,
    wear: Wear,
    lock: Mutex<StoreLock>,
}

/// The store's settings from the configuration.
fn store_config(config: &DataConfig) -> StoreConfig {
    let segment_blocks_max =
        u32::try_from(config.segment_max_bytes.unwrap_or(SEGMENT_DEFAULT_BYTES) / BLOCK_BYTES)
            .unwrap_or(u32::MAX);
    StoreConfig {
        partition: match config.partition {
            Partition::Hour => PartitionSpan::Hour,
            Partition::Day => PartitionSpan::Day,
            Partition::Month => PartitionSpan::Month,
            Partition::Year => PartitionSpan::Year,
        },
        segment_blocks_max,
        // Space ahead counts as taken, and what is taken twice over can't be kept: so never a large part of a segment.
        segment_grow_blocks: StoreConfig::default().segment_grow_blocks.min(segment_blocks_max / 4).max(1),
        retention_bytes: config.max_bytes,
        retention_ns: config.retention_ns,
        unacknowledged_max: UNACKNOWLEDGED_MAX,
        ..StoreConfig::default()
    }
}

impl Engine {
    /// Locks and opens the store that `config` names, or makes one there.
    ///
    /// # Errors
    ///
    /// Where somebody else has it, or the medium fails. Damage is no error: the recovery says what
    /// was found.
    pub fn open(config: &DataConfig) -> Result<(Self, Recovery), EngineError> {
        if !StoreLock::is_there(&config.dir) {
            // Else the lock would be the first thing that is written.
            look(&config.dir)?;
        }
        let lock = StoreLock::take(&config.dir)?;
        let medium = FileMedium::open(&config.dir)?;
        let card_bytes = config.card_tbw_bytes;
        let config = store_config(config);
        let opened = Store::open(medium.clone(), config.clone(), new_device()?);
        let (store, recovery) = opened.map_err(EngineError::of(medium.root()))?;
        remove_unfinished(&medium.root().join("state"));
        let wear = Wear::new(store.written(), card_bytes);
        let without_end = without_end(&store);
        let engine = Self {
            store: Mutex::new(store),
            medium,
            kept: Mutex::new(Kept::default()),
            failure: Mutex::new(None),
            config,
            found: Mutex::new(recovery.clone()),
            without_end: AtomicUsize::new(without_end),
            wear,
            lock: Mutex::new(lock),
        };
        Ok((engine, recovery))
    }

    /// What is wrong with its medium.
    #[cfg(test)]
    pub(crate) fn faults(&self) -> &crate::files::Faults {
        self.medium.faults()
    }

    /// What of the store a person has to look at.
    pub(super) fn damage(&self) -> Damage {
        let without_end = without_end(&self.store());
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        Damage::new(self.root(), without_end, &found)
    }

    /// What was written to the card, for the health document.
    pub(super) fn wear_json(&self) -> serde_json::Value {
        let written = self.store().written();
        self.wear.to_json(written)
    }

    /// What was written to the card, in one sentence.
    pub fn wear_sentence(&self) -> String {
        let written = self.store().written();
        self.wear.sentence(written)
    }

    /// The store's directory.
    pub fn root(&self) -> &Path {
        self.medium.root()
    }

    /// The store, for as long as the guard lives. Nothing in it is left half done by a panic: the
    /// store itself notes an operation that did not end well.
    pub fn store(&self) -> MutexGuard<'_, Store<FileMedium>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the store a new random device id, which holds from the next opening on; nothing may wait in it.
    ///
    /// # Errors
    ///
    /// The medium's, or the random source's; the store has its old id or the new one.
    pub fn rename_device(&self) -> Result<[u8; 16], EngineError> {
        let id = new_device()?;
        name_store(&mut self.medium.clone(), &id)?;
        Ok(id)
    }

    /// The files that the store no longer writes, as paths inside it.
    pub fn sealed_files(&self) -> Vec<String> {
        self.store().segments().iter().map(|file| file.path.clone()).collect()
    }

    /// Tells the store the time, which lies behind where it is not exact, and does a small step of what can wait; true where there is more.
    ///
    /// # Errors
    ///
    /// The store's: it takes nothing more then.
    pub fn work(&self, now_ns: Option<i64>, is_exact: bool) -> Result<bool, StoreError<FileError>> {
        let is_more = self.change(|store| {
            store.set_time(now_ns, is_exact);
            store.work(WORK_ROWS).map(|work| work == Work::More)
        })?;
        self.note_seals();
        if is_more {
            self.forget_dropped();
        }
        Ok(is_more)
    }

    /// Warns where sealing gave a file without a valid end: its names are beyond all limits, or it reads back as something
    /// else. Nothing of it is lost, and health counts it.
    fn note_seals(&self) {
        let now = without_end(&self.store());
        if now > self.without_end.swap(now, Ordering::Relaxed) {
            tracing::warn!("a segment could not be sealed; it is read block by block");
        }
    }

    /// Seals what is open; gives the segments that were, and the store's epoch then.
    ///
    /// # Errors
    ///
    /// The store's: it takes nothing more then.
    pub fn seal(&self) -> Result<(Vec<SegmentId>, u32), StoreError<FileError>> {
        let sealed = |store: &Store<FileMedium>| -> Vec<SegmentId> {
            let sealed = store.segments().iter().filter(|file| matches!(file.state, SegmentState::Sealed(_)));
            sealed.map(|file| file.header.id).collect()
        };
        self.prepare()?;
        self.change(|store| {
            let before = sealed(store);
            store.seal()?;
            let mut now = sealed(store);
            now.retain(|id| !before.contains(id));
            Ok((now, store.epoch()))
        })
    }

    /// Puts everything into segments, so that the next start has nothing to take from the journal.
    ///
    /// # Errors
    ///
    /// One sentence: what the store failed of, now or before.
    pub fn checkpoint(&self) -> Result<(), String> {
        self.change(Store::checkpoint).map_err(|error| self.reason(&error))
    }

    /// Deletes what the named series have in `span`, durably, and gives the store's epoch then.
    ///
    /// # Errors
    ///
    /// The store's: it takes nothing more then.
    pub fn delete(&self, names: &[SeriesName], span: TimeRange) -> Result<u32, StoreError<FileError>> {
        if !names.is_empty() {
            self.prepare()?;
        }
        self.change(|store| store.delete(names, span).map(|()| store.epoch()))
    }

    /// Does the larger part of what a seal needs beforehand, the store free for others in between: what came is flushed,
    /// and coded into blocks. What comes meanwhile is little.
    fn prepare(&self) -> Result<(), StoreError<FileError>> {
        self.change(Store::commit)?;
        self.change(Store::checkpoint)
    }

    /// Does something to the store, and remembers of what it failed before anybody else finds it failed.
    fn change<T>(
        &self,
        operation: impl FnOnce(&mut Store<FileMedium>) -> Result<T, StoreError<FileError>>,
    ) -> Result<T, StoreError<FileError>> {
        let mut store = self.store();
        let result = operation(&mut store);
        if let Err(error) = &result {
            self.reason(error);
        }
        result
    }

    /// The first cause of a failure: an error that says no more than that the store failed before is no help.
    pub fn reason(&self, error: &StoreError<FileError>) -> String {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            StoreError::Failed => failure.clone().unwrap_or_else(|| error.to_string()),
            StoreError::Medium(cause) => failure.get_or_insert_with(|| cause.to_string()).clone(),
            _ => failure.get_or_insert_with(|| error.to_string()).clone(),
        }
    }

    /// Why the store takes nothing; `None` while it does.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the store again after a failure: this one, and none where it is gone. Everything that was committed is there, of the rest
    /// some; numbers of series are new. Until then, and where it fails, the old one answers: on a bad medium
    /// that may take long. So many messages may be stored and `unacknowledged`: they must be known when they come again.
    ///
    /// # Errors
    ///
    /// As [`Self::open`], and where the directory holds no store any more, or another; the store stays failed then.
    pub fn reopen(&self, unacknowledged: usize) -> Result<Recovery, EngineError> {
        self.store().retire();
        let mut config = self.config.clone();
        config.unacknowledged_max = config.unacknowledged_max.max(unacknowledged);
        let device = self.store().device();
        self.lock.lock().unwrap_or_else(PoisonError::into_inner).follow()?;
        let opened = Store::open_again(self.medium.clone(), config, device);
        let (fresh, recovery) = opened.map_err(EngineError::of(self.root())).inspect_err(|error| {
            if matches!(error, EngineError::Refused(..)) {
                // What somebody has to look at is this, and not what failed first.
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            }
        })?;
        let mut store = self.store();
        self.without_end.store(without_end(&fresh), Ordering::Relaxed);
        *store = fresh;
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = recovery.clone();
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
        drop(store);
        Ok(recovery)
    }
}

/// Whose store `dir` holds, where it holds one; reads only, and needs no lock.
///
/// # Errors
///
/// `Refused` where a newer program wrote into it; what can't be read.
pub fn look(dir: &Path) -> Result<Option<DeviceId>, EngineError> {
    look_at(&FileMedium::looking(dir)).map_err(EngineError::of(dir))
}

/// 128 bits for a store that has no device id yet.
fn new_device() -> Result<[u8; 16], EngineError> {
    let mut device = [0; 16];
    getrandom::fill(&mut device).map_err(|_| EngineError::Random)?;
    Ok(device)
}

/// A store as the catalog of what is known.
pub(crate) struct StoreCatalog<'a>(pub(crate) &'a Store<FileMedium>);

impl Catalog for StoreCatalog<'_> {
    fn kind_of(&self, name: &SeriesName) -> Option<ValueKind> {
        let series = self.0.index().find(name.as_str())?;
        self.0.series_of(SeriesId(series)).map(|(_, kind, _)| kind)
    }

    fn last_time_ns(&self, name: &SeriesName) -> Option<i64> {
        let series = self.0.index().find(name.as_str())?;
        self.0.last_time(SeriesId(series)).map(|last| last.0)
    }

    fn series_count(&self) -> usize {
        self.0.index().len()
    }
}
