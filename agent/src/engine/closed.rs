//! A store that can't be opened for now: its files are read as they are, and it is said why.
//!
//! What is only in the journal is not seen, and every answer says so. Files are opened for each question:
//! the state is rare, and whoever is in it looks for the reason.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::shelves::TIME_LIMIT;
use crate::api::{ApiError, Code};
use crate::shelf::{FileSource, Member, Shelf, block_files};

/// A store without an engine.
pub(super) struct ClosedStore {
    root: PathBuf,
    problem: Mutex<Option<String>>,
}

impl ClosedStore {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), problem: Mutex::new(None) }
    }

    pub(super) fn set_problem(&self, problem: &str) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem.to_owned());
    }

    fn problem(&self) -> String {
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.clone().unwrap_or_else(|| "it is being opened".to_owned())
    }

    /// What somebody is told who needs the store itself.
    pub(super) fn refusal(&self) -> ApiError {
        let problem = self.problem();
        ApiError::new(Code::Unavailable, format!("the store is not open yet, because {problem}"))
    }

    /// What the files hold.
    ///
    /// # Errors
    ///
    /// Where they can't be listed.
    pub(super) fn shelf(&self) -> Result<Shelf, ApiError> {
        let mut shelf = Shelf::new().with_time_limit(TIME_LIMIT);
        let problem = self.problem();
        shelf.warn(format!(
            "the store is not open yet, because {problem}; what is in its journal only is missing"
        ));
        let files = block_files(&self.root.join("segments"));
        for path in files.map_err(|sentence| ApiError::new(Code::Damaged, sentence))? {
            let opened = FileSource::open(&path)
                .and_then(|source| Member::open(Arc::new(source)).map_err(|error| error.to_string()));
            match opened {
                Ok(member) => shelf.add(member),
                Err(sentence) => shelf.warn(sentence),
            }
        }
        Ok(shelf)
    }

    /// The health document.
    pub(super) fn health(&self) -> Value {
        json!({
            "status": "failing",
            "name": "Siltstone",
            "version": env!("CARGO_PKG_VERSION"),
            "store": { "directory": self.root.display().to_string(), "problem": self.problem() },
        })
    }
}
