//! How much room the segments may take, and how large one of them is: what the configuration says, or what follows from
//! what was free at the first start.
//!
//! The quota wins: a segment is never so large a part of it that keeping it would mean to keep next to nothing. What a
//! store needs at least, and the volume does not have, is said in one sentence before anything is made.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use siltstone_core::store::StoreConfig;

use super::atomic::replace_file;
use super::device::BLOCK_BYTES;
use super::error::FileError;
use crate::config::DataConfig;

const MIB: u64 = 1 << 20;
/// Percent of the free space that a store takes of its own accord.
const SHARE_PERCENT: u64 = 80;
/// The smallest segment there is.
const SEGMENT_MIN_BYTES: u64 = MIB;
/// A quota holds so many segments at least.
const SEGMENTS_MIN: u64 = 4;
/// Of its own accord a segment is such a part of the quota, within these bounds,
const SEGMENT_PART: u64 = 128;
const SEGMENT_BYTES: std::ops::RangeInclusive<u64> = 16 * MIB..=256 * MIB;
/// and never a larger part than this.
const SEGMENT_PART_MAX: u64 = 8;

/// The room of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Bytes that all segments may have.
    pub(crate) max_bytes: u64,
    /// Bytes at which a segment is sealed.
    pub(crate) segment_max_bytes: u64,
}

/// Why there is no saying.
#[derive(Debug)]
pub(crate) enum RoomError {
    /// The free space can't be asked, or the answer not kept.
    Files(FileError),
    /// The volume is too small for any store.
    TooSmall(String),
    /// Too little is free for now.
    TooFull(String),
}

impl fmt::Display for RoomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(error) => error.fmt(f),
            Self::TooSmall(sentence) | Self::TooFull(sentence) => f.write_str(sentence),
        }
    }
}

/// A volume and what the store has of it, in bytes.
#[derive(Clone, Copy, Debug)]
struct Volume {
    total: u64,
    free: u64,
    /// What the journal still has to take.
    journal_missing: u64,
    /// What segments take already.
    segments: u64,
}

/// The room of the store that `config` means; where the configuration leaves the quota open, the answer of the first start
/// is kept in `state/max_bytes`.
///
/// # Errors
///
/// Where the free space can't be asked or the answer not kept, and where it is too little.
pub(crate) fn room(config: &DataConfig) -> Result<Room, RoomError> {
    let max_bytes = quota(config)?;
    let segment_max_bytes = segment_bytes(config.segment_max_bytes, max_bytes);
    if config.segment_max_bytes.is_some_and(|bytes| bytes > segment_max_bytes) {
        tracing::warn!(
            "`segment_max` is {segment_max_bytes} bytes here: all segments together may have {max_bytes}"
        );
    }
    Ok(Room { max_bytes, segment_max_bytes })
}

fn quota(config: &DataConfig) -> Result<u64, RoomError> {
    if let Some(bytes) = config.max_bytes {
        return Ok(bytes);
    }
    let path = config.dir.join("state").join("max_bytes");
    let fail = |source| RoomError::Files(FileError::new("keep the size of the store in", &path, source));
    if let Some(bytes) = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()) {
        return Ok(bytes);
    }
    let bytes = Volume::of(&config.dir).map_err(fail)?.quota(&config.dir)?;
    replace_file(&path, format!("{bytes}\n").as_bytes()).map_err(fail)?;
    Ok(bytes)
}

/// The size of a segment where all of them may have `max_bytes`.
fn segment_bytes(configured: Option<u64>, max_bytes: u64) -> u64 {
    let bytes = match configured {
        Some(bytes) => bytes.min(max_bytes / SEGMENTS_MIN),
        None => (max_bytes / SEGMENT_PART)
            .clamp(*SEGMENT_BYTES.start(), *SEGMENT_BYTES.end())
            .min(max_bytes / SEGMENT_PART_MAX),
    };
    bytes.max(SEGMENT_MIN_BYTES) / BLOCK_BYTES * BLOCK_BYTES
}

impl Volume {
    /// The volume of a store's directory, which is made where it is missing.
    fn of(dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(dir.join("state"))?;
        let volume = rustix::fs::statvfs(dir)?;
        let bytes = |blocks: u64| blocks.saturating_mul(volume.f_frsize);
        let journal = StoreConfig::default().journal_bytes();
        let segments = fs::read_dir(dir.join("segments")).into_iter().flatten().flatten();
        Ok(Self {
            total: bytes(volume.f_blocks),
            free: bytes(volume.f_bavail),
            journal_missing: journal.saturating_sub(bytes_in(&dir.join("journal"))),
            segments: segments.map(|partition| bytes_in(&partition.path())).sum(),
        })
    }

    /// The share of it that segments may have. What they have already is theirs to keep: else the answer would shrink
    /// with the store.
    fn quota(&self, dir: &Path) -> Result<u64, RoomError> {
        let room = self.free.saturating_sub(self.journal_missing).saturating_add(self.segments);
        let bytes = room / 100 * SHARE_PERCENT;
        let least = SEGMENTS_MIN * SEGMENT_MIN_BYTES;
        if bytes >= least {
            return Ok(bytes);
        }
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        let (journal, segments) = (StoreConfig::default().journal_bytes(), least * 100 / SHARE_PERCENT + MIB);
        let needs = format!(
            "a store needs {} MB, {} for its journal and {} for a few small segments",
            megabytes(journal) + megabytes(segments),
            megabytes(journal),
            megabytes(segments)
        );
        let (dir, total, free) = (dir.display(), self.total / 1_000_000, self.free / 1_000_000);
        Err(if self.total < journal + segments {
            RoomError::TooSmall(format!(
                "{dir}: its volume has {total} MB in all, and {needs}; put `data.dir` on a larger one"
            ))
        } else {
            RoomError::TooFull(format!("{dir}: No space left on device: {free} MB are free, and {needs}"))
        })
    }
}

/// Bytes of the files in a directory; what can't be seen does not count.
fn bytes_in(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.metadata().ok())
        .filter(fs::Metadata::is_file)
        .map(|file| file.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MIB, RoomError, Volume, room, segment_bytes};
    use crate::config::DataConfig;
    use crate::test_dir::TestDir;

    const JOURNAL: u64 = 64 * MIB;

    fn empty(total: u64) -> Volume {
        Volume { total, free: total, journal_missing: JOURNAL, segments: 0 }
    }

    #[test]
    fn the_first_answer_is_kept() {
        let dir = TestDir::new("space");
        let config = DataConfig { dir: dir.path().join("store"), ..DataConfig::default() };
        let first = room(&config).unwrap();
        assert!(first.max_bytes >= 8 * first.segment_max_bytes, "{first:?}");
        std::fs::write(dir.path().join("store/state/max_bytes"), "80000000\n").unwrap();
        assert_eq!(room(&config).unwrap().max_bytes, 80_000_000);
        assert_eq!(room(&DataConfig { max_bytes: Some(5), ..config }).unwrap().max_bytes, 5);
    }

    #[test]
    fn an_answer_that_was_lost_is_found_again_whatever_the_store_took() {
        let first = empty(1 << 34).quota(Path::new("x")).unwrap();
        for taken in [0, 1 << 20, 1 << 33] {
            let later = Volume {
                free: (1 << 34) - JOURNAL - taken,
                journal_missing: 0,
                segments: taken,
                ..empty(1 << 34)
            };
            assert_eq!(later.quota(Path::new("x")).unwrap(), first);
        }
    }

    #[test]
    fn quota_segment_and_journal_fit_every_volume_or_it_is_refused() {
        for mib in (1..400).chain([1_000, 8_000, 32_000, 512_000]) {
            let total = mib * MIB;
            match empty(total).quota(Path::new("/data")) {
                Ok(max_bytes) => {
                    let segment = segment_bytes(None, max_bytes);
                    assert!((MIB..=256 * MIB).contains(&segment) && segment * 4 <= max_bytes, "{mib}");
                    assert!(JOURNAL + max_bytes + segment < total, "{mib} MiB: {max_bytes} and {segment}");
                }
                Err(error) => {
                    assert!(mib < 71 && matches!(error, RoomError::TooSmall(_)), "{mib}: {error}");
                }
            }
        }
        let sentence = empty(50_000_000).quota(Path::new("/data")).unwrap_err().to_string();
        let expected = "/data: its volume has 50 MB in all, and a store needs 75 MB, 68 for its journal and 7 for a few \
                        small segments; put `data.dir` on a larger one";
        assert_eq!(sentence, expected);
        let full = Volume { free: 9_000_000, ..empty(1 << 40) };
        assert!(matches!(full.quota(Path::new("/data")), Err(RoomError::TooFull(_))));
    }

    #[test]
    fn segments_follow_the_quota() {
        for (configured, max_bytes, expected) in [
            (None, 100 * MIB, 12 * MIB + MIB / 2),
            (None, 1_000 * MIB, 16 * MIB),
            (None, 12_800 * MIB, 100 * MIB),
            (None, 1 << 40, 256 * MIB),
            (None, 4 * MIB, MIB),
            (Some(64 * MIB), 1_000 * MIB, 64 * MIB),
            (Some(64 * MIB), 100 * MIB, 25 * MIB),
        ] {
            assert_eq!(segment_bytes(configured, max_bytes), expected, "{configured:?} of {max_bytes}");
        }
    }
}
