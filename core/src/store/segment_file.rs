//! Segment files as the store finds them: where they are, whether they are sealed, which series they end.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::bad_block::read_block;
use super::device::{Device, Medium};
use super::version::is_intact;
use crate::block::{BLOCK_LEN, BlockError, SegmentId, peek};
use crate::point::ValueKind;
use crate::segment::{
    Answer, BlockMap, Blocks, Rooted, Scan, ScanStep, Scanned, Sealed, SegmentError, SegmentHeader,
    SegmentKind, SegmentNumber, Supersedes, Writer,
};
use crate::series::{NoRegex, Selector, SeriesName};

/// The directory of the segments.
pub(super) const DIRECTORY: &str = "segments";
/// The end of a segment's file name.
pub(super) const EXTENSION: &str = ".silt";
/// Times that a reader may ask for more blocks: far more than any question needs.
const ROUNDS_MAX: usize = 1_000;
/// Blocks read at once by a scan.
const SCAN_BLOCKS: u32 = 64;

/// What a segment file is to the store.
#[derive(Clone, Debug)]
pub enum SegmentState {
    /// Sealed, and its footer read.
    Sealed(Box<Sealed>),
    /// Being written.
    Open,
    /// Never sealed, or its end is damaged: read by a scan, and never written again.
    Unsealed,
}

/// A segment file.
#[derive(Clone, Debug)]
pub struct SegmentFile {
    /// Its path below the store's directory.
    pub path: String,
    /// What it is.
    pub header: SegmentHeader,
    /// Blocks that count: all of a sealed segment, those written of an open one.
    pub block_count: u32,
    /// Blocks that the file takes; of one that is being written its `OpenSegment` knows.
    pub file_blocks: u32,
    /// Sealed or not.
    pub state: SegmentState,
    /// What a merge took the place of, where this is its result.
    pub supersedes: Supersedes,
    /// The epoch in which the last block of a sealed segment was written.
    pub sealed_epoch: u32,
}

/// Name, kind, unit and last timestamp of a series.
pub(super) type LastTime = (SeriesName, ValueKind, String, i64);

/// A file as it was found, and whether its header is the copy; or why it is no segment that can be read.
pub(super) type Inspected = Result<(SegmentFile, bool), SegmentError>;

/// The name of a segment's file.
pub fn file_name(id: &SegmentId) -> String {
    let device: String = id.device.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{device}{:08x}{:08x}{EXTENSION}", id.epoch, id.number)
}

/// The path of a segment in the partition named `partition`.
pub(super) fn path(partition: &str, id: &SegmentId) -> String {
    format!("{DIRECTORY}/{partition}/{}", file_name(id))
}

impl SegmentFile {
    /// Whether it holds points in the order of their times.
    pub fn is_in_order(&self) -> bool {
        self.header.kind == SegmentKind::InOrder
    }

    /// Whether a merge put the rows of the segment `id` into this one.
    pub(super) fn takes_the_place_of(&self, id: &SegmentId) -> bool {
        self.header.id.device == id.device && self.supersedes.inputs.contains(&SegmentNumber::of(id))
    }

    /// Looks at the file `path` by its two ends; also says whether block 0 was damaged and the copy in
    /// block 1 served.
    ///
    /// # Errors
    /// Outer: the medium. Inner: why it is no segment that can be read.
    pub(super) fn inspect<M: Medium>(medium: &M, path: &str) -> Result<Option<Inspected>, M::Error> {
        let Some(device) = medium.open(path)? else { return Ok(None) };
        let block_count = device.block_count()?;
        let name = path.rsplit('/').next().unwrap_or_default().to_string();
        let path = path.to_string();
        let is_named = |header: &SegmentHeader| name == file_name(&header.id);
        let mut blocks = BlockMap::new();
        let mut sealed = ask(&device, &mut blocks, |blocks| Sealed::open(block_count, blocks))?;
        if let Err(fault @ (SegmentError::FutureVersion(_) | SegmentError::BlockSize(_))) = sealed {
            let mut first = vec![0; BLOCK_LEN];
            read_block(&device, 0, &mut first)?;
            if is_intact(&first) {
                return Ok(Some(Err(fault)));
            }
            sealed = Err(SegmentError::Block { block: 0, error: BlockError::Checksum });
        }
        if matches!(sealed, Err(SegmentError::Tail(_) | SegmentError::Block { block: 0, .. })) {
            // Block 0 may be that of another segment: then the footer is of the one that the file is named after.
            blocks.clear();
            blocks.insert(0, &[0xFF; BLOCK_LEN]);
            let again = ask(&device, &mut blocks, |blocks| Sealed::open(block_count, blocks))?;
            sealed = again.ok().filter(|again| is_named(again.header())).map_or(sealed, Ok);
        }
        let fault = match sealed {
            Ok(sealed) => {
                let header = *sealed.header();
                // A list that can't be read costs nothing: the inputs agree with the result on every point.
                let supersedes = ask(&device, &mut BlockMap::new(), |blocks| sealed.supersedes(blocks))?;
                let supersedes = supersedes.unwrap_or_default();
                let state = SegmentState::Sealed(Box::new(sealed));
                let file_blocks = block_count;
                let last = block_count.checked_sub(1).and_then(|last| blocks.block(last));
                let sealed_epoch =
                    last.and_then(|last| peek(last).ok()).map_or(0, |(last, _)| last.write_epoch);
                let file = Self { path, header, block_count, file_blocks, state, supersedes, sealed_epoch };
                return Ok(Some(Ok((file, false))));
            }
            Err(fault) => fault,
        };
        let mut bytes = vec![0; BLOCK_LEN];
        read_block(&device, 0, &mut bytes)?;
        let first = SegmentHeader::open(&bytes).ok();
        let mut header = first;
        if !first.as_ref().is_some_and(is_named) {
            read_block(&device, 1, &mut bytes)?;
            let copy = SegmentHeader::open_copy(&bytes).ok();
            header = copy.filter(|copy| first.is_none() || is_named(copy)).or(first);
        }
        let (state, supersedes) = (SegmentState::Unsealed, Supersedes::default());
        let (file_blocks, sealed_epoch) = (block_count, 0);
        let unsealed =
            |header| Self { path, header, block_count, file_blocks, state, supersedes, sealed_epoch };
        let is_copy = header != first;
        Ok(Some(header.map(|header| (unsealed(header), is_copy)).ok_or(fault)))
    }

    /// Name, kind, unit and last timestamp of each series; damage shortens the list.
    ///
    /// # Errors
    /// The medium.
    pub(super) fn last_times<D: Device>(&self, device: &D) -> Result<Vec<LastTime>, D::Error> {
        let SegmentState::Sealed(sealed) = &self.state else { return self.last_times_scanned(device) };
        let Ok(all) = Selector::parse("{}") else { return Ok(Vec::new()) };
        let found = ask(device, &mut BlockMap::new(), |blocks| sealed.select(blocks, &all, &NoRegex))?;
        let Ok(found) = found else { return self.last_times_scanned(device) };
        Ok(found.into_iter().filter_map(last_time).collect())
    }

    fn last_times_scanned<D: Device>(&self, device: &D) -> Result<Vec<LastTime>, D::Error> {
        let scanned = scan(device, self.header, self.block_count, None)?;
        let Ok(writer) = Writer::resume(scanned, 0) else { return Ok(Vec::new()) };
        let last_times = writer.series_with_rows().filter_map(|(_, name, kind, unit, span)| {
            let name = SeriesName::parse(name).ok()?;
            Some((name, kind, unit.to_string(), span.end.saturating_sub(1)))
        });
        Ok(last_times.collect())
    }
}

/// Where a series of a sealed segment ends; `None` where it has no rows.
pub(super) fn last_time((entry, roots): Rooted) -> Option<LastTime> {
    let root = roots.last().filter(|root| root.block > 0)?;
    Some((entry.name, entry.kind, entry.unit, root.summary.span().end.saturating_sub(1)))
}

/// Scans an unsealed segment. With `trusted` blocks known to be flushed, damage below them is passed over
/// and noted, and whatever is wrong behind them ends the scan; without, damage is passed over everywhere.
///
/// # Errors
/// The medium; a bad block is damage.
pub(super) fn scan<D: Device>(
    device: &D,
    header: SegmentHeader,
    block_count: u32,
    trusted: Option<u32>,
) -> Result<Scanned, D::Error> {
    let mut scan = Scan::new(header, trusted.is_some()).with_trusted(trusted.unwrap_or(0));
    let mut first = 1;
    let mut buffer = vec![0; SCAN_BLOCKS.min(block_count) as usize * BLOCK_LEN];
    while first < block_count {
        let count = SCAN_BLOCKS.min(block_count - first);
        let bytes = &mut buffer[..count as usize * BLOCK_LEN];
        let is_read = device.read(first, bytes).is_ok();
        for (block, bytes) in (first..).zip(bytes.chunks_exact_mut(BLOCK_LEN)) {
            if !is_read {
                read_block(device, block, bytes)?;
            }
            if scan.push(bytes) == ScanStep::End {
                return Ok(scan.finish());
            }
        }
        first += count;
    }
    Ok(scan.finish())
}

/// Asks a reader until it has the blocks it needs; a bad one is given as no valid block.
///
/// # Errors
/// Outer: the medium. Inner: what the reader says.
pub(super) fn ask<D: Device, T>(
    device: &D,
    blocks: &mut BlockMap,
    mut question: impl FnMut(&BlockMap) -> Result<Answer<T>, SegmentError>,
) -> Result<Result<T, SegmentError>, D::Error> {
    for _ in 0..ROUNDS_MAX {
        let need = match question(blocks) {
            Ok(Answer::Ready(answer)) => return Ok(Ok(answer)),
            Ok(Answer::Need(need)) => need,
            Err(error) => return Ok(Err(error)),
        };
        for range in need {
            let mut bytes = vec![0; BLOCK_LEN];
            for block in range {
                read_block(device, block, &mut bytes)?;
                blocks.insert(block, &bytes);
            }
        }
    }
    Ok(Err(SegmentError::Truncated))
}
