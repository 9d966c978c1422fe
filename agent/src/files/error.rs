//! What the system said, and about which file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A failed operation on a file or directory.
#[derive(Debug)]
pub struct FileError {
    /// What was tried, as the middle of a sentence: "read", "make durable".
    pub action: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// The system's answer.
    pub source: io::Error,
}

impl FileError {
    pub(super) fn new(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self { action, path: path.to_owned(), source: source.into() }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't {} {}: {}", self.action, self.path.display(), self.source)
    }
}

/// Whether the system's answer may be another one later: the disk is full, read-only, or failing.
pub fn may_pass(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
        || rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::IO)
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
