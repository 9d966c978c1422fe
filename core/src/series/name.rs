//! A series name that owns its canonical text.
//!
//! Equality, order and hash are those of the canonical text, which is the identity of a series
//! everywhere. A clone shares the text. Reading parts goes through [`NameRef`].

use alloc::borrow::Cow;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::canonical::{NAME_BYTES_MAX, Printer, check_operator};
use super::error::{NameError, NameReason};
use super::grammar::{Key, METRIC_KEY, Terms};
use super::name_ref::NameRef;
use super::text::Text;

/// Bytes of the longest spelling that is read; escapes and spaces may make it longer than the name.
const SPELLING_BYTES_MAX: usize = 4 * NAME_BYTES_MAX;

/// A metric name and tags, in canonical text form of at most [`NAME_BYTES_MAX`] bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesName {
    text: Arc<str>,
}

impl SeriesName {
    /// A name from its parts; tags in any order, those with an empty value are left out.
    ///
    /// # Errors
    ///
    /// An empty metric or tag name, a tag given twice, a tag named `__name__`, a name that is too
    /// long; the position is 0, since there is no text.
    pub fn new<'a>(
        metric: &str,
        tags: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, NameError> {
        let bad = |reason| NameError { at: 0, reason };
        let mut terms = Vec::new();
        for (name, value) in tags {
            if name.is_empty() {
                return Err(bad(NameReason::EmptyName));
            }
            if name == METRIC_KEY {
                return Err(bad(NameReason::ReservedTag));
            }
            terms.push((0, Text::plain(name), Text::plain(value)));
        }
        Self::build((0, Text::plain(metric)), terms)
    }

    /// A name from any spelling of it: spaces, any order of tags, any quotes, `__name__="metric"`.
    ///
    /// # Errors
    ///
    /// The byte and the reason where `text` is no series name.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.len() > SPELLING_BYTES_MAX {
            return Err(NameError { at: SPELLING_BYTES_MAX, reason: NameReason::TooLong });
        }
        let mut metric = None;
        let mut tags = Vec::new();
        for term in Terms::new(text) {
            let term = term?;
            check_operator(term.at, term.operator)?;
            match term.key {
                Key::Tag(name) => tags.push((term.at, name, term.value)),
                Key::Metric if metric.is_some() => {
                    return Err(NameError { at: term.at, reason: NameReason::SecondMetric });
                }
                Key::Metric => metric = Some((term.at, term.value)),
            }
        }
        let metric = metric.ok_or(NameError { at: 0, reason: NameReason::NoMetric })?;
        Self::build(metric, tags)
    }

    fn build(
        (metric_at, metric): (usize, Text<'_>),
        mut tags: Vec<(usize, Text<'_>, Text<'_>)>,
    ) -> Result<Self, NameError> {
        if metric.is_empty() {
            return Err(NameError { at: metric_at, reason: NameReason::EmptyName });
        }
        tags.sort_by(|(_, a, _), (_, b, _)| a.compare(*b));
        for pair in tags.windows(2) {
            if let [(_, a, _), (at, b, _)] = pair
                && a.compare(*b).is_eq()
            {
                return Err(NameError { at: *at, reason: NameReason::DuplicateTag });
            }
        }
        let print = || {
            let mut printer = Printer::begin(String::new(), metric)?;
            for (_, name, value) in tags.iter().filter(|(_, _, value)| !value.is_empty()) {
                printer.tag(*name, *value)?;
            }
            printer.finish()
        };
        let text: String = print().unwrap_or_default();
        if text.len() > NAME_BYTES_MAX {
            return Err(NameError { at: 0, reason: NameReason::TooLong });
        }
        Ok(Self { text: text.into() })
    }

    /// A name from text that must already be canonical, as stored files hold it.
    ///
    /// # Errors
    ///
    /// As [`super::is_canonical`].
    pub fn from_canonical(text: &str) -> Result<Self, NameError> {
        NameRef::new(text).map(Into::into)
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The name, borrowed.
    pub fn name_ref(&self) -> NameRef<'_> {
        NameRef::trusted(&self.text)
    }

    /// The metric name.
    pub fn metric(&self) -> Cow<'_, str> {
        self.name_ref().metric()
    }

    /// The tags in ascending order of their names.
    pub fn tags(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        self.name_ref().tags()
    }

    /// The value of a tag; `None` where the series has no such tag.
    pub fn tag(&self, name: &str) -> Option<Cow<'_, str>> {
        self.name_ref().tag(name)
    }
}

impl From<NameRef<'_>> for SeriesName {
    fn from(name: NameRef<'_>) -> Self {
        Self { text: name.as_str().into() }
    }
}

impl<'a> From<&'a SeriesName> for NameRef<'a> {
    fn from(name: &'a SeriesName) -> Self {
        name.name_ref()
    }
}

impl fmt::Display for SeriesName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl fmt::Debug for SeriesName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SeriesName({})", self.text)
    }
}

impl core::borrow::Borrow<str> for SeriesName {
    fn borrow(&self) -> &str {
        &self.text
    }
}
