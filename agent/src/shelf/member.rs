//! One block file on the shelf: sealed and opened by its two ends, or scanned block by block.

use std::fmt;
use std::sync::Arc;

use siltstone_core::block::{BLOCK_LEN, Block, SegmentId};
use siltstone_core::point::ValueKind;
use siltstone_core::segment::{
    Answer, BlockMap, Blocks, Scan, ScanStep, Sealed, SegmentError, SegmentHeader, View, Writer,
};
use siltstone_core::series::{SeriesIndex, SeriesName};
use siltstone_core::store::LiveRun;
use siltstone_core::tree::Reference;

use super::selector::ParsedSelector;
use super::source::BlockSource;

/// Times that a reader may ask for more blocks of one file: far more than any question needs.
const ROUNDS_MAX: usize = 1_000;
/// Blocks of one read of a scan.
const SCAN_BLOCKS: u32 = 64;
/// Blocks of a tail kept in memory, for one file.
const TAIL_BLOCKS_MAX: usize = 256;

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

/// A series in a member: name, kind, unit, and what names all of its rows.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: SeriesName,
    pub(super) kind: ValueKind,
    pub(super) unit: String,
    pub(super) root: Reference,
}

enum Content {
    Sealed { sealed: Box<Sealed>, tail: BlockMap },
    Scanned { series: Vec<Found>, view: View },
    Live(Box<LiveRun>),
}

/// One block file.
pub struct Member {
    /// What it is.
    pub header: SegmentHeader,
    /// Blocks that count.
    pub block_count: u32,
    /// What was wrong on opening it, a sentence each.
    pub warnings: Vec<String>,
    source: Option<Arc<dyn BlockSource>>,
    content: Content,
}

impl Member {
    /// Opens a block file, whatever state it is in.
    ///
    /// # Errors
    ///
    /// Where it is no segment, or one of a later format, or nothing of it can be read.
    pub fn open(source: Arc<dyn BlockSource>) -> Result<Self, OpenError> {
        let fail = |message: String| OpenError { label: source.label().to_owned(), message };
        let mut blocks = BlockMap::new();
        let mut warnings = Vec::new();
        if source.block_count() == 0 {
            return Err(fail(
                "not a Siltstone segment, or cut to less than its first block of 4096 bytes".into(),
            ));
        }
        if source.odd_bytes() > 0 {
            warnings.push(format!("{}: it ends inside a block: it was cut", source.label()));
        }
        let fault = match supply(&*source, &mut blocks, |blocks| Sealed::open(source.block_count(), blocks)) {
            Ok(sealed) => {
                if let Some(fault) = sealed.header_fault() {
                    warnings.push(format!("{}: {fault}; the footer's copy is used", source.label()));
                }
                return Ok(Self {
                    header: *sealed.header(),
                    block_count: sealed.block_count(),
                    warnings,
                    source: Some(source),
                    content: Content::Sealed { sealed: Box::new(sealed), tail: blocks },
                });
            }
            Err(fault) => fault,
        };
        let fault = fault.map_err(&fail)?;
        match fault {
            SegmentError::NotASegment | SegmentError::FutureVersion(_) | SegmentError::BlockSize(_) => {
                return Err(fail(fault.to_string()));
            }
            SegmentError::Unsealed => {}
            _ => warnings.push(format!("{}: {fault}; it is read block by block", source.label())),
        }
        Self::scan(source, warnings)
    }

    /// A sealed segment of a running store; `tail` are blocks of its tail that are at hand.
    pub fn sealed(sealed: Box<Sealed>, source: Arc<dyn BlockSource>, tail: BlockMap) -> Self {
        Self {
            header: *sealed.header(),
            block_count: sealed.block_count(),
            warnings: Vec::new(),
            source: Some(source),
            content: Content::Sealed { sealed, tail },
        }
    }

    /// What a running store holds in memory, over the file that it is written to.
    pub fn live(
        header: SegmentHeader,
        block_count: u32,
        run: LiveRun,
        source: Option<Arc<dyn BlockSource>>,
    ) -> Self {
        Self { header, block_count, warnings: Vec::new(), source, content: Content::Live(Box::new(run)) }
    }

    /// Reads a file block by block.
    ///
    /// # Errors
    ///
    /// Where its block 0 is bad.
    pub fn scan(source: Arc<dyn BlockSource>, mut warnings: Vec<String>) -> Result<Self, OpenError> {
        let label = source.label().to_owned();
        let fail = |message: String| OpenError { label: label.clone(), message };
        let first = source.read(0, 1).map_err(&fail)?;
        let header = SegmentHeader::open(&first).map_err(|fault| fail(fault.to_string()))?;
        let mut scan = Scan::new(header, false);
        let mut at = 1;
        'scan: while at < source.block_count() {
            let count = SCAN_BLOCKS.min(source.block_count() - at);
            let bytes = source.read(at, count).map_err(&fail)?;
            for block in bytes.chunks_exact(BLOCK_LEN) {
                if scan.push(block) == ScanStep::End {
                    break 'scan;
                }
            }
            at += count;
        }
        let scanned = scan.finish();
        let block_count = scanned.end_block;
        warnings.extend(scanned.faults.iter().map(|fault| format!("{label}: {fault}")));
        let mut writer = Writer::resume(scanned, 0).map_err(|fault| fail(fault.to_string()))?;
        let mut view = View::new();
        let mut series = Vec::new();
        for index in (0..writer.series_count()).map(SeriesIndex) {
            let Some(root) = writer.root(index, &mut view) else { continue };
            let Some((name, kind, unit)) = writer.series(index) else { continue };
            series.push(Found { name: name.clone(), kind, unit: unit.to_owned(), root });
        }
        series.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self {
            header,
            block_count,
            warnings,
            source: Some(source),
            content: Content::Scanned { series, view },
        })
    }

    /// Its id.
    pub fn id(&self) -> SegmentId {
        self.header.id
    }

    /// Whether it was opened by its footer.
    pub fn is_sealed(&self) -> bool {
        matches!(self.content, Content::Sealed { .. })
    }

    /// Whether it was read block by block.
    pub fn is_scanned(&self) -> bool {
        matches!(self.content, Content::Scanned { .. })
    }

    /// The sealed segment, if it is one.
    pub fn as_sealed(&self) -> Option<&Sealed> {
        match &self.content {
            Content::Sealed { sealed, .. } => Some(sealed),
            _ => None,
        }
    }

    /// Where its blocks come from; `None` where all are in memory.
    pub fn source(&self) -> Option<&Arc<dyn BlockSource>> {
        self.source.as_ref()
    }

    /// The blocks of its tail that are at hand, to be kept for the next question.
    pub fn into_tail(self) -> Option<BlockMap> {
        match self.content {
            Content::Sealed { tail, .. } if tail.len() <= TAIL_BLOCKS_MAX => Some(tail),
            _ => None,
        }
    }

    /// The series that `selector` means, in the order of names. Where the tail turns out to be damaged
    /// the file is read block by block from then on.
    pub(super) fn select(&mut self, selector: &ParsedSelector) -> Result<Vec<Found>, OpenError> {
        let fault = match &mut self.content {
            Content::Sealed { sealed, tail } => {
                let Some(source) = &self.source else { return Ok(Vec::new()) };
                let selected = supply(&**source, tail, |blocks| {
                    sealed.select(blocks, &selector.selector, &selector.patterns)
                });
                match selected {
                    Ok(entries) => {
                        return Ok(entries
                            .into_iter()
                            .map(|(entry, root)| Found {
                                name: entry.name,
                                kind: entry.kind,
                                unit: entry.unit,
                                root,
                            })
                            .collect());
                    }
                    Err(fault) => fault,
                }
            }
            Content::Scanned { series, .. } => {
                let wanted =
                    |found: &&Found| selector.selector.matches(found.name.name_ref(), &selector.patterns);
                return Ok(series.iter().filter(wanted).cloned().collect());
            }
            Content::Live(live) => {
                return Ok(live
                    .series
                    .iter()
                    .map(|series| Found {
                        name: series.name.clone(),
                        kind: series.kind,
                        unit: series.unit.clone(),
                        root: series.root,
                    })
                    .collect());
            }
        };
        let Some(source) = self.source.clone() else { return Ok(Vec::new()) };
        let words = match &fault {
            Ok(fault) => fault.to_string(),
            Err(words) => words.clone(),
        };
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.push(format!("{}: {words}; it is read block by block", source.label()));
        *self = Self::scan(source, warnings)?;
        self.select(selector)
    }

    /// The blocks `first..first + count`: from memory where they are virtual, else from the source.
    pub(super) fn read(&self, first: u32, count: u32) -> Result<Vec<u8>, String> {
        if self.memory(first).is_some() {
            let mut bytes = Vec::with_capacity(count as usize * BLOCK_LEN);
            for block in first..first.saturating_add(count) {
                match self.memory(block) {
                    Some(block) => bytes.extend_from_slice(block),
                    None => break,
                }
            }
            return Ok(bytes);
        }
        match &self.source {
            Some(source) => source.read(first, count),
            None => Err(format!("block {first} is not in memory")),
        }
    }

    fn memory(&self, block: u32) -> Option<&Block> {
        match &self.content {
            Content::Sealed { .. } => None,
            Content::Scanned { view, .. } => view.block(block),
            Content::Live(live) => live.block(block),
        }
    }
}

/// Asks a reader of core until it has the blocks that it needs.
///
/// The outer error is the reader's word on the file, `Err` inside it the source's.
pub(super) fn supply<T>(
    source: &dyn BlockSource,
    blocks: &mut BlockMap,
    ask: impl Fn(&BlockMap) -> Result<Answer<T>, SegmentError>,
) -> Result<T, Result<SegmentError, String>> {
    for _ in 0..ROUNDS_MAX {
        match ask(blocks).map_err(Ok)? {
            Answer::Ready(answer) => return Ok(answer),
            Answer::Need(ranges) => {
                for range in ranges {
                    let bytes =
                        source.read(range.start, range.end.saturating_sub(range.start)).map_err(Err)?;
                    if bytes.is_empty() {
                        return Err(Ok(SegmentError::Truncated));
                    }
                    blocks.insert(range.start, &bytes);
                }
            }
        }
    }
    Err(Err("the file asks for blocks without end".to_owned()))
}
