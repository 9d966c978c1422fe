//! One name or quoted value as it stands in a text, read without a heap.
//!
//! A `Text` borrows the characters between the quotes, escapes and all; its escapes were checked when
//! it was cut out, so reading it can't fail. Order of characters is order of UTF-8 bytes, so texts
//! compare by bytes without being unescaped.

use core::cmp::Ordering;
use core::str::Chars;

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;

/// A piece of a name: its characters, perhaps with escapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    body: &'a str,
    escaped: bool,
}

impl<'a> Text<'a> {
    /// Characters that stand for themselves.
    pub(super) const fn plain(body: &'a str) -> Self {
        Self { body, escaped: false }
    }

    /// Characters in which checked escapes may stand.
    pub(super) const fn escaped(body: &'a str) -> Self {
        Self { body, escaped: true }
    }

    pub(super) const fn is_empty(self) -> bool {
        self.body.is_empty()
    }

    /// The characters meant.
    pub(super) fn chars(self) -> Unescaped<'a> {
        Unescaped { chars: self.body.chars(), escaped: self.escaped }
    }

    /// Whether the characters meant are those of `other`.
    pub(super) fn is(self, other: &str) -> bool {
        if self.escaped && self.body.contains('\\') {
            self.chars().eq(other.chars())
        } else {
            self.body == other
        }
    }

    /// Order by the bytes of the characters meant.
    pub(super) fn compare(self, other: Self) -> Ordering {
        self.chars().cmp(other.chars())
    }

    /// The characters meant, borrowed where nothing is escaped.
    #[cfg(feature = "alloc")]
    pub(super) fn to_cow(self) -> Cow<'a, str> {
        if self.escaped && self.body.contains('\\') {
            Cow::Owned(self.chars().collect())
        } else {
            Cow::Borrowed(self.body)
        }
    }
}

/// The characters that an escaped text means.
#[derive(Clone, Debug)]
pub(super) struct Unescaped<'a> {
    chars: Chars<'a>,
    escaped: bool,
}

impl Iterator for Unescaped<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let first = self.chars.next()?;
        if first != '\\' || !self.escaped {
            return Some(first);
        }
        let second = self.chars.next()?;
        Some(unescape(second).unwrap_or(second))
    }
}

/// The character that a backslash and `letter` stand for.
pub(super) const fn unescape(letter: char) -> Option<char> {
    match letter {
        '\\' | '"' | '\'' => Some(letter),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        _ => None,
    }
}
