//! A segment without a footer as questions see it: its series with what names their rows, and blocks in memory.
//!
//! It comes of a scan, whose chunks stand side by side, or of a writer, whose open nodes and waiting rows become
//! virtual blocks. It is a copy: the writer may go on.

use super::blocks::{BlockMap, Blocks};
use super::error::SegmentError;
use super::header::SegmentHeader;
use super::scan::Scanned;
use super::view::View;
use super::writer::{FinishedBlock, Writer};
use crate::block::Block;
use crate::point::{TimeRange, ValueKind};
use crate::series::SeriesName;
use crate::tree::{Reference, Summary};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// A series in one segment.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentSeries {
    /// Its name.
    pub name: SeriesName,
    /// Kind of its first value.
    pub kind: ValueKind,
    /// Its unit, or empty.
    pub unit: String,
    /// What names its rows: one root, or chunks in the order of time.
    pub references: Vec<Reference>,
}

/// A segment that is being written, or that never got a footer; or points that are in no segment.
#[derive(Clone, Debug)]
pub struct Unsealed {
    /// What it is.
    pub header: SegmentHeader,
    /// Blocks of its file that count.
    pub block_count: u32,
    /// Its series.
    pub series: Vec<SegmentSeries>,
    /// Damage that a scan passed over.
    pub faults: Vec<SegmentError>,
    view: View,
    memory: BlockMap,
}

impl From<Scanned> for Unsealed {
    fn from(scanned: Scanned) -> Self {
        let mut own = vec![Vec::new(); scanned.definitions.len()];
        for reference in scanned.references {
            if let Some(own) = own.get_mut(reference.series as usize) {
                own.push(reference);
            }
        }
        let series = scanned.definitions.into_iter().zip(own).map(|(defined, references)| SegmentSeries {
            name: defined.name,
            kind: defined.kind,
            unit: String::from(&*defined.unit),
            references,
        });
        Self {
            header: scanned.header,
            block_count: scanned.end_block,
            series: series.collect(),
            faults: scanned.faults,
            view: View::new(),
            memory: BlockMap::new(),
        }
    }
}

impl Unsealed {
    /// What `writer` holds of those of `names` that have rows.
    pub fn of<'a>(writer: &mut Writer, names: impl Iterator<Item = &'a SeriesName>) -> Self {
        let (mut view, mut series) = (View::new(), Vec::new());
        for name in names {
            let Some(index) = writer.find(name) else { continue };
            let references = writer.look(index, &mut view);
            let Some((_, kind, unit)) = writer.series(index).filter(|_| !references.is_empty()) else {
                continue;
            };
            series.push(SegmentSeries { name: name.clone(), kind, unit: String::from(unit), references });
        }
        writer.end_view(&mut view);
        Self::written(writer, series, view)
    }

    /// Which of `names` have rows in `writer`, and from when to when: to be listed, not to be read.
    pub fn outline<'a>(writer: &Writer, names: impl Iterator<Item = &'a SeriesName>) -> Self {
        let series = names.filter_map(|name| {
            let index = writer.find(name)?;
            let (_, kind, unit) = writer.series(index)?;
            let TimeRange { begin, end } = writer.span_of(index.0)?;
            let summary = Summary { begin, end, ..Summary::EMPTY };
            let references = vec![Reference { summary, ..Writer::no_rows(index.0) }];
            Some(SegmentSeries { name: name.clone(), kind, unit: String::from(unit), references })
        });
        Self::written(writer, series.collect(), View::new())
    }

    fn written(writer: &Writer, series: Vec<SegmentSeries>, view: View) -> Self {
        let (header, block_count) = (*writer.header(), writer.block_count());
        Self { header, block_count, series, faults: Vec::new(), view, memory: BlockMap::new() }
    }

    /// Keeps blocks that are on no device.
    pub fn keep(&mut self, blocks: Vec<FinishedBlock>) {
        for block in blocks {
            self.memory.put(block.number, block.bytes);
        }
    }
}

impl Blocks for Unsealed {
    /// A block that is in memory; others are in the segment's file.
    fn block(&self, number: u32) -> Option<&Block> {
        self.view.block(number).or_else(|| self.memory.block(number))
    }
}
