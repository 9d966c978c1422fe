//! The answers to HTTP.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use siltstone_core::point::TimeRange;
use siltstone_core::query::Holding;
use siltstone_core::segment::Suggest;
use siltstone_core::store::{RunContent, StoreError};

use super::closed::ClosedStore;
use super::live::Engine;
use super::shelves::id_text;
use crate::api::{Answer, ApiError, Code, Deletion, Question};
use crate::files::{BLOCK_BYTES, FileError};
use crate::http::{SegmentBytes, SegmentInfo, SeriesInfo, SeriesList, Service, SuggestWhat};
use crate::ingest::CommitHandle;
use crate::shelf::{ParsedSelector, Shelf};

/// Rows after which a page ends, whatever it may have: in memory they take some ten megabytes, with their text.
const PAGE_ROWS_MAX: u32 = 20_000;

/// A part of the health document: its key and what says how it is.
pub type HealthPart = (&'static str, Box<dyn Fn() -> Value + Send + Sync>);

/// The agent as HTTP sees it, with a store or before it has one.
pub struct AgentService {
    closed: ClosedStore,
    open: OnceLock<OpenStore>,
}

/// A running store, and who else knows something about the agent.
pub struct OpenStore {
    /// The store.
    pub engine: Arc<Engine>,
    /// The other rooms' words on how they are.
    pub parts: Vec<HealthPart>,
    /// The pipeline that commits what is written over HTTP, if there is one.
    pub commits: Option<CommitHandle>,
}

impl AgentService {
    /// A service over `engine` alone.
    pub fn new(engine: Arc<Engine>) -> Self {
        let service = Self::waiting(engine.root());
        service.take(OpenStore { engine, parts: Vec::new(), commits: None });
        service
    }

    /// A service that waits for the store in `root`: until then it answers from the files.
    pub fn waiting(root: &Path) -> Self {
        Self { closed: ClosedStore::new(root), open: OnceLock::new() }
    }

    /// Says why the store is not open yet.
    pub fn wait_for(&self, problem: &str) {
        self.closed.set_problem(problem);
    }

    /// Why the store is not open, as the last words of an agent that ends without one.
    pub fn closed_sentence(&self) -> String {
        self.closed.refusal().message
    }

    /// The store is open; the first one counts.
    pub fn take(&self, open: OpenStore) {
        let _ = self.open.set(open);
    }

    /// The store, for what needs it.
    fn open(&self) -> Result<&OpenStore, ApiError> {
        self.open.get().ok_or_else(|| self.closed.refusal())
    }

    /// Everything that `selector` needs; to be given back.
    fn shelf(&self, selector: &ParsedSelector) -> Result<Shelf, ApiError> {
        self.open.get().map_or_else(|| self.closed.shelf(), |open| open.engine.shelf(selector))
    }

    /// The same to list the series.
    fn listing(&self, selector: &ParsedSelector) -> Result<Shelf, ApiError> {
        self.open.get().map_or_else(|| self.closed.shelf(), |open| open.engine.listing(selector))
    }

    fn give_back(&self, shelf: Shelf) {
        if let Some(open) = self.open.get() {
            open.engine.give_back(shelf);
        }
    }
}

impl OpenStore {
    /// What somebody is told whose change the store did not take: a word that says to come back, unless the fault is ours.
    fn refusal(&self, action: &str, error: &StoreError<FileError>) -> ApiError {
        let reason = self.engine.reason(error);
        match error {
            StoreError::Failed => ApiError::new(
                Code::Unavailable,
                format!("nothing was changed: the store takes nothing for now, because {reason}"),
            ),
            StoreError::Medium(_) => ApiError::new(
                Code::Unavailable,
                format!("{action} failed, and may or may not have happened: {reason}"),
            ),
            _ => ApiError::new(Code::Internal, format!("{action} failed: {reason}")),
        }
    }

    /// What was changed is durable, and with it every message before: those need not wait their time for their acknowledgement.
    fn settle(&self, epoch: u32) {
        if self.commits.as_ref().is_some_and(|commits| !commits.commit(epoch)) {
            tracing::warn!("it is done, but what came since then is not durable yet");
        }
    }
}

impl Service for AgentService {
    fn query(&self, question: &Question) -> Result<Answer, ApiError> {
        let selector = ParsedSelector::parse(&question.select)?;
        let mut shelf = self.shelf(&selector)?;
        let answer = shelf.ask(&Question { limit: question.limit.min(PAGE_ROWS_MAX), ..question.clone() });
        self.give_back(shelf);
        answer
    }

    fn series(&self, search: &str, limit: usize) -> Result<SeriesList, ApiError> {
        let everything = ParsedSelector::everything()?;
        let mut shelf = self.listing(&everything)?;
        let (holdings, span) = (shelf.list(&everything), shelf.span());
        self.give_back(shelf);
        let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
        let found: Vec<_> = holdings
            .iter()
            .filter(|holding| {
                let name = holding.name.as_str().to_lowercase();
                words.iter().all(|word| name.contains(word))
            })
            .collect();
        let info = |holding: &&Holding| SeriesInfo {
            name: holding.name.as_str().to_owned(),
            kind: holding.kind.name(),
            unit: (!holding.unit.is_empty()).then(|| holding.unit.clone()),
        };
        Ok(SeriesList {
            series: found.iter().take(limit).map(info).collect(),
            total: found.len(),
            begin: span.map(|span| span.begin.to_string()),
            end: span.map(|span| span.end.to_string()),
        })
    }

    fn suggest(&self, what: &SuggestWhat, prefix: &str, limit: usize) -> Result<Vec<String>, ApiError> {
        let nothing = ParsedSelector::nothing()?;
        let mut shelf = self.shelf(&nothing)?;
        let asked = match what {
            SuggestWhat::Metric => Suggest::Metric,
            SuggestWhat::Tag => Suggest::Tag,
            SuggestWhat::Value(tag) => Suggest::Value(tag),
        };
        let mut words: std::collections::BTreeSet<String> =
            shelf.suggest(asked, prefix, limit).into_iter().collect();
        self.give_back(shelf);
        let Some(open) = self.open.get() else { return Ok(words.into_iter().take(limit).collect()) };
        let store = open.engine.store();
        let live = store.index();
        let known = match what {
            SuggestWhat::Metric => live.suggest_metrics(prefix, limit),
            SuggestWhat::Tag => live.suggest_tags(prefix, limit),
            SuggestWhat::Value(tag) => live.suggest_values(tag, prefix, limit),
        };
        words.extend(known.into_iter().map(str::to_owned));
        Ok(words.into_iter().take(limit).collect())
    }

    fn segments(&self) -> Result<Vec<SegmentInfo>, ApiError> {
        let runs = self.open()?.engine.runs(&ParsedSelector::nothing()?)?;
        let mut list: Vec<_> = runs
            .iter()
            .filter_map(|run| {
                let span = match &run.content {
                    RunContent::Sealed(sealed) => Some(sealed.footer().span),
                    _ => None,
                };
                let path = run.path.as_deref()?;
                Some(SegmentInfo {
                    id: id_text(&run.header.id),
                    length: u64::from(run.block_count) * BLOCK_BYTES,
                    sealed: span.is_some(),
                    partition: path.rsplit('/').nth(1).unwrap_or("").to_owned(),
                    begin: span.map(|span| span.begin.to_string()),
                    end: span.map(|span| span.end.to_string()),
                })
            })
            .collect();
        list.sort_by(|a, b| (&a.partition, &a.id).cmp(&(&b.partition, &b.id)));
        Ok(list)
    }

    fn segment(&self, id: &str) -> Result<SegmentBytes, ApiError> {
        let engine = &self.open()?.engine;
        let runs = engine.runs(&ParsedSelector::nothing()?)?;
        let found =
            runs.iter().find(|run| run.path.is_some() && id_text(&run.header.id).eq_ignore_ascii_case(id));
        let missing = || ApiError::new(Code::NotFound, format!("there is no segment {id}"));
        let run = found.ok_or_else(missing)?;
        let path = run.path.as_deref().ok_or_else(missing)?;
        let path =
            engine.medium.path(path).map_err(|error| ApiError::new(Code::Internal, error.to_string()))?;
        let file = File::open(&path).map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                return missing();
            }
            ApiError::new(Code::Damaged, format!("{}: can't read it: {error}", path.display()))
        })?;
        Ok(SegmentBytes {
            file: Arc::new(file),
            length: u64::from(run.block_count) * BLOCK_BYTES,
            sealed: matches!(run.content, RunContent::Sealed(_)),
        })
    }

    fn seal(&self) -> Result<Vec<String>, ApiError> {
        let open = self.open()?;
        let (sealed, epoch) = open.engine.seal().map_err(|error| open.refusal("sealing", &error))?;
        open.settle(epoch);
        Ok(sealed.iter().map(id_text).collect())
    }

    fn delete(&self, deletion: &Deletion) -> Result<usize, ApiError> {
        let selector = ParsedSelector::parse(&deletion.select)?;
        let open = self.open()?;
        let mut shelf = open.engine.listing(&selector)?;
        let names: Vec<_> = shelf.list(&selector).into_iter().map(|holding| holding.name).collect();
        open.engine.give_back(shelf);
        let span = TimeRange::new(deletion.begin_ns, deletion.end_ns);
        let epoch = open.engine.delete(&names, span).map_err(|error| open.refusal("deleting", &error))?;
        open.settle(epoch);
        tracing::info!("{} series were deleted in a range: {}", names.len(), deletion.select);
        Ok(names.len())
    }

    fn health(&self) -> Value {
        self.open.get().map_or_else(|| self.closed.health(), OpenStore::health)
    }
}

impl OpenStore {
    fn health(&self) -> Value {
        let store = self.engine.store();
        let segments = store.segments();
        let blocks: u64 = segments.iter().map(|file| u64::from(file.block_count)).sum();
        let mut document = json!({
            "status": "ok",
            "name": "Siltstone",
            "version": env!("CARGO_PKG_VERSION"),
            "store": {
                "directory": self.engine.root().display().to_string(),
                "epoch": store.epoch(),
                "segments": segments.len(),
                "segment_bytes": blocks * BLOCK_BYTES,
                "late_points": store.late_points(),
                "problem": self.engine.failure(),
            },
        });
        drop(store);
        let is_failing = !document["store"]["problem"].is_null();
        document["written"] = self.engine.wear_json();
        let damage = self.engine.damage();
        if document["store"].as_object_mut().is_some_and(|store| damage.put_into(store)) {
            document["status"] = "degraded".into();
        }
        if let Some(fields) = document.as_object_mut() {
            for (key, part) in &self.parts {
                let part = part();
                if part.get("problem").is_some_and(|problem| !problem.is_null()) {
                    fields.insert("status".to_owned(), "degraded".into());
                }
                fields.insert((*key).to_owned(), part);
            }
            if is_failing {
                fields.insert("status".to_owned(), "failing".into());
            }
        }
        document
    }
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
