//! How far the scrub got: kept in `state/scrub.json`, so that it goes on after a restart.
//!
//! A file that can't be read costs a round that begins anew and nothing else.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::replace_file;

/// A file with faults, as the last look at it found it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DamagedFile {
    /// Its path inside the store.
    pub(crate) path: String,
    /// How many faults.
    pub(crate) faults: u64,
    /// The first of them.
    pub(crate) first: String,
}

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Ledger {
    /// When the round under way, or the last one, began; nanoseconds. 0 before the first.
    pub(crate) round_began_ns: i64,
    /// Whether that round is over.
    pub(crate) is_round_over: bool,
    /// The file of the round that was looked at last; the others follow in the order of names.
    pub(crate) last_file: String,
    /// Files looked at in this round.
    pub(crate) files: u64,
    /// Bytes read in this round.
    pub(crate) bytes: u64,
    /// What is known to be damaged.
    pub(crate) damaged: Vec<DamagedFile>,
    #[serde(skip)]
    path: PathBuf,
}

/// Damaged files that are listed at most.
const DAMAGED_MAX: usize = 100;

impl Ledger {
    /// What `state/scrub.json` says, or a fresh one.
    pub(crate) fn open(state: &Path) -> Self {
        let path = state.join("scrub.json");
        let stored = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self { path, ..stored.unwrap_or_default() }
    }

    /// Writes it; a failure costs progress and is not worth more than a line in the log.
    pub(crate) fn keep(&self) {
        let Ok(bytes) = serde_json::to_vec_pretty(self) else { return };
        if let Err(error) = replace_file(&self.path, &bytes) {
            tracing::warn!("{}: can't keep how far the scrub got: {error}", self.path.display());
        }
    }

    /// Notes a file that was looked at.
    pub(crate) fn looked_at(&mut self, path: &str, bytes: u64, faults: u64, first: Option<String>) {
        path.clone_into(&mut self.last_file);
        self.files += 1;
        self.bytes += bytes;
        self.damaged.retain(|known| known.path != path);
        if let Some(first) = first
            && self.damaged.len() < DAMAGED_MAX
        {
            self.damaged.push(DamagedFile { path: path.to_owned(), faults, first });
        }
    }
}
