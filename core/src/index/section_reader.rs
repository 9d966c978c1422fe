//! Reads the index section in place: candidates of a selector, completions of a prefix.
//!
//! Layout: `docs/format-index.md`, chapters 4 and 7. Candidates are a superset: names decide, and
//! `resolve` reads them. Total on any bytes.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::dictionary_reader::{Dictionary, for_each_key};
use super::error::IndexError;
use super::hash::{metric_key, tag_key};
use super::posting::Ranges;
use super::section_writer::{METRIC_CLASS, SECTION_HEADER_BYTES, TAG_CLASS, VALUE_CLASS, term};
use super::sketch::{Shape, Sketch, resolve};
use super::source::{Lookup, Round, Source, found};
use crate::block::get_u32;
use crate::series::Selector;

/// Words of one condition that are looked up; a condition of more is left to the names.
const WORDS_MAX: usize = 64;

/// A stored index: its directory of terms in memory, the rest read when asked for.
#[derive(Clone, Debug)]
pub struct Index {
    series: u32,
    metrics: u32,
    tags: u32,
    terms: Dictionary,
    metric_table: Sketch,
    tag_table: Sketch,
}

impl Index {
    /// Opens the index that stands at `section` of the stream.
    ///
    /// # Errors
    ///
    /// [`IndexError`] where the bytes are no index.
    pub fn open<S: Source + ?Sized>(source: &S, section: Range<u64>) -> Result<Lookup<Self>, IndexError> {
        let len = section.end.saturating_sub(section.start);
        let mut round = Round::new(source, section.clone());
        let header = round.get(0..SECTION_HEADER_BYTES as u64)?;
        if round.is_short() {
            let mut round = Round::new(source, section);
            round.get(0..len.min(Dictionary::OPENING_BYTES))?;
            return Ok(Lookup::Need(round.into_need()));
        }
        let number = |offset| get_u32(&header, offset);
        let byte = |offset: usize| header.get(offset).copied().ok_or(IndexError::Truncated);
        let part = |begin: u64, bytes: u32| {
            let end = begin.saturating_add(bytes.into());
            if end <= section.end { Ok(begin..end) } else { Err(IndexError::BadLayout) }
        };
        let terms = part(section.start.saturating_add(SECTION_HEADER_BYTES as u64), number(12)?)?;
        let metric_table = part(terms.end, number(20)?)?;
        let tag_table = part(metric_table.end, number(24)?)?;
        if tag_table.end != section.end || number(28)? != 0 {
            return Err(IndexError::BadLayout);
        }
        let series = number(0)?;
        let metric_shape = Shape::checked(byte(16)?, byte(17)?)?;
        let tag_shape = Shape::checked(byte(18)?, byte(19)?)?;
        let terms = found!(Dictionary::open(source, terms)?);
        let (metrics, tags) = (number(4)?, number(8)?);
        if metrics.checked_add(tags).is_none_or(|sum| sum > terms.entries()) {
            return Err(IndexError::BadLayout);
        }
        Ok(Lookup::Found(Self {
            series,
            metrics,
            tags,
            terms,
            metric_table: Sketch { section: metric_table, shape: metric_shape },
            tag_table: Sketch { section: tag_table, shape: tag_shape },
        }))
    }

    /// How many series are indexed.
    pub const fn len(&self) -> u32 {
        self.series
    }

    /// Whether none is.
    pub const fn is_empty(&self) -> bool {
        self.series == 0
    }

    /// Positions among which are all series that `selector` means.
    ///
    /// # Errors
    ///
    /// [`IndexError`] where a list is malformed.
    pub fn candidates<S: Source + ?Sized>(
        &self,
        source: &S,
        selector: &Selector,
    ) -> Result<Lookup<Ranges>, IndexError> {
        let mut metric_round = Round::new(source, self.metric_table.section.clone());
        let mut tag_round = Round::new(source, self.tag_table.section.clone());
        let mut cells = Vec::new();
        for (condition, matcher) in selector.matchers().iter().enumerate() {
            let Some(words) = matcher.required_words().filter(|words| words.len() <= WORDS_MAX) else {
                continue;
            };
            for (number, word) in words.iter().enumerate() {
                cells.append(&mut match &matcher.tag {
                    None => {
                        self.metric_table.cells(&mut metric_round, metric_key(word), (0, condition, number))
                    }
                    Some(tag) => {
                        self.tag_table.cells(&mut tag_round, tag_key(tag, word), (1, condition, number))
                    }
                }?);
            }
        }
        if metric_round.is_short() || tag_round.is_short() {
            let mut need = metric_round.into_need();
            need.append(&mut tag_round.into_need());
            return Ok(Lookup::Need(need));
        }
        resolve(source, [&self.metric_table, &self.tag_table], &cells, self.series)
    }

    /// The first `limit` metric names that begin with `prefix`, in order.
    ///
    /// # Errors
    ///
    /// [`IndexError`] where a group of terms is malformed.
    pub fn suggest_metrics<S: Source + ?Sized>(
        &self,
        source: &S,
        prefix: &str,
        limit: usize,
    ) -> Result<Lookup<Vec<String>>, IndexError> {
        self.complete(source, METRIC_CLASS, prefix, limit)
    }

    /// The first `limit` tag names that begin with `prefix`, in order.
    ///
    /// # Errors
    ///
    /// [`IndexError`] where a group of terms is malformed.
    pub fn suggest_tags<S: Source + ?Sized>(
        &self,
        source: &S,
        prefix: &str,
        limit: usize,
    ) -> Result<Lookup<Vec<String>>, IndexError> {
        self.complete(source, TAG_CLASS, prefix, limit)
    }

    /// The first `limit` values of `tag` that begin with `prefix`, in order.
    ///
    /// # Errors
    ///
    /// [`IndexError`] where a group of terms is malformed.
    pub fn suggest_values<S: Source + ?Sized>(
        &self,
        source: &S,
        tag: &str,
        prefix: &str,
        limit: usize,
    ) -> Result<Lookup<Vec<String>>, IndexError> {
        let found = found!(self.terms.find(source, &term(TAG_CLASS, tag))?);
        let Some(number) = found else { return Ok(Lookup::Found(Vec::new())) };
        let number = number.checked_sub(self.metrics).filter(|number| *number < self.tags);
        let class = number.and_then(|number| number.checked_add(VALUE_CLASS)).ok_or(IndexError::BadLayout)?;
        self.complete(source, class, prefix, limit)
    }

    fn complete<S: Source + ?Sized>(
        &self,
        source: &S,
        class: u32,
        prefix: &str,
        limit: usize,
    ) -> Result<Lookup<Vec<String>>, IndexError> {
        let prefix = term(class, prefix);
        let groups = found!(self.terms.groups_of_prefix(source, &prefix, limit)?);
        let mut texts = Vec::new();
        for_each_key(&groups, |_, key, _| {
            if key.starts_with(&prefix) && texts.len() < limit {
                let text = key.get(size_of_val(&class)..).unwrap_or_default();
                texts.push(core::str::from_utf8(text).map_err(|_| IndexError::BadName)?.into());
                return Ok(true);
            }
            Ok(key < prefix.as_slice())
        })?;
        Ok(Lookup::Found(texts))
    }
}
