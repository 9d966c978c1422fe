//! Mode and counters, for people.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::api::format_instant;
use crate::decode::Decoder;

/// What the pipeline is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Messages are stored as they come.
    Live,
    /// The queue is more than half full: the broker gives us what it kept, or sends faster than we write.
    CatchingUp,
    /// The store takes nothing for now.
    Slow,
    /// The agent is ending.
    Stopping,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Live, Self::CatchingUp, Self::Slow, Self::Stopping];

    /// The word of the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::CatchingUp => "catching_up",
            Self::Slow => "slow",
            Self::Stopping => "stopping",
        }
    }
}

/// What the pipeline shows.
#[derive(Debug)]
pub struct IngestStatus {
    mode: AtomicU8,
    pub(super) commits: AtomicU64,
    /// Messages that wait for a commit or whose acknowledgement waits to be sent, and the largest number of that kind.
    unacknowledged: AtomicUsize,
    unacknowledged_max: AtomicUsize,
    is_held: AtomicBool,
    due: Mutex<Option<Instant>>,
    pub(super) repeated: AtomicU64,
    pub(super) bad_topics: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) problem: Mutex<Option<String>>,
    pub(super) decoder: Arc<Mutex<Decoder>>,
}

impl IngestStatus {
    pub(super) fn new(decoder: Arc<Mutex<Decoder>>) -> Self {
        Self {
            mode: AtomicU8::new(0),
            commits: AtomicU64::new(0),
            unacknowledged: AtomicUsize::new(0),
            unacknowledged_max: AtomicUsize::new(0),
            is_held: AtomicBool::new(false),
            due: Mutex::new(None),
            repeated: AtomicU64::new(0),
            bad_topics: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            problem: Mutex::new(None),
            decoder,
        }
    }

    /// What the pipeline is doing.
    pub fn mode(&self) -> Mode {
        Mode::ALL.get(usize::from(self.mode.load(Ordering::Relaxed))).copied().unwrap_or(Mode::Live)
    }

    pub(super) fn set_mode(&self, mode: Mode) {
        let place = Mode::ALL.iter().position(|known| *known == mode).unwrap_or(0);
        self.mode.store(u8::try_from(place).unwrap_or(0), Ordering::Relaxed);
    }

    pub(super) fn set_waiting(&self, unacknowledged: usize, is_held: bool, due: Option<Instant>) {
        self.unacknowledged.store(unacknowledged, Ordering::Relaxed);
        self.unacknowledged_max.fetch_max(unacknowledged, Ordering::Relaxed);
        self.is_held.store(is_held, Ordering::Relaxed);
        *self.due.lock().unwrap_or_else(PoisonError::into_inner) = due;
    }

    /// When the next commit is due, from now.
    fn next_commit_ms(&self) -> Option<u64> {
        let due = *self.due.lock().unwrap_or_else(PoisonError::into_inner);
        due.map(|due| {
            u64::try_from(due.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(u64::MAX)
        })
    }

    pub(super) fn set_problem(&self, problem: Option<String>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// The part of the health document.
    pub fn to_json(&self) -> Value {
        let decoder = self.decoder.lock().unwrap_or_else(PoisonError::into_inner);
        let counters = decoder.counters();
        let rejected: Map<String, Value> =
            counters.rejected().map(|(reason, count)| (reason.name().to_owned(), count.into())).collect();
        let recent: Vec<Value> = decoder
            .rejections()
            .map(|entry| {
                json!({
                    "topic": entry.topic, "place": entry.place, "reason": entry.reason.name(),
                    "sentence": entry.reason.sentence(), "count": entry.count, "size": entry.size_bytes,
                    "head": entry.head, "at": format_instant(entry.arrival_ns),
                })
            })
            .collect();
        json!({
            "mode": self.mode().name(),
            "messages": counters.messages,
            "samples": counters.samples,
            "series": decoder.series_count(),
            "commits": self.commits.load(Ordering::Relaxed),
            "acknowledging": if self.is_held.load(Ordering::Relaxed) { "held" } else { "early" },
            "unacknowledged": self.unacknowledged.load(Ordering::Relaxed),
            "unacknowledged_max": self.unacknowledged_max.load(Ordering::Relaxed),
            "next_commit_ms": self.next_commit_ms(),
            "repeated": self.repeated.load(Ordering::Relaxed),
            "excluded": counters.excluded,
            "retained": counters.retained,
            "empty": counters.empty,
            "lenient_json": counters.lenient_json,
            "duplicate_keys": counters.duplicate_keys,
            "stamped_on_arrival": counters.stamped,
            "time_outside": counters.time_outside,
            "name_clashes": counters.name_clashes,
            "bad_topics": self.bad_topics.load(Ordering::Relaxed),
            "refused": self.refused.load(Ordering::Relaxed),
            "rejected": rejected,
            "series_refused": counters.beyond_caps(),
            "series_refusal": decoder.refusal(),
            "rejections": recent,
            "problem": *self.problem.lock().unwrap_or_else(PoisonError::into_inner),
        })
    }
}
