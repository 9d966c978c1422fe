//! What can be wrong with a series name or a selector: a byte position and a reason.
//!
//! No text is allocated: the reason is a closed list and prints one sentence. Positions count bytes
//! of the text that was given.

use core::fmt;

/// Why a text is no series name or no selector, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameError {
    /// Byte of the given text at which the fault was seen; 0 where a name was built from parts.
    pub at: usize,
    /// What is wrong there.
    pub reason: NameReason,
}

/// The faults a series name or a selector can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameReason {
    /// The text holds nothing.
    Empty,
    /// The metric name is missing.
    NoMetric,
    /// A second metric name.
    SecondMetric,
    /// A metric name or a tag name of no characters.
    EmptyName,
    /// A tag that was given before.
    DuplicateTag,
    /// `__name__` is the metric and can't be a tag.
    ReservedTag,
    /// A name or a quoted text was expected.
    ExpectedName,
    /// `=` (or another operator of a selector) was expected.
    ExpectedOperator,
    /// Only `=` can stand in a series name.
    OperatorInName,
    /// A quoted text was expected.
    ExpectedQuoted,
    /// `,` or `}` was expected.
    ExpectedCommaOrBrace,
    /// A quoted text has no end.
    UnclosedQuote,
    /// A backslash before a character that can't be escaped.
    BadEscape,
    /// Something follows the end of the name.
    TrailingText,
    /// Longer than allowed.
    TooLong,
    /// A valid name, but not in its canonical spelling.
    NotCanonical,
}

impl NameReason {
    const fn sentence(self) -> &'static str {
        match self {
            Self::Empty => "the text is empty",
            Self::NoMetric => "the metric name is missing",
            Self::SecondMetric => "a second metric name",
            Self::EmptyName => "a name of no characters",
            Self::DuplicateTag => "the tag is given twice",
            Self::ReservedTag => "`__name__` is the metric and can't be a tag",
            Self::ExpectedName => "expected a name",
            Self::ExpectedOperator => "expected one of = != =~ !~",
            Self::OperatorInName => "a series name takes `=` only",
            Self::ExpectedQuoted => "expected a quoted text",
            Self::ExpectedCommaOrBrace => "expected `,` or `}`",
            Self::UnclosedQuote => "the quoted text has no end",
            Self::BadEscape => r#"unknown escape; known are \\ \" \' \n \r \t"#,
            Self::TrailingText => "text after the end of the name",
            Self::TooLong => "the text is too long",
            Self::NotCanonical => "the name is not in its canonical spelling",
        }
    }
}

impl fmt::Display for NameReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.sentence())
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at byte {}", self.reason, self.at)
    }
}

impl core::error::Error for NameError {}
