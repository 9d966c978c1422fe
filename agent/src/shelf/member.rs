//! One block file, opened by its two ends or read block by block, with the words for what is wrong with it.

use std::fmt;
use std::sync::Arc;

use siltstone_core::segment::{Answer, Opened, Opening, SegmentError, SegmentHeader, Unsealed};

use super::source::BlockSource;

/// Blocks of one read of a scan.
const SCAN_BLOCKS: u32 = 64;

/// Why a file is not on the shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// How people know the file.
    pub label: String,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.label, self.message)
    }
}

impl std::error::Error for OpenError {}

/// Where the blocks of a segment are, and what is wrong with it.
#[derive(Clone, Default)]
pub(super) struct Place {
    /// The file; `None` where all blocks are in memory.
    pub(super) source: Option<Arc<dyn BlockSource>>,
    /// A sentence each.
    pub(super) warnings: Vec<String>,
    /// Whether it is what a running store held in memory at one moment.
    pub(super) is_live: bool,
}

/// One block file, or what a running store holds in memory.
pub struct Member {
    pub(super) place: Place,
    pub(super) opened: Opened,
}

impl Member {
    /// Opens a block file, whatever state it is in.
    ///
    /// # Errors
    ///
    /// Where it is no segment, or one of a later format, or nothing of it can be read.
    pub fn open(source: Arc<dyn BlockSource>) -> Result<Self, OpenError> {
        let fail = |message: String| OpenError { label: source.label().to_owned(), message };
        if source.block_count() == 0 {
            return Err(fail(
                "not a Siltstone segment, or cut to less than its first block of 4096 bytes".into(),
            ));
        }
        let mut warnings = Vec::new();
        if source.odd_bytes() > 0 {
            warnings.push(format!("{}: it ends inside a block: it was cut", source.label()));
        }
        let mut opening = Opening::new(source.block_count());
        let fault = match drive(&mut opening, &*source).map_err(fail)? {
            Ok(opened) => {
                if let Opened::Sealed { sealed, .. } = &opened
                    && let Some(fault) = sealed.header_fault()
                {
                    warnings.push(format!("{}: {fault}; the footer's copy is used", source.label()));
                }
                return Ok(Self { place: Place { warnings, ..Place::of(source) }, opened });
            }
            Err(fault) => fault,
        };
        match fault {
            SegmentError::NotASegment | SegmentError::FutureVersion(_) | SegmentError::BlockSize(_) => {
                return Err(fail(fault.to_string()));
            }
            SegmentError::Unsealed => {}
            _ => warnings.push(format!("{}: {fault}; it is read block by block", source.label())),
        }
        Self::scan_on(opening, source, warnings)
    }

    /// Reads a file block by block; `warnings` are what is known to be wrong with it.
    ///
    /// # Errors
    ///
    /// Where its block 0 is bad, or its blocks can't be read.
    pub fn scan(source: Arc<dyn BlockSource>, warnings: Vec<String>) -> Result<Self, OpenError> {
        Self::scan_on(Opening::new(source.block_count()), source, warnings)
    }

    fn scan_on(
        mut opening: Opening,
        source: Arc<dyn BlockSource>,
        mut warnings: Vec<String>,
    ) -> Result<Self, OpenError> {
        let fail = |message: String| OpenError { label: source.label().to_owned(), message };
        opening.scan();
        let opened = drive(&mut opening, &*source).map_err(fail)?.map_err(|fault| fail(fault.to_string()))?;
        if let Opened::Unsealed(unsealed) = &opened {
            warnings.extend(unsealed.faults.iter().map(|fault| format!("{}: {fault}", source.label())));
        }
        Ok(Self { place: Place { warnings, ..Place::of(source) }, opened })
    }

    /// A sealed segment of a running store.
    pub(crate) fn stored(opened: Opened, source: Arc<dyn BlockSource>) -> Self {
        Self { place: Place::of(source), opened }
    }

    /// What a running store holds in memory, over the file that it is written to.
    pub(crate) fn live(unsealed: Box<Unsealed>, source: Option<Arc<dyn BlockSource>>) -> Self {
        let place = Place { source, warnings: Vec::new(), is_live: true };
        Self { place, opened: Opened::Unsealed(unsealed) }
    }

    /// What it is.
    pub fn header(&self) -> &SegmentHeader {
        self.opened.header()
    }

    /// The segment.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// The segment, with the blocks of its tail that are at hand.
    pub fn into_opened(self) -> Opened {
        self.opened
    }

    /// Whether it was opened by its footer.
    pub fn is_sealed(&self) -> bool {
        matches!(self.opened, Opened::Sealed { .. })
    }

    /// Blocks of its file, where it was read block by block.
    pub(crate) fn scanned_blocks(&self) -> Option<u32> {
        let is_scanned = !self.is_sealed() && !self.place.is_live;
        self.place.source.as_ref().filter(|_| is_scanned).map(|source| source.block_count())
    }
}

impl Place {
    fn of(source: Arc<dyn BlockSource>) -> Self {
        Self { source: Some(source), ..Self::default() }
    }
}

/// Opens a file from its source. The outer error is the source's, the inner one core's word on the file.
fn drive(opening: &mut Opening, source: &dyn BlockSource) -> Result<Result<Opened, SegmentError>, String> {
    loop {
        match opening.step(SCAN_BLOCKS) {
            Ok(Answer::Ready(opened)) => return Ok(Ok(opened)),
            Ok(Answer::Need(ranges)) => {
                for range in ranges {
                    let count = range.end.saturating_sub(range.start);
                    let bytes = source.read(range.start, count)?;
                    if bytes.len() < super::source::bytes_of(count) {
                        return Ok(Err(SegmentError::Truncated));
                    }
                    opening.feed(range.start, &bytes);
                }
            }
            Err(fault) => return Ok(Err(fault)),
        }
    }
}
