//! Snapshots as shelves, and what is kept between questions.
//!
//! Kept are the open files of sealed segments, the blocks of their tails that were read (bounded),
//! and scans of files that have no usable tail. A question takes what it needs and gives it back.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use siltstone_core::block::SegmentId;
use siltstone_core::segment::{BlockMap, Opened};
use siltstone_core::store::{Run, RunContent, StoreError, file_name};

use super::live::Engine;
use crate::api::{ApiError, Code};
use crate::files::FileError;
use crate::shelf::{BlockSource, FileSource, Member, ParsedSelector, Shelf};

/// Blocks of tails that are kept: 4 MiB.
const TAIL_BLOCKS_MAX: usize = 1024;
/// Blocks of one tail that are kept.
const FILE_TAIL_BLOCKS_MAX: usize = 256;
/// Files that are kept open.
const FILES_MAX: usize = 256;
/// Snapshots taken for one question, where files go in between.
const SNAPSHOTS_MAX: usize = 5;
/// How long a question may take.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(30);

/// What is kept between questions.
#[derive(Default)]
pub(super) struct Kept {
    files: HashMap<SegmentId, Arc<dyn BlockSource>>,
    tails: HashMap<SegmentId, BlockMap>,
    scans: HashMap<(SegmentId, u32), Member>,
}

/// The stem of a segment's file name, its id in the API.
pub(super) fn id_text(id: &SegmentId) -> String {
    file_name(id).trim_end_matches(".silt").to_owned()
}

fn unasked(error: StoreError<FileError>) -> ApiError {
    ApiError::new(Code::Internal, format!("the store can't be asked: {error}"))
}

impl Engine {
    /// The runs of the store, and of those in memory the series that `selector` means.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    pub(super) fn runs(&self, selector: &ParsedSelector) -> Result<Vec<Run>, ApiError> {
        self.store().snapshot(&selector.selector, &selector.patterns).map_err(unasked)
    }

    /// Everything that is stored, side by side.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    pub fn shelf(&self, selector: &ParsedSelector) -> Result<Shelf, ApiError> {
        self.shelf_of(|| self.runs(selector))
    }

    /// Everything that is stored, to list series: of what is not sealed only names and spans.
    ///
    /// # Errors
    ///
    /// A fault of the store.
    pub(super) fn listing(&self, selector: &ParsedSelector) -> Result<Shelf, ApiError> {
        self.shelf_of(|| self.store().outline(&selector.selector, &selector.patterns).map_err(unasked))
    }

    fn shelf_of(&self, runs: impl Fn() -> Result<Vec<Run>, ApiError>) -> Result<Shelf, ApiError> {
        let mut tries = SNAPSHOTS_MAX;
        'snapshot: loop {
            tries -= 1;
            let runs = runs()?;
            let mut shelf = Shelf::new().with_time_limit(TIME_LIMIT);
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            for run in runs {
                let path = run.path.clone();
                match self.member(&mut kept, run) {
                    Ok(member) => shelf.add(member),
                    // It was merged or dropped since the snapshot: another one names what took its place.
                    Err(_) if tries > 0 && path.is_some_and(|path| self.is_gone(&path)) => continue 'snapshot,
                    Err(sentence) => shelf.warn(sentence),
                }
            }
            return Ok(shelf);
        }
    }

    fn is_gone(&self, path: &str) -> bool {
        self.medium.path(path).is_ok_and(|path| !path.exists())
    }

    /// Closes files that the store has no more, so that their space is free, and forgets what was read of them.
    pub(super) fn forget_dropped(&self) {
        let stored: HashSet<SegmentId> = self.store().segments().iter().map(|file| file.header.id).collect();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.files.retain(|id, _| stored.contains(id));
        kept.tails.retain(|id, _| stored.contains(id));
        kept.scans.retain(|(id, _), _| stored.contains(id));
    }

    fn member(&self, kept: &mut Kept, run: Run) -> Result<Member, String> {
        let Run { header, path, block_count, content } = run;
        let id = header.id;
        if !matches!(content, RunContent::Live(_))
            && let Some(member) = kept.scans.remove(&(id, block_count))
        {
            return Ok(member);
        }
        let open = |path: &str| {
            let path = self.medium.path(path).map_err(|error| error.to_string())?;
            Ok::<_, String>(Arc::new(FileSource::open(&path)?.limited(block_count)) as Arc<dyn BlockSource>)
        };
        match (content, path) {
            (RunContent::Sealed(sealed), Some(path)) => {
                let source = match kept.files.get(&id) {
                    Some(source) => Arc::clone(source),
                    None => {
                        if kept.files.len() >= FILES_MAX {
                            kept.files.clear();
                        }
                        let source = open(&path)?;
                        kept.files.insert(id, Arc::clone(&source));
                        source
                    }
                };
                let blocks = kept.tails.remove(&id).unwrap_or_default();
                Ok(Member::stored(Opened::Sealed { sealed, blocks }, source))
            }
            (RunContent::Live(live), path) => {
                let source = path.as_deref().map(open).transpose()?;
                Ok(Member::live(live, source))
            }
            (RunContent::Unsealed, Some(path)) => {
                Member::scan(open(&path)?, Vec::new()).map_err(|error| error.to_string())
            }
            (_, None) => Err(format!("the segment {} has no file", id_text(&id))),
        }
    }

    /// Keeps what a question has read, and tells the store what it cost.
    pub(super) fn give_back(&self, mut shelf: Shelf) {
        let mut store = self.store();
        for (partition, reads) in shelf.take_reads() {
            store.note_reads(partition, reads.blocks, reads.decoded, reads.wasted);
        }
        drop(store);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for member in shelf.into_members() {
            let id = member.header().id;
            if let Some(block_count) = member.scanned_blocks() {
                kept.scans.insert((id, block_count), member);
            } else if let Opened::Sealed { blocks: tail, .. } = member.into_opened()
                && tail.len() <= FILE_TAIL_BLOCKS_MAX
            {
                let blocks: usize = kept.tails.values().map(BlockMap::len).sum();
                if blocks + tail.len() > TAIL_BLOCKS_MAX {
                    kept.tails.clear();
                }
                kept.tails.insert(id, tail);
            }
        }
        drop(kept);
        self.forget_dropped();
    }
}
