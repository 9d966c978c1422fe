//! An open segment, sealed or not: what it is, which series it has, which of its blocks are at hand.
//!
//! The one form in which segments are asked. A sealed one answers from its tail, of which it keeps what was
//! fetched; an unsealed one knows its series.

use super::blocks::{Answer, BlockMap, Blocks};
use super::error::SegmentError;
use super::header::SegmentHeader;
use super::reader::{Sealed, Suggest};
use super::unsealed::{SegmentSeries, Unsealed};
use crate::block::Block;
use crate::index::CatalogEntry;
use crate::point::TimeRange;
use crate::series::{RegexMatcher, Selector, SeriesName};
use crate::tree::Reference;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// An open segment.
#[derive(Clone, Debug)]
pub enum Opened {
    /// With a footer.
    Sealed {
        /// What its footer says.
        sealed: Box<Sealed>,
        /// Blocks at hand: those that opening took, and those that were fed.
        blocks: BlockMap,
    },
    /// Without one.
    Unsealed(Box<Unsealed>),
}

impl Opened {
    /// What it is.
    pub fn header(&self) -> &SegmentHeader {
        match self {
            Self::Sealed { sealed, .. } => sealed.header(),
            Self::Unsealed(unsealed) => &unsealed.header,
        }
    }

    /// Blocks that count.
    pub fn block_count(&self) -> u32 {
        match self {
            Self::Sealed { sealed, .. } => sealed.block_count(),
            Self::Unsealed(unsealed) => unsealed.block_count,
        }
    }

    /// From its first row to behind its last; `None` without rows.
    pub fn span(&self) -> Option<TimeRange> {
        match self {
            Self::Sealed { sealed, .. } => Some(sealed.footer().span).filter(|span| !span.is_empty()),
            Self::Unsealed(unsealed) => {
                let references = unsealed.series.iter().flat_map(|series| &series.references);
                TimeRange::hull(references.map(|reference| reference.summary.span()))
            }
        }
    }

    /// A block that is at hand.
    pub fn block(&self, number: u32) -> Option<&Block> {
        match self {
            Self::Sealed { blocks, .. } => blocks.block(number),
            Self::Unsealed(unsealed) => unsealed.block(number),
        }
    }

    /// Takes blocks of the tail that were needed: whole ones, the first as `block`.
    pub fn feed(&mut self, block: u32, bytes: &[u8]) {
        if let Self::Sealed { blocks, .. } = self {
            blocks.insert(block, bytes);
        }
    }

    /// The series that `selector` means, without what names their rows.
    ///
    /// # Errors
    /// What is wrong with the tail.
    pub fn list(
        &self,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Answer<Vec<SegmentSeries>>, SegmentError> {
        match self {
            Self::Sealed { sealed, blocks } => Ok(match sealed.series(blocks, selector, regex)? {
                Answer::Need(need) => Answer::Need(need),
                Answer::Ready(entries) => {
                    Answer::Ready(entries.into_iter().map(|entry| of_entry(entry, Vec::new())).collect())
                }
            }),
            Self::Unsealed(unsealed) => Ok(Answer::Ready(
                meant(unsealed, selector, regex)
                    .map(|series| SegmentSeries {
                        name: series.name.clone(),
                        kind: series.kind,
                        unit: series.unit.clone(),
                        references: Vec::new(),
                    })
                    .collect(),
            )),
        }
    }

    /// The series that `selector` means, each with what names its rows.
    ///
    /// # Errors
    /// What is wrong with the tail.
    pub fn select(
        &self,
        selector: &Selector,
        regex: &(impl RegexMatcher + ?Sized),
    ) -> Result<Answer<Vec<SegmentSeries>>, SegmentError> {
        match self {
            Self::Sealed { sealed, blocks } => Ok(match sealed.select(blocks, selector, regex)? {
                Answer::Need(need) => Answer::Need(need),
                Answer::Ready(found) => {
                    Answer::Ready(found.into_iter().map(|(entry, roots)| of_entry(entry, roots)).collect())
                }
            }),
            Self::Unsealed(unsealed) => {
                Ok(Answer::Ready(meant(unsealed, selector, regex).cloned().collect()))
            }
        }
    }

    /// Names or values that begin with `prefix`; of a sealed segment the first `limit`.
    ///
    /// # Errors
    /// What is wrong with the tail.
    pub fn suggest(
        &self,
        what: Suggest<'_>,
        prefix: &str,
        limit: usize,
    ) -> Result<Answer<Vec<String>>, SegmentError> {
        match self {
            Self::Sealed { sealed, blocks } => sealed.suggest(blocks, what, prefix, limit),
            Self::Unsealed(unsealed) => {
                let mut words = BTreeSet::new();
                unsealed.series.iter().for_each(|series| suggest_of(&series.name, what, prefix, &mut words));
                Ok(Answer::Ready(words.into_iter().collect()))
            }
        }
    }
}

fn of_entry(entry: CatalogEntry, references: Vec<Reference>) -> SegmentSeries {
    SegmentSeries { name: entry.name, kind: entry.kind, unit: entry.unit, references }
}

fn meant<'a>(
    unsealed: &'a Unsealed,
    selector: &'a Selector,
    regex: &'a (impl RegexMatcher + ?Sized),
) -> impl Iterator<Item = &'a SegmentSeries> {
    unsealed.series.iter().filter(|series| selector.matches(series.name.name_ref(), regex))
}

fn suggest_of(name: &SeriesName, what: Suggest<'_>, prefix: &str, words: &mut BTreeSet<String>) {
    let mut put = |word: &str| {
        if word.starts_with(prefix) {
            words.insert(String::from(word));
        }
    };
    match what {
        Suggest::Metric => put(&name.metric()),
        Suggest::Tag => name.tags().for_each(|(tag, _)| put(&tag)),
        Suggest::Value(wanted) => {
            if let Some(value) = name.tag(wanted) {
                put(&value);
            }
        }
    }
}
