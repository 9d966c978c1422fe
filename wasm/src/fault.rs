//! What went wrong, with the cause by which the page tells failures apart.
//!
//! Crosses to JavaScript as one text, `cause: sentence` or `cause@device: sentence`; the causes are those of the page's
//! `source/errors.ts`.

use std::fmt;

use siltstone_core::query::QuestionError;
use siltstone_core::segment::SegmentError;
use siltstone_core::series::NameError;

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) cause: &'static str,
    /// The device whose segment is meant, where one is.
    pub(crate) device: Option<u32>,
    pub(crate) text: String,
}

impl Fault {
    /// A failure that concerns no device, or the one the caller knows.
    pub(crate) fn new(cause: &'static str, text: impl fmt::Display) -> Self {
        Self { cause, device: None, text: text.to_string() }
    }

    /// A request that makes no sense.
    pub(crate) fn request(text: impl fmt::Display) -> Self {
        Self::new("bad-request", text)
    }

    /// A fault of the page or of this engine.
    pub(crate) fn internal(text: &str) -> Self {
        Self::new("internal", text)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.cause)?;
        if let Some(device) = self.device {
            write!(out, "@{device}")?;
        }
        write!(out, ": {}", self.text)
    }
}

impl From<SegmentError> for Fault {
    fn from(error: SegmentError) -> Self {
        let cause = match error {
            SegmentError::NotASegment | SegmentError::BlockSize(_) => "not-a-segment",
            SegmentError::FutureVersion(_) => "newer-format",
            SegmentError::Truncated => "truncated",
            SegmentError::Unsealed => "unsealed",
            _ => "bad-block",
        };
        Self::new(cause, error)
    }
}

impl From<NameError> for Fault {
    fn from(error: NameError) -> Self {
        Self::request(error)
    }
}

impl From<QuestionError> for Fault {
    fn from(error: QuestionError) -> Self {
        Self::request(error)
    }
}
