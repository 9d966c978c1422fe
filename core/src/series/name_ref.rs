//! A borrowed series name: canonical text whose parts are read in place.
//!
//! Holds only text that passed [`is_canonical`], so its readers can't fail.

use super::canonical::is_canonical;
use super::error::NameError;
#[cfg(feature = "alloc")]
use super::grammar::{Key, Terms};
#[cfg(feature = "alloc")]
use super::text::Text;
#[cfg(feature = "alloc")]
use alloc::borrow::Cow;

/// Canonical text of a series name, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameRef<'a> {
    text: &'a str,
}

impl<'a> NameRef<'a> {
    /// Borrows `text` as a name.
    ///
    /// # Errors
    ///
    /// As [`is_canonical`].
    pub fn new(text: &'a str) -> Result<Self, NameError> {
        is_canonical(text).map(|()| Self { text })
    }

    /// Borrows text that is canonical by construction.
    #[cfg(feature = "alloc")]
    pub(super) const fn trusted(text: &'a str) -> Self {
        Self { text }
    }

    /// The canonical text.
    pub const fn as_str(self) -> &'a str {
        self.text
    }

    /// The metric as it is written.
    #[cfg(feature = "alloc")]
    pub(super) fn metric_text(self) -> Text<'a> {
        match Terms::new(self.text).next() {
            Some(Ok(term)) => term.value,
            _ => Text::plain(""),
        }
    }

    /// The tags as they are written, in ascending order of their names.
    #[cfg(feature = "alloc")]
    pub(super) fn tag_texts(self) -> impl Iterator<Item = (Text<'a>, Text<'a>)> {
        Terms::new(self.text).flatten().filter_map(|term| match term.key {
            Key::Tag(name) => Some((name, term.value)),
            Key::Metric => None,
        })
    }

    /// The value of a tag as it is written; an empty text where the series has no such tag.
    #[cfg(feature = "alloc")]
    pub(super) fn tag_text(self, name: &str) -> Text<'a> {
        self.tag_texts().find(|(key, _)| key.is(name)).map_or(Text::plain(""), |(_, value)| value)
    }

    /// The metric name.
    #[cfg(feature = "alloc")]
    pub fn metric(self) -> Cow<'a, str> {
        self.metric_text().to_cow()
    }

    /// The tags in ascending order of their names.
    #[cfg(feature = "alloc")]
    pub fn tags(self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> {
        self.tag_texts().map(|(name, value)| (name.to_cow(), value.to_cow()))
    }

    /// The value of a tag; `None` where the series has no such tag.
    #[cfg(feature = "alloc")]
    pub fn tag(self, name: &str) -> Option<Cow<'a, str>> {
        Some(self.tag_text(name)).filter(|value| !value.is_empty()).map(Text::to_cow)
    }
}
