//! The background scrub: every sealed segment is read once in a while, so that rot is known while there may be a copy.
//!
//! It goes file by file in the order of names, at a bounded pace and only while nothing waits to be stored,
//! keeps its place in `state/`, counts and logs what it finds, and touches nothing.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ledger::Ledger;
use super::segment::{Seen, verify_segment};
use crate::api::format_instant;
use crate::shelf::FileSource;

/// Bytes a second at most.
const BYTES_A_SECOND: u64 = 1 << 20;
/// Of the time, it works one part and rests nine.
const REST_FACTOR: u32 = 9;
/// How long it waits before it looks again whether there is something to do.
const IDLE_WAIT: Duration = Duration::from_secs(60);
/// How often it asks while it rests whether it is to end.
const TICK: Duration = Duration::from_millis(200);
/// Lines a file in the log; the count stands in the last one.
const LINES_MAX: u64 = 20;

/// What a scrub needs.
pub(crate) struct ScrubOptions {
    /// The store's directory.
    pub(crate) root: PathBuf,
    /// From the begin of one round to the begin of the next; none where it is zero.
    pub(crate) interval: Duration,
    /// The sealed segments, as paths inside the store.
    pub(crate) sealed: Box<dyn Fn() -> Vec<String> + Send>,
    /// Whether nothing else has to be done.
    pub(crate) is_idle: Box<dyn Fn() -> bool + Send>,
    /// Whether it is to end.
    pub(crate) is_ending: Box<dyn Fn() -> bool + Send>,
    /// The wall clock, nanoseconds.
    pub(crate) clock: fn() -> i64,
}

/// What it shows.
#[derive(Clone)]
pub(crate) struct ScrubStatus {
    ledger: Arc<Mutex<Ledger>>,
    is_on: bool,
}

impl ScrubStatus {
    /// The part of the health document.
    pub(crate) fn to_json(&self) -> Value {
        let ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let faults: u64 = ledger.damaged.iter().map(|file| file.faults).sum();
        let began = (ledger.round_began_ns != 0).then(|| format_instant(ledger.round_began_ns));
        let problem = (!ledger.damaged.is_empty()).then(|| {
            format!("{} stored files are damaged; `siltstone verify` says where", ledger.damaged.len())
        });
        json!({
            "enabled": self.is_on,
            "round_began": began,
            "round_over": ledger.is_round_over,
            "files": ledger.files,
            "bytes": ledger.bytes,
            "faults": faults,
            "damaged": ledger.damaged,
            "problem": problem,
        })
    }
}

/// The scrub.
pub(crate) struct Scrub {
    options: ScrubOptions,
    status: ScrubStatus,
}

impl Scrub {
    pub(crate) fn new(options: ScrubOptions) -> Self {
        let ledger = Ledger::open(&options.root.join("state"));
        let status = ScrubStatus { ledger: Arc::new(Mutex::new(ledger)), is_on: !options.interval.is_zero() };
        Self { options, status }
    }

    /// What it shows.
    pub(crate) fn status(&self) -> ScrubStatus {
        self.status.clone()
    }

    /// Works until it is to end; blocks its thread.
    pub(crate) fn run(&self) {
        if self.options.interval.is_zero() {
            return;
        }
        while !(self.options.is_ending)() {
            if !self.is_due() || !self.step() {
                self.rest(IDLE_WAIT);
            }
        }
    }

    /// Whether a round is under way, or a new one begins now.
    fn is_due(&self) -> bool {
        let now = (self.options.clock)();
        let mut ledger = self.status.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let is_begun = ledger.round_began_ns != 0 && !ledger.is_round_over;
        let since_ns = i128::from(now) - i128::from(ledger.round_began_ns);
        // A clock that was set back must not put it off for ever.
        let is_old = since_ns < 0 || since_ns >= self.options.interval.as_nanos() as i128;
        if is_begun || !(is_old || ledger.round_began_ns == 0) {
            return is_begun;
        }
        ledger.round_began_ns = now;
        ledger.is_round_over = false;
        ledger.last_file = String::new();
        (ledger.files, ledger.bytes) = (0, 0);
        ledger.keep();
        true
    }

    /// Looks at the next file; false where the round is over or it was told to end.
    pub(crate) fn step(&self) -> bool {
        let mut files = (self.options.sealed)();
        files.sort();
        let next = {
            let mut ledger = self.status.ledger.lock().unwrap_or_else(PoisonError::into_inner);
            // What was expired, merged or set aside since is not damaged any more.
            ledger.damaged.retain(|known| files.contains(&known.path));
            let next = files.into_iter().find(|file| *file > ledger.last_file);
            if next.is_none() {
                ledger.is_round_over = true;
                ledger.keep();
                tracing::info!(
                    "the scrub read {} files, {} bytes; {} are damaged",
                    ledger.files,
                    ledger.bytes,
                    ledger.damaged.len()
                );
            }
            next
        };
        next.is_some_and(|file| self.look_at(&file))
    }

    fn look_at(&self, file: &str) -> bool {
        let path = self.options.root.join(file);
        let Ok(source) = FileSource::open(&path) else {
            // Gone since it was listed: expired or merged. One that can't be opened is known to the store.
            self.note(file, 0, 0, None);
            return true;
        };
        let (mut bytes, mut faults, mut first) = (0, 0, None);
        let mut working = Instant::now();
        let report = verify_segment(&source, &mut |seen| {
            match seen {
                Seen::Fault(fault) => {
                    faults += 1;
                    if faults <= LINES_MAX {
                        tracing::warn!("{file}: {fault}");
                    }
                    first.get_or_insert_with(|| fault.to_string());
                }
                Seen::Read { bytes: read, .. } => {
                    bytes += read;
                    let pace = Duration::from_nanos(read.saturating_mul(1_000_000_000) / BYTES_A_SECOND);
                    self.rest(pace.max(working.elapsed() * REST_FACTOR));
                    working = Instant::now();
                }
            }
            !(self.options.is_ending)()
        });
        let is_gone = !Path::new(&path).exists();
        if report.is_none() {
            return false;
        }
        if faults > LINES_MAX && !is_gone {
            tracing::warn!("{file}: {faults} faults in all");
        }
        self.note(file, bytes, faults, first.filter(|_| !is_gone));
        true
    }

    fn note(&self, file: &str, bytes: u64, faults: u64, first: Option<String>) {
        let mut ledger = self.status.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.looked_at(file, bytes, faults, first);
        ledger.keep();
    }

    /// Sleeps for `wait`, and on while something else has to be done.
    fn rest(&self, wait: Duration) {
        let until = Instant::now() + wait;
        while !(self.options.is_ending)() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() && (self.options.is_idle)() {
                return;
            }
            std::thread::sleep(if left.is_zero() { TICK } else { left.min(TICK) });
        }
    }
}

#[cfg(test)]
#[path = "scrub_tests.rs"]
mod tests;
