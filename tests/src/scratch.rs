//! A folder for one test. It goes when the test passes, and stays, with its place printed, when
//! the test fails.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder that lasts as long as this value.
pub struct Scratch(Option<TempDir>);

impl Scratch {
    /// An empty folder; `name` is part of its name.
    pub fn new(name: &str) -> Self {
        let folder = tempfile::Builder::new().prefix(&format!("siltstone-{name}-")).tempdir();
        Self(Some(folder.expect("a temporary folder can be made")))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.as_ref().expect("lives until drop").path()
    }

    /// A path inside.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(folder) = self.0.take()
        {
            eprintln!("kept for you: {}", folder.keep().display());
        }
    }
}
