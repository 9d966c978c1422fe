//! What was wrong with a request, and whose fault it was.
//!
//! Few codes, chosen by what the asker should do: mend the request, look elsewhere, come back
//! later, or report it.

use std::fmt;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The request can't be understood; mend it.
    BadRequest,
    /// There is no such thing.
    NotFound,
    /// The request asks for more than is given at once.
    TooLarge,
    /// Not now; come back.
    Busy,
    /// The disk takes nothing for now: `/api/health` says why; come back once that is mended.
    Unavailable,
    /// Stored data can't be read; `siltstone verify` says which.
    Damaged,
    /// The agent's fault.
    Internal,
}

impl Code {
    /// The word in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::NotFound => "not_found",
            Self::TooLarge => "too_large",
            Self::Busy => "busy",
            Self::Unavailable => "unavailable",
            Self::Damaged => "damaged",
            Self::Internal => "internal",
        }
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::NotFound => 404,
            Self::TooLarge => 413,
            Self::Busy | Self::Unavailable => 503,
            Self::Damaged | Self::Internal => 500,
        }
    }
}

/// An error of the API: a code, one sentence, and the byte of the text that is meant, if one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The kind.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// The byte in the text that was wrong (the selector, for one that can't be read).
    pub at: Option<usize>,
}

impl ApiError {
    /// An error without a place.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into().replace('\n', " "), at: None }
    }

    /// A request that must be mended.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, message)
    }

    /// The same, with its place.
    #[must_use]
    pub fn at(mut self, byte: usize) -> Self {
        self.at = Some(byte);
        self
    }

    /// The document of the API.
    pub fn to_json(&self) -> String {
        let mut error = serde_json::json!({ "code": self.code.name(), "message": self.message });
        if let (Some(at), Some(fields)) = (self.at, error.as_object_mut()) {
            fields.insert("at".to_owned(), at.into());
        }
        serde_json::json!({ "error": error }).to_string()
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.at {
            Some(at) => write!(f, " (at byte {at})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ApiError {}
