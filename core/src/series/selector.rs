//! A selector: which series are meant, by matchers on the metric and on tags.
//!
//! ```text
//! temperature                              one metric, whatever its tags
//! temperature{room="a",device!="x"}        and conditions on tags
//! {"soil moisture",room=~"a|b"}            a metric that needs quotes
//! {__name__=~"temp.*"}                     a condition on the metric
//! {}                                       every series
//! ```
//!
//! All matchers must hold. A tag that a series does not have counts as the empty text. A pattern
//! must match the whole text, its `.` any character, as in Prometheus. Patterns that are plain
//! words joined by `|`, `.*` and `.+` are decided here; every other one is asked of a
//! [`RegexMatcher`], since the engine has no regular expressions of its own.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::error::{NameError, NameReason};
use super::grammar::{Key, METRIC_KEY, Operator, Terms};
use super::name_ref::NameRef;
use super::text::Text;

/// Bytes of the longest selector that is read.
pub const SELECTOR_BYTES_MAX: usize = 65_536;

/// Regular expressions, lent by whoever runs the engine: the `regex` crate, the browser's own.
pub trait RegexMatcher {
    /// Whether `pattern` matches the whole of `text`, as `^(?s:pattern)$` does.
    ///
    /// A pattern that is no regular expression matches nothing; an implementation should have
    /// refused it before the query began, by trying each of [`Selector::patterns`].
    fn is_match(&self, pattern: &str, text: &str) -> bool;
}

/// The matcher of places that have no regular expressions: no pattern matches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRegex;

impl RegexMatcher for NoRegex {
    fn is_match(&self, _pattern: &str, _text: &str) -> bool {
        false
    }
}

/// One condition of a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matcher {
    /// The tag compared; `None` for the metric.
    pub tag: Option<String>,
    /// How.
    pub operator: Operator,
    /// The text or pattern it is compared with.
    pub value: String,
    pattern: Pattern,
}

/// A pattern, as far as it can be decided without regular expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// Any text.
    Any,
    /// Any text but the empty one.
    NotEmpty,
    /// One of the words.
    Words(Vec<String>),
    /// Whatever the lent matcher says.
    Regex,
}

impl Pattern {
    fn new(pattern: &str) -> Self {
        match pattern {
            ".*" => Self::Any,
            ".+" => Self::NotEmpty,
            _ if pattern.contains(['\\', '.', '+', '*', '?', '(', ')', '[', ']', '{', '}', '^', '$']) => {
                Self::Regex
            }
            _ => Self::Words(pattern.split('|').map(String::from).collect()),
        }
    }
}

impl Matcher {
    fn new(key: Key<'_>, operator: Operator, value: Text<'_>) -> Self {
        let tag = match key {
            Key::Metric => None,
            Key::Tag(name) => Some(name.to_cow().into_owned()),
        };
        let value = value.to_cow().into_owned();
        let pattern = match operator {
            Operator::Equal | Operator::NotEqual => Pattern::Words(alloc::vec![value.clone()]),
            Operator::Match | Operator::NotMatch => Pattern::new(&value),
        };
        Self { tag, operator, value, pattern }
    }

    /// Whether the condition holds where it is not negated.
    const fn is_positive(&self) -> bool {
        matches!(self.operator, Operator::Equal | Operator::Match)
    }

    /// The words of which one must be the text; `None` where the condition is no such list or is
    /// met by a missing tag, so that an index of words can't answer it.
    pub fn required_words(&self) -> Option<&[String]> {
        match &self.pattern {
            Pattern::Words(words) if self.is_positive() && !words.iter().any(String::is_empty) => Some(words),
            _ => None,
        }
    }

    fn holds(&self, text: Text<'_>, regex: &(impl RegexMatcher + ?Sized)) -> bool {
        let met = match &self.pattern {
            Pattern::Any => true,
            Pattern::NotEmpty => !text.is_empty(),
            Pattern::Words(words) => words.iter().any(|word| text.is(word)),
            Pattern::Regex => regex.is_match(&self.value, &text.to_cow()),
        };
        met == self.is_positive()
    }

    /// Whether the condition holds for `name`.
    pub fn matches(&self, name: NameRef<'_>, regex: &(impl RegexMatcher + ?Sized)) -> bool {
        match &self.tag {
            None => self.holds(name.metric_text(), regex),
            Some(tag) => self.holds(name.tag_text(tag), regex),
        }
    }
}

/// Conditions that a series must meet, all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    matchers: Vec<Matcher>,
}

impl Selector {
    /// Reads a selector.
    ///
    /// # Errors
    ///
    /// The byte and the reason where `text` is none.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.len() > SELECTOR_BYTES_MAX {
            return Err(NameError { at: SELECTOR_BYTES_MAX, reason: NameReason::TooLong });
        }
        let mut matchers: Vec<Matcher> = Vec::new();
        for term in Terms::new(text) {
            let term = term?;
            let is_second = matches!(term.key, Key::Metric)
                && term.operator == Operator::Equal
                && matchers.iter().any(|first| first.tag.is_none() && first.operator == Operator::Equal);
            if is_second {
                return Err(NameError { at: term.at, reason: NameReason::SecondMetric });
            }
            matchers.push(Matcher::new(term.key, term.operator, term.value));
        }
        Ok(Self { matchers })
    }

    /// The selector of exactly the series that has this name and no further tag.
    ///
    /// It also selects series with more tags, which the caller tells apart by the name.
    pub fn of_name(name: NameRef<'_>) -> Self {
        let metric = Matcher::new(Key::Metric, Operator::Equal, name.metric_text());
        let tags = name.tag_texts().map(|(tag, value)| Matcher::new(Key::Tag(tag), Operator::Equal, value));
        Self { matchers: core::iter::once(metric).chain(tags).collect() }
    }

    /// The conditions in the order they were written.
    pub fn matchers(&self) -> &[Matcher] {
        &self.matchers
    }

    /// The patterns that a [`RegexMatcher`] will be asked about.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.matchers.iter().filter(|matcher| matcher.pattern == Pattern::Regex).map(|m| m.value.as_str())
    }

    /// Whether every condition holds for `name`.
    pub fn matches<'a>(&self, name: impl Into<NameRef<'a>>, regex: &(impl RegexMatcher + ?Sized)) -> bool {
        let name = name.into();
        self.matchers.iter().all(|matcher| matcher.matches(name, regex))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("{")?;
        for (position, matcher) in self.matchers.iter().enumerate() {
            if position > 0 {
                out.write_str(",")?;
            }
            write_quoted(out, matcher.tag.as_deref().unwrap_or(METRIC_KEY))?;
            out.write_str(match matcher.operator {
                Operator::Equal => "=",
                Operator::NotEqual => "!=",
                Operator::Match => "=~",
                Operator::NotMatch => "!~",
            })?;
            write_quoted(out, &matcher.value)?;
        }
        out.write_str("}")
    }
}

fn write_quoted(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    super::canonical::write_quoted(out, Text::plain(text))
}
