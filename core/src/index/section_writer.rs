//! Writes the index section from the sorted names of a segment.
//!
//! Layout: `docs/format-index.md`, chapter 4. One pass over the names for the terms, one for the
//! sketch tables; memory is about that of the distinct terms.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::dictionary_writer::DictionaryWriter;
use super::error::BuildError;
use super::hash::{metric_key, tag_key};
use super::sketch::{Shape, SketchWriter};
use crate::series::NameRef;

/// Version of the index section.
pub const INDEX_VERSION: u16 = 1;
/// Class of the terms that are metric names.
pub(super) const METRIC_CLASS: u32 = 0;
/// Class of the terms that are tag names.
pub(super) const TAG_CLASS: u32 = 1;
/// Class of the values of the first tag name.
pub(super) const VALUE_CLASS: u32 = 2;
/// Bytes before the term dictionary.
pub(super) const SECTION_HEADER_BYTES: usize = 32;

/// Every distinct term of the names.
#[derive(Default)]
struct Terms<'a> {
    metrics: BTreeSet<Cow<'a, str>>,
    values_by_tag: BTreeMap<Cow<'a, str>, BTreeSet<Cow<'a, str>>>,
}

/// Writes the index of `names`, which stand in the order of the catalog.
///
/// # Errors
///
/// [`BuildError::TooMuch`] beyond 2^32 − 1 series or 4 GiB.
pub fn write_index<'a>(names: impl Iterator<Item = NameRef<'a>> + Clone) -> Result<Vec<u8>, BuildError> {
    let mut terms = Terms::default();
    for name in names.clone() {
        terms.metrics.insert(name.metric());
        for (tag, value) in name.tags() {
            terms.values_by_tag.entry(tag).or_default().insert(value);
        }
    }
    let values = terms.values_by_tag.values().map(BTreeSet::len).sum();
    let metric_shape = Shape::of_keys(terms.metrics.len());
    let tag_shape = Shape::of_keys(values);
    let mut metric_table = SketchWriter::new(metric_shape);
    let mut tag_table = SketchWriter::new(tag_shape);
    let mut series = 0_u32;
    for name in names {
        metric_table.push(metric_key(&name.metric()), series);
        for (tag, value) in name.tags() {
            tag_table.push(tag_key(&tag, &value), series);
        }
        series = series.checked_add(1).ok_or(BuildError::TooMuch)?;
    }
    let dictionary = write_terms(&terms)?;
    let (metric_table, tag_table) = (metric_table.finish()?, tag_table.finish()?);

    let length = |count: usize| u32::try_from(count).map_err(|_| BuildError::TooMuch);
    let mut out = Vec::new();
    for number in
        [series, length(terms.metrics.len())?, length(terms.values_by_tag.len())?, length(dictionary.len())?]
    {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&[metric_shape.rows, metric_shape.bits, tag_shape.rows, tag_shape.bits]);
    for number in [length(metric_table.len())?, length(tag_table.len())?, 0] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for part in [dictionary, metric_table, tag_table] {
        out.extend_from_slice(&part);
    }
    length(out.len())?;
    Ok(out)
}

fn write_terms(terms: &Terms<'_>) -> Result<Vec<u8>, BuildError> {
    let mut writer = DictionaryWriter::default();
    for metric in &terms.metrics {
        writer.push(&term(METRIC_CLASS, metric))?;
    }
    for tag in terms.values_by_tag.keys() {
        writer.push(&term(TAG_CLASS, tag))?;
    }
    for (class, values) in (VALUE_CLASS..).zip(terms.values_by_tag.values()) {
        for value in values {
            writer.push(&term(class, value))?;
        }
    }
    writer.finish()
}

/// The key of a term in the dictionary.
pub(super) fn term(class: u32, text: &str) -> Vec<u8> {
    let mut key = class.to_be_bytes().to_vec();
    key.extend_from_slice(text.as_bytes());
    key
}
