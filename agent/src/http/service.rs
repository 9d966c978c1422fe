//! What the routes ask of the rest of the agent.
//!
//! All calls may block; the routes call them off the server's threads.

use std::fs::File;
use std::sync::Arc;

use serde::Serialize;

use crate::api::{Answer, ApiError, Deletion, Question};

/// One series in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeriesInfo {
    /// Its canonical name.
    pub name: String,
    /// The kind of its values.
    pub kind: &'static str,
    /// Its unit, if one is known.
    pub unit: Option<String>,
}

/// Series that match a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SeriesList {
    /// As many as were asked for.
    pub series: Vec<SeriesInfo>,
    /// How many match in all.
    pub total: usize,
    /// The oldest reading of the store, nanoseconds as text; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin: Option<String>,
    /// The first instant behind the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// What is to be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuggestWhat {
    /// A metric name.
    Metric,
    /// A tag's name.
    Tag,
    /// A value of this tag.
    Value(String),
}

/// One block file in the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentInfo {
    /// Its id in hex, the stem of its file name.
    pub id: String,
    /// Bytes that can be read.
    pub length: u64,
    /// Whether it will not change any more.
    pub sealed: bool,
    /// The name of its partition.
    pub partition: String,
    /// The oldest reading, nanoseconds as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin: Option<String>,
    /// The first instant behind the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// An open block file.
#[derive(Debug)]
pub struct SegmentBytes {
    /// The file.
    pub file: Arc<File>,
    /// Bytes that can be read.
    pub length: u64,
    /// Whether it will not change any more.
    pub sealed: bool,
}

/// The rest of the agent, as the routes see it.
pub trait Service: Send + Sync + 'static {
    /// Answers a question.
    ///
    /// # Errors
    /// What is wrong with it, or with what is stored.
    fn query(&self, question: &Question) -> Result<Answer, ApiError>;

    /// Series whose name contains every word of `search`.
    ///
    /// # Errors
    /// What is wrong with what is stored.
    fn series(&self, search: &str, limit: usize) -> Result<SeriesList, ApiError>;

    /// Completions of `prefix`.
    ///
    /// # Errors
    /// What is wrong with what is stored.
    fn suggest(&self, what: &SuggestWhat, prefix: &str, limit: usize) -> Result<Vec<String>, ApiError>;

    /// Every block file.
    ///
    /// # Errors
    /// What is wrong with what is stored.
    fn segments(&self) -> Result<Vec<SegmentInfo>, ApiError>;

    /// The block file called `id`.
    ///
    /// # Errors
    /// Where there is none, or it can't be read.
    fn segment(&self, id: &str) -> Result<SegmentBytes, ApiError>;

    /// Seals what is open; gives the ids of what was sealed.
    ///
    /// # Errors
    /// Where that fails.
    fn seal(&self) -> Result<Vec<String>, ApiError>;

    /// Deletes durably; gives the number of series.
    ///
    /// # Errors
    /// What is wrong with the selector, or where the store fails.
    fn delete(&self, deletion: &Deletion) -> Result<usize, ApiError>;

    /// How the agent is.
    fn health(&self) -> serde_json::Value;
}
